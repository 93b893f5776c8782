import type { Json } from '../schema/resource.ts';
import { findField } from './fields.ts';
import type { FieldKey, Finding, TraceEntry, Translation } from './translation.ts';

/** A translation for people to read: each field with what becomes of it and rule by rule why, then the findings. */
export function previewText({ fields, findings, trace, fallbackEmail }: Translation): string {
  const keys = [...new Set([...Object.keys(fields), ...trace.map(({ field }) => field)])];
  const silent = keys.filter((key) => isSilent(key, fields, trace));
  const spoken = keys.filter((key) => !silent.includes(key));
  const width = Math.max(...spoken.map((key) => key.length), 0);
  const blocks = spoken.map((key) => blockOf(key, width, { fields, trace }));
  const fallback = fallbackEmail === undefined ? [] : [`If that email is taken, ${fallbackEmail} serves.`];
  const unset = silent.length === 0 ? [] : [`Nothing for: ${silent.join(', ')}.`];
  return `${[blocks.join('\n'), ...fallback, ...unset, findingsText(findings)].join('\n\n')}\n`;
}

type Told = Pick<Translation, 'fields' | 'trace'>;

/** True for a field that no rule had anything for. */
function isSilent(key: FieldKey, fields: Translation['fields'], trace: TraceEntry[]): boolean {
  const entries = trace.filter(({ field }) => field === key);
  return fields[key]?.kind !== 'value' && entries.every(({ before }) => before === undefined);
}

function blockOf(key: FieldKey, width: number, { fields, trace }: Told): string {
  const lines = trace
    .filter(({ field }) => field === key)
    .map((entry) => `${' '.repeat(width + 2)}${lineOf(entry)}`);
  return [`${key.padEnd(width)}  ${resultOf(key, fields[key])}`, ...lines].join('\n');
}

function resultOf(key: FieldKey, wanted: Translation['fields'][string] | undefined): string {
  switch (wanted?.kind) {
    case 'value':
      return `= ${shown(wanted.value)}`;
    case 'unresolved':
      return '? unresolved: what was there before stays';
    case 'kept':
      return `! the mapping is at fault: the ${nounOf(key)} stays as it is`;
    case 'absent':
    case undefined:
      return '- left out';
  }
}

function nounOf(key: FieldKey): string {
  return findField(key)?.noun ?? (key.startsWith('customFields.') ? 'custom field' : key);
}

/** What could not be used is shown as the transforms left it. */
function lineOf({ origin, rule, outcome, before, transformed, after, reason }: TraceEntry): string {
  const end = after ?? transformed;
  const change =
    before === undefined ? '' : `: ${shown(before)}${end === undefined ? '' : ` → ${shown(end)}`}`;
  return `${outcome} by ${origin} rule ${rule}${change}${reason === undefined ? '' : ` (${reason})`}`;
}

function findingsText(findings: Finding[]): string {
  if (findings.length === 0) return 'No findings.';
  const lines = findings.map(({ field, code, value, reason, remedy }) => {
    const about = value === undefined ? '' : ` ${shown(value)}`;
    return `  ${field}${about}: ${reason} [${code}]\n    ${remedy}`;
  });
  return ['Findings:', ...lines].join('\n');
}

function shown(value: Json): string {
  return JSON.stringify(value);
}
