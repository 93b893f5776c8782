import type { FieldKey, Finding, TraceEntry, Translation } from '../model/translation.ts';
import type { Json } from '../schema/resource.ts';
import { findField } from './fields/fields.ts';

/** The names of custom fields, cost centers and so on by id. */
type Names = ReadonlyMap<string, string>;

/** Formats a translation as text: each field with its result and the value that each rule read, then the findings. */
export function previewText(translation: Translation, names: Names = new Map()): string {
  const { fields, findings, fallbackEmail, trace, scope } = translation;
  const keys = [...new Set([...Object.keys(fields), ...trace.map(({ field }) => field)])];
  const empty = keys.filter((key) => isEmptyField(key, fields, trace));
  const filled = keys.filter((key) => !empty.includes(key));
  const width = Math.max(...filled.map((key) => labelOf(key, names).length), 0);
  const blocks = filled.map((key) => fieldText(key, width, { fields, trace, names }));
  const fallback = fallbackEmail === undefined ? [] : [`If that email is taken, ${fallbackEmail} serves.`];
  const unset =
    empty.length === 0 ? [] : [`Nothing for: ${empty.map((key) => labelOf(key, names)).join(', ')}.`];
  const texts = [
    ...scopeTexts[scope],
    blocks.join('\n'),
    ...fallback,
    ...unset,
    findingsText(findings, names),
  ];
  return `${texts.join('\n\n')}\n`;
}

const scopeTexts: Record<Translation['scope'], string[]> = {
  in: [],
  out: ['Out of scope: this person gets no traveler. In scope, the traveler would have these values.'],
  unresolved: [
    'It is not known whether this person is in scope, which names a group that has not been received. In scope, the traveler would have these values.',
  ],
};

/** The name of a custom field, or the key of another field. */
function labelOf(key: FieldKey, names: Names): string {
  const [, id] = key.split('customFields.');
  return (id === undefined ? undefined : names.get(id)) ?? key;
}

interface FieldsAndTrace {
  fields: Translation['fields'];
  trace: TraceEntry[];
  names: Names;
}

/** True for a field for which no rule found a value, and no condition was evaluated. */
function isEmptyField(key: FieldKey, fields: Translation['fields'], trace: TraceEntry[]): boolean {
  const entries = trace.filter(({ field }) => field === key);
  const isEmpty = ({ before, when }: TraceEntry) => before === undefined && when === undefined;
  return fields[key]?.kind !== 'value' && entries.every(isEmpty);
}

function fieldText(key: FieldKey, width: number, { fields, trace, names }: FieldsAndTrace): string {
  const lines = trace
    .filter(({ field }) => field === key)
    .map((entry) => `${' '.repeat(width + 2)}${traceLine(entry, names)}`);
  return [`${labelOf(key, names).padEnd(width)}  ${resultText(key, fields[key], names)}`, ...lines].join(
    '\n',
  );
}

function resultText(key: FieldKey, wanted: Translation['fields'][string] | undefined, names: Names): string {
  switch (wanted?.kind) {
    case 'value':
      return `= ${valueText(wanted.value, names)}`;
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

/** Formats one line of the trace. If the value is unusable, the line shows it as it was after the transforms. */
function traceLine(entry: TraceEntry, names: Names): string {
  const { origin, rule, outcome, before, transformed, after, reason } = entry;
  const end = after ?? transformed;
  const change =
    before === undefined
      ? ''
      : `: ${toJsonText(before)}${end === undefined ? '' : ` → ${valueText(end, names)}`}`;
  return `${outcome} by ${origin} rule ${rule}${useText(entry)}${change}${reason === undefined ? '' : ` (${reason})`}`;
}

/** Tells which of several sources was read, and the condition that held. */
function useText({ outcome, when, group, read, before }: TraceEntry): string {
  const isUnused = outcome === 'skipped' && before === undefined;
  return [
    ...(read === undefined ? [] : [`, read from ${read}`]),
    ...(when === undefined || isUnused ? [] : [`, when ${when}`]),
    ...(group === undefined ? [] : [`, as a member of ${toJsonText(group)}`]),
  ].join('');
}

function findingsText(findings: Finding[], names: Names): string {
  if (findings.length === 0) return 'No findings.';
  const lines = findings.map(({ field, code, value, reason, remedy }) => {
    const about = value === undefined ? '' : ` ${toJsonText(value)}`;
    return `  ${labelOf(field, names)}${about}: ${reason} [${code}]\n    ${remedy}`;
  });
  return ['Findings:', ...lines].join('\n');
}

function toJsonText(value: Json): string {
  return JSON.stringify(value);
}

/** A value as JSON. An id is followed by the name that it stands for. */
function valueText(value: Json, names: Names): string {
  const name = typeof value === 'string' ? names.get(value) : undefined;
  return `${toJsonText(value)}${name === undefined ? '' : ` (${name})`}`;
}
