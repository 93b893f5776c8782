import { resolve } from 'node:path';
import Table from 'cli-table3';
import { type Fault, readJsonFile, SettingsFault } from '../config/faults.ts';
import { readMapping, readSettings } from '../config/settings.ts';
import type { MappingPreview, PreviewExample } from '../provisioning/preview-mapping.ts';
import { normalize } from '../schema/normalize.ts';
import { type Json, type JsonObject, SchemaFault } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import { previewMapping, readLookups, readManagers } from '../server/offline.ts';
import { previewText } from '../translator/preview.ts';
import { compileRules } from '../translator/rules.ts';
import { toTravel } from '../translator/to-travel.ts';
import type { Finding } from '../translator/translation.ts';
import { escapeLine, type Shell, startProgressBar, travelFailureText } from './output.ts';

/** Shows what a SCIM user becomes in the travel service, rule by rule, with the lookups as they are there now. */
export async function preview(shell: Shell, options: { input: string; mapping?: string }): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  const connection = settings.connections.find(({ id }) => id === 'default') ?? settings.connections[0];
  const faults: Fault[] = [];
  const mapping = options.mapping ? readMapping(resolve(options.mapping), faults) : connection?.mapping;
  if (!connection || !mapping) throw new SettingsFault(faults);
  const user = readUser(options.input);
  if ('fault' in user) {
    shell.printError(`${options.input}: ${user.fault}`);
    return 1;
  }
  const lookups = await readLookups(settings, connection);
  if (lookups.kind !== 'ok') {
    shell.printError(
      `No names or custom fields can be looked up in the travel API: ${travelFailureText(lookups)}.`,
    );
    return 1;
  }
  const rules = compileRules(mapping, lookups.value.scimUserMappings);
  const references = await readManagers(settings, connection, { rules, user: user.resource });
  shell.print(previewText(toTravel(rules, user.resource, { lookups: lookups.value, references })));
  return 0;
}

function readUser(file: string): { resource: JsonObject } | { fault: string } {
  const read = readJsonFile(file);
  if (!('json' in read)) return { fault: `${read.problem}. ${read.remedy}` };
  const { json } = read;
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { fault: 'must hold one JSON object, the SCIM user.' };
  try {
    return { resource: normalize(userType, json as JsonObject).resource };
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    return { fault: error.message };
  }
}

/** What of the people is to be shown. */
interface PeoplePreviewRequest {
  connection: string;
  mapping?: string | undefined;
  /** How many examples at most. */
  limit: number;
}

/**
 * Shows what a mapping would change for the people who are kept; without one, what the present mapping would still
 * change. Names, addresses and phone numbers stand in it on purpose, and go nowhere but to the terminal.
 */
export async function previewPeople(
  shell: Shell,
  { connection: id, mapping: file, limit }: PeoplePreviewRequest,
): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  const connection = settings.connections.find((one) => one.id === id);
  if (!connection) {
    const known = settings.connections.map((one) => one.id).join(', ');
    shell.printError(`There is no connection ${escapeLine(id)}; the settings have ${known}.`);
    return 1;
  }
  const faults: Fault[] = [];
  const mapping = file === undefined ? undefined : readMapping(resolve(file), faults);
  if (faults.length > 0) throw new SettingsFault(faults);
  const bar = shell.isTerminal ? startProgressBar(id, 'people') : undefined;
  const onBatch = (looked: number, total: number) => {
    bar?.setTotal(total);
    bar?.update(looked);
  };
  const rehearsal = await previewMapping(settings, connection, { mapping, examples: limit, onBatch }).finally(
    () => bar?.stop(),
  );
  if ('kind' in rehearsal) {
    shell.printError(
      `No names or custom fields can be looked up in the travel API: ${travelFailureText(rehearsal)}.`,
    );
    return 1;
  }
  shell.print(previewReport(rehearsal, { connection: id, mapping: file }));
  return 0;
}

type Names = MappingPreview['names'];

/** What was rehearsed. */
interface PreviewSubject {
  connection: string;
  /** The file of the new mapping; without it the present one was compared with what was sent. */
  mapping: string | undefined;
}

