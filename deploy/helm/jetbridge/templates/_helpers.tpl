{{- /* Values are written as JSON, which is YAML, so that nothing must be indented. */ -}}

{{- define "jetbridge.name" -}}
{{ .Release.Name }}{{ if ne .Release.Name .Chart.Name }}-{{ .Chart.Name }}{{ end }}
{{- end -}}

{{- define "jetbridge.selector" -}}
"app.kubernetes.io/name": {{ toJson .Chart.Name }}, "app.kubernetes.io/instance": {{ toJson .Release.Name }}
{{- end -}}

{{- define "jetbridge.labels" -}}
{{ template "jetbridge.selector" . }}, "app.kubernetes.io/version": {{ toJson .Chart.AppVersion }}, "app.kubernetes.io/managed-by": {{ toJson .Release.Service }}
{{- end -}}

{{- define "jetbridge.secret" -}}
{{ if .Values.existingSecret }}{{ .Values.existingSecret }}{{ else }}{{ template "jetbridge.name" . }}{{ end }}
{{- end -}}

{{- define "jetbridge.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ or .Values.image.tag .Chart.AppVersion }}{{ end }}
{{- end -}}
