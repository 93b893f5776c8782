import Table from 'cli-table3';
import type { Example, Rehearsal } from '../bridge/rehearsed.ts';
import type { Json } from '../schema/resource.ts';
import type { Finding } from '../translator/result.ts';
import { inLine } from './escape.ts';

type Names = Rehearsal['names'];

/** What was rehearsed. */
interface Subject {
  connection: string;
  /** The file of the new mapping; without it the present one was compared with what was sent. */
  mapping: string | undefined;
}

/** A rehearsal for people to read: the numbers, by field and by finding, then the examples. */
export function rehearsalText(rehearsal: Rehearsal, { connection, mapping }: Subject): string {
  const { examples, names } = rehearsal;
  const touched = rehearsal.changed + rehearsal.created + rehearsal.pending;
  const compared =
    mapping === undefined
      ? 'the present mapping, beside what was sent'
      : `${mapping}, beside the present mapping`;
  return [
    `Connection ${connection}: ${compared}. Nothing was written or sent.`,
    ...faultsText(rehearsal),
    summary(rehearsal),
    ...(rehearsal.fields.length > 0 ? [fieldsTable(rehearsal)] : []),
    ...(rehearsal.findings.length > 0 ? [findingsTable(rehearsal)] : []),
    ...(examples.length > 0 ? [`Examples (${examples.length} of ${touched}):`] : []),
    ...examples.map((example) => exampleText(example, names)),
  ].join('\n\n');
}

function faultsText({ mappingFaults = [] }: Rehearsal): string[] {
  if (mappingFaults.length === 0) return [];
  const lines = mappingFaults.map(({ path, problem, remedy }) => inLine(`  ${path}: ${problem}. ${remedy}`));
  return [['The mapping is at fault; what it concerns stays as it is:', ...lines].join('\n')];
}

function summary({ people, changed, created, pending }: Rehearsal): string {
  return [
    `${people} ${people === 1 ? 'person' : 'people'} looked at:`,
    `${String(changed).padStart(8)}  would change in the travel service`,
    `${String(created).padStart(8)}  would get a traveler at last`,
    `${String(pending).padStart(8)}  would get no traveler any more`,
  ].join('\n');
}

const plainStyle = { style: { head: [], border: [] } };

function fieldsTable({ fields, names }: Rehearsal): string {
  const head = ['field', 'another value', 'no value', 'sent again', 'given up'];
  const table = new Table({ ...plainStyle, head });
  for (const { field, set, cleared, again, released } of fields)
    table.push([fieldName(field, names), set, cleared, again, released]);
  return table.toString();
}

function findingsTable({ findings, names }: Rehearsal): string {
  const table = new Table({ ...plainStyle, head: ['finding', 'field', 'new', 'gone'] });
  for (const { code, field, comes, goes } of findings)
    table.push([code, fieldName(field, names), comes, goes]);
  return table.toString();
}

const outcomes = {
  changed: '',
  created: ' gets a traveler',
  pending: ' gets no traveler any more',
} satisfies Record<Example['outcome'], string>;

function exampleText({ userName, outcome, changes, comes, goes }: Example, names: Names): string {
  const told = (mark: string) => (finding: Finding) => `  ${mark} ${findingText(finding, names)}`;
  return [
    `${inLine(userName)}${outcomes[outcome]}`,
    ...changes.map(({ field, before, after, isAgain }) => {
      const how = isAgain
        ? `${shown(after, names)} is sent again`
        : `${shown(before, names)} → ${shown(after, names)}`;
      return `  ${fieldName(field, names)}: ${how}`;
    }),
    ...comes.map(told('+')),
    ...goes.map(told('-')),
  ].join('\n');
}

function findingText({ field, code, value, reason }: Finding, names: Names): string {
  return `${fieldName(field, names)}${value === undefined ? '' : ` ${shown(value, names)}`}: ${inLine(reason)} [${code}]`;
}

/** A custom field by the name that people know it by. */
function fieldName(field: string, names: Names): string {
  return inLine(names[field] ?? field);
}

/** A value in one line. A custom field by what its values say. */
function shown(value: Json, names: Names): string {
  if (value === null) return 'nothing';
  if (!Array.isArray(value)) return inLine(JSON.stringify(value));
  return value.map((one) => shown(dataOf(one, names), names)).join(', ');
}

function dataOf(value: Json, names: Names): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { data, customFieldOptionId: option } = value;
  return data ?? (typeof option === 'string' ? (names[option] ?? option) : JSON.stringify(value));
}