/** A rehearsal for people to read: the numbers, by field and by finding, then the examples. */
export function previewReport(rehearsal: MappingPreview, { connection, mapping }: PreviewSubject): string {
  const { examples, names } = rehearsal;
  const touched = rehearsal.changed + rehearsal.created + rehearsal.pending;
  const compared =
    mapping === undefined
      ? 'the present mapping, beside what was sent'
      : `${mapping}, beside the present mapping`;
  return [
    `Connection ${connection}: ${compared}. Nothing was written or sent.`,
    ...mappingFaultLines(rehearsal),
    summaryText(rehearsal),
    ...(rehearsal.fields.length > 0 ? [fieldsTable(rehearsal)] : []),
    ...(rehearsal.findings.length > 0 ? [findingsTable(rehearsal)] : []),
    ...(examples.length > 0 ? [`Examples (${examples.length} of ${touched}):`] : []),
    ...examples.map((example) => exampleText(example, names)),
  ].join('\n\n');
}

function mappingFaultLines({ mappingFaults = [] }: MappingPreview): string[] {
  if (mappingFaults.length === 0) return [];
  const lines = mappingFaults.map(({ path, problem, remedy }) =>
    escapeLine(`  ${path}: ${problem}. ${remedy}`),
  );
  return [['The mapping is at fault; what it concerns stays as it is:', ...lines].join('\n')];
}

function summaryText({ people, changed, created, pending }: MappingPreview): string {
  return [
    `${people} ${people === 1 ? 'person' : 'people'} looked at:`,
    `${String(changed).padStart(8)}  would change in the travel service`,
    `${String(created).padStart(8)}  would get a traveler at last`,
    `${String(pending).padStart(8)}  would get no traveler any more`,
  ].join('\n');
}

const plainStyle = { style: { head: [], border: [] } };

function fieldsTable({ fields, names }: MappingPreview): string {
  const head = ['field', 'another value', 'no value', 'sent again', 'given up'];
  const table = new Table({ ...plainStyle, head });
  for (const { field, set, cleared, again, released } of fields)
    table.push([fieldName(field, names), set, cleared, again, released]);
  return table.toString();
}

function findingsTable({ findings, names }: MappingPreview): string {
  const table = new Table({ ...plainStyle, head: ['finding', 'field', 'new', 'gone'] });
  for (const { code, field, comes, goes } of findings)
    table.push([code, fieldName(field, names), comes, goes]);
  return table.toString();
}

const outcomes = {
  changed: '',
  created: ' gets a traveler',
  pending: ' gets no traveler any more',
} satisfies Record<PreviewExample['outcome'], string>;

function exampleText({ userName, outcome, changes, comes, goes }: PreviewExample, names: Names): string {
  const told = (mark: string) => (finding: Finding) => `  ${mark} ${findingText(finding, names)}`;
  return [
    `${escapeLine(userName)}${outcomes[outcome]}`,
    ...changes.map(({ field, before, after, isAgain }) => {
      const how = isAgain
        ? `${valueText(after, names)} is sent again`
        : `${valueText(before, names)} → ${valueText(after, names)}`;
      return `  ${fieldName(field, names)}: ${how}`;
    }),
    ...comes.map(told('+')),
    ...goes.map(told('-')),
  ].join('\n');
}

function findingText({ field, code, value, reason }: Finding, names: Names): string {
  return `${fieldName(field, names)}${value === undefined ? '' : ` ${valueText(value, names)}`}: ${escapeLine(reason)} [${code}]`;
}

/** A custom field by the name that people know it by. */
function fieldName(field: string, names: Names): string {
  return escapeLine(names[field] ?? field);
}

/** A value in one line. A custom field by what its values say. */
function valueText(value: Json, names: Names): string {
  if (value === null) return 'nothing';
  if (!Array.isArray(value)) return escapeLine(JSON.stringify(value));
  return value.map((one) => valueText(customFieldData(one, names), names)).join(', ');
}

function customFieldData(value: Json, names: Names): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { data, customFieldOptionId: option } = value;
  return data ?? (typeof option === 'string' ? (names[option] ?? option) : JSON.stringify(value));
}
