import { resolve } from 'node:path';
import { type Fault, readJsonFile, SettingsFault } from '../../config/faults.ts';
import { type ConnectionSettings, readMapping, type Settings } from '../../config/settings.ts';
import { namesById } from '../../provisioning/people/explain-fields.ts';
import type {
  MappingPreview,
  PreviewExample,
  PreviewOptions,
} from '../../provisioning/rules/preview-mapping.ts';
import { needsApproval } from '../../provisioning/rules/rules-change.ts';
import type { TravelFailure } from '../../provisioning/travel-ports.ts';
import { normalize } from '../../schema/normalize.ts';
import { isObject, type Json, type JsonObject, SchemaFault } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { groupsOf } from '../../translator/groups.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import { previewText } from '../../translator/preview.ts';
import { compileRules } from '../../translator/rules.ts';
import { toTravel } from '../../translator/to-travel.ts';
import type { Finding, UserGroup } from '../../translator/translation.ts';
import { dayOf } from '../../translator/values/dates.ts';
import { parseCount } from '../arguments.ts';
import type { CliCommand } from '../command.ts';
import { findConnection, readAllSettings } from '../database.ts';
import { Refused, untilRefused, WrongUse } from '../exit-code.ts';
import {
  countText,
  escapeLine,
  formatTable,
  printJson,
  type Shell,
  startProgress,
  travelFailureText,
} from '../output.ts';

interface PreviewFlags {
  input?: string;
  people?: true;
  mapping?: string;
  connection?: string;
  limit?: number;
  json?: true;
}

/** Adds the command `preview`. */
export function addPreviewCommand(program: CliCommand): void {
  program
    .command('preview')
    .description(
      'show how a SCIM user is mapped, rule by rule, or what a mapping would change for all people; nothing is written or sent',
    )
    .option('--input <file>', 'a SCIM user as JSON, or a ListResponse with users')
    .option('--people', 'preview the stored people')
    .option('--mapping <file>', "a mapping file; default: the connection's own")
    .option(
      '--connection <id>',
      'the connection of the people or of the user; default: default, or the first one if none has that name',
    )
    .option('--limit <number>', 'the number of people to show as examples; default: 10', parseCount)
    .option('--json', 'one JSON object')
    .examples(
      'preview --input user.json',
      'preview --input user.json --mapping my-mapping.json',
      'preview --people --mapping my-mapping.json --limit 3',
    )
    .runs(async (shell, options: PreviewFlags) => {
      const { input, people, mapping, connection, limit = 10, json } = options;
      if (people && input === undefined) return previewPeople(shell, { connection, mapping, limit, json });
      if (people || input === undefined) throw new WrongUse('give either --input <file> or --people');
      if (options.limit !== undefined) throw new WrongUse('--limit goes with --people');
      return preview(shell, { input, mapping, connection, json });
    });
}

interface UserPreviewRequest {
  /** The file of the user or the users. */
  input: string;
  mapping: string | undefined;
  /** By default `default`, or the first connection of the settings if none has that name. */
  connection: string | undefined;
  json: true | undefined;
}

/** Prints how SCIM users are mapped to travelers, rule by rule, with the current lookups of the travel API. */
export function preview(shell: Shell, { json, ...options }: UserPreviewRequest): Promise<0 | 1> {
  return untilRefused(shell, async () => {
    const { readConnectionMapping, readLookups, readRelations } = await import('../../checks/mapping.ts');
    const settings = await readAllSettings(shell);
    const connection = chosenConnection(settings, options.connection);
    const mapping = options.mapping
      ? requireMapping(options.mapping)
      : await readConnectionMapping(settings, connection);
    const users = readUsers(options.input);
    const lookups = await readLookups(settings, connection);
    if (lookups.kind !== 'ok') throw lookupsUnreadable(lookups);
    const rules = compileRules(mapping, lookups.value.scimUserMappings);
    for (const { user, groups } of users) {
      const relations = await readRelations(settings, connection, { rules, user });
      const read = { lookups: lookups.value, statedOn: dayOf(Date.now()), ...relations };
      const snapshot = { ...read, ...(groups ? { groups } : {}) };
      const translation = toTravel(rules, user, snapshot);
      const userName = String(user['userName']);
      if (json) printJson(shell, { userName, ...translation });
      else {
        if (users.length > 1) shell.print(`${escapeLine(userName)}\n`);
        shell.print(previewText(translation, namesById(lookups.value)));
      }
    }
  });
}

/** Finds the named connection; without a name `default`, or the first one if none has that name. */
function chosenConnection(settings: Settings, id: string | undefined): ConnectionSettings {
  const hasDefault = settings.connections.some((one) => one.id === 'default');
  return findConnection(settings, id ?? (hasDefault ? 'default' : (settings.connections[0]?.id ?? '')));
}

function lookupsUnreadable(failure: TravelFailure): Refused {
  return new Refused(
    `No names or custom fields can be looked up in the travel API: ${travelFailureText(failure)}.`,
  );
}

/** Reads a user, or the users of a ListResponse, as IdPs send and SCIM services answer them. */
function readUsers(file: string): UserInFile[] {
  const read = readJsonFile(file);
  if (!('json' in read)) throw new Refused(`${file}: ${read.problem}. ${read.remedy}`);
  // A parsed JSON file is JSON.
  const json = read.json as Json;
  const listed = isObject(json) ? json['Resources'] : undefined;
  if (!Array.isArray(listed)) return [readUser(json, file, 'must hold one JSON object, the SCIM user')];
  if (listed.length === 0)
    throw new Refused(`${file}: its Resources are empty: there is no user to preview.`);
  return listed.map((value, index) =>
    readUser(value, `${file}: Resources[${index}]`, 'must be a JSON object, a SCIM user'),
  );
}

/** A user of a file. `groups`: those that the file states, as SCIM services answer them; the stored ones count otherwise. */
interface UserInFile {
  user: JsonObject;
  groups: UserGroup[] | undefined;
}

function readUser(json: Json, place: string, otherwise: string): UserInFile {
  if (!isObject(json)) throw new Refused(`${place}: ${otherwise}.`);
  try {
    const { resource: user } = normalize(userType, json);
    return { user, groups: json['groups'] === undefined ? undefined : groupsOf(json) };
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw new Refused(`${place}: ${error.message}`);
  }
}

/** The flags of `preview --people`. */
interface PeoplePreviewRequest {
  connection?: string | undefined;
  mapping?: string | undefined;
  /** The largest number of examples. */
  limit: number;
  json?: true | undefined;
}

/**
 * Prints how a new mapping would change the travelers of stored people. Without a mapping file, prints which changes
 * the current mapping has still to make. The output contains names, addresses and phone numbers on purpose. It goes to
 * the terminal only, never to the log.
 */
export function previewPeople(
  shell: Shell,
  { connection: chosen, mapping: file, limit, json }: PeoplePreviewRequest,
): Promise<0 | 1> {
  return untilRefused(shell, async () => {
    const settings = await readAllSettings(shell);
    const connection = chosenConnection(settings, chosen);
    const { id } = connection;
    const mapping = file === undefined ? undefined : requireMapping(file);
    const preview = await runPreview(shell, settings, connection, { mapping, examples: limit });
    if (json) printJson(shell, { connection: id, needsApproval: needsApproval(preview), ...preview });
    else shell.print(previewReport(preview, { connection: id, mapping: file, columns: shell.columns }));
  });
}

/** Reads a mapping file. Throws a SettingsFault with every fault. */
export function requireMapping(file: string): Mapping {
  const faults: Fault[] = [];
  const mapping = readMapping(resolve(file), faults);
  if (!mapping) throw new SettingsFault(faults);
  return mapping;
}

/** Runs a preview with a progress bar. Throws if the travel API cannot be read. */
export async function runPreview(
  shell: Shell,
  settings: Settings,
  connection: ConnectionSettings,
  options: PreviewOptions,
): Promise<MappingPreview> {
  const { previewMapping } = await import('../../checks/mapping.ts');
  const progress = startProgress(shell, connection.id, 'people');
  const preview = await previewMapping(settings, connection, {
    ...options,
    onBatch: progress.update,
  }).finally(progress.stop);
  if ('kind' in preview) throw lookupsUnreadable(preview);
  return preview;
}

type Names = MappingPreview['names'];

/** The connection and mapping that a preview compares. */
export interface PreviewSubject {
  connection: string;
  /** The file of the new mapping; undefined if the current mapping was compared with the values sent last. */
  mapping: string | undefined;
  /** True if the mapping is put in force afterwards, or may be. */
  isChange?: true;
  /** The width of the terminal; undefined if there is none. */
  columns?: number | undefined;
}

/** Formats a preview: totals, numbers by field and by finding, then examples. */
export function previewReport(
  preview: MappingPreview,
  { connection, mapping, isChange, columns }: PreviewSubject,
): string {
  const { examples, names } = preview;
  const touched = preview.changed + preview.created + preview.pending + preview.outOfScope;
  const compared =
    mapping === undefined
      ? 'the present mapping, beside what was sent'
      : `${mapping}, beside the present mapping`;
  return [
    `Connection ${connection}: ${compared}.${isChange ? '' : ' Nothing was written or sent.'}`,
    ...mappingFaultLines(preview),
    ...(isWithoutEffect(preview) ? unchangedTexts(preview, { mapping, columns }) : [summaryText(preview)]),
    ...(preview.fields.length > 0 ? [fieldsTable(preview, columns)] : []),
    ...(preview.findings.length > 0 ? [findingsTable(preview, columns)] : []),
    ...(examples.length > 0 ? [`Examples (${examples.length} of ${touched}):`] : []),
    ...examples.map((example) => exampleText(example, names)),
  ].join('\n\n');
}

function isWithoutEffect({ people, fields, findings, examples }: MappingPreview): boolean {
  return people > 0 && fields.length + findings.length + examples.length === 0;
}

/** The texts for a mapping that would change nobody: a sentence, and the findings that people have at present. */
function unchangedTexts(
  { people, names, presentFindings }: MappingPreview,
  { mapping, columns }: Pick<PreviewSubject, 'mapping' | 'columns'>,
): string[] {
  const all = people === 1 ? 'The traveler of the one person' : `The travelers of all ${people} people`;
  const verb = people === 1 ? 'is' : 'are';
  const result =
    mapping === undefined
      ? `${all} ${verb} as the mapping in force wants; nothing has to be sent.`
      : `${mapping} has the same effect as the mapping in force: nothing would change for ${countText(people, 'person', 'people')}.`;
  const hint =
    '"npx jetbridge explain PERSON" shows every field of a person, "npx jetbridge mapping preview FILE" what another mapping would change.';
  if (presentFindings.length === 0) return [result, 'Nothing is left out: there are no findings.', hint];
  const rows = presentFindings.map(({ code, field, people: concerned }) => [
    code,
    fieldName(field, names),
    String(concerned),
  ]);
  return [
    result,
    'Left out at present ("npx jetbridge people --finding FINDING" lists the people):',
    formatTable(['finding', 'field', 'people'], rows, columns),
    hint,
  ];
}

function mappingFaultLines({ mappingFaults = [] }: MappingPreview): string[] {
  if (mappingFaults.length === 0) return [];
  const lines = mappingFaults.map(({ path, problem, remedy }) =>
    escapeLine(`  ${path}: ${problem}. ${remedy}`),
  );
  return [['The mapping has faults; affected fields keep their last value:', ...lines].join('\n')];
}

function summaryText({ people, changed, created, pending, outOfScope }: MappingPreview): string {
  return [
    `${countText(people, 'person', 'people')} looked at:`,
    `${String(changed).padStart(8)}  would change in the travel service`,
    `${String(created).padStart(8)}  would get a traveler at last`,
    `${String(pending).padStart(8)}  would get no traveler any more`,
    `${String(outOfScope).padStart(8)}  would be out of scope, and their travelers stay as they are`,
  ].join('\n');
}

function fieldsTable({ fields, names }: MappingPreview, columns: number | undefined): string {
  const head = ['field', 'another value', 'no value', 'sent again', 'given up'];
  const rows = fields.map(({ field, set, cleared, again, released }) => [
    fieldName(field, names),
    ...[set, cleared, again, released].map(String),
  ]);
  return formatTable(head, rows, columns);
}

function findingsTable({ findings, names }: MappingPreview, columns: number | undefined): string {
  const rows = findings.map(({ code, field, comes, goes }) => [
    code,
    fieldName(field, names),
    ...[comes, goes].map(String),
  ]);
  return formatTable(['finding', 'field', 'new', 'gone'], rows, columns);
}

const outcomes = {
  changed: '',
  created: ' gets a traveler',
  pending: ' gets no traveler any more',
  outOfScope: ' is out of scope',
} satisfies Record<PreviewExample['outcome'], string>;

function exampleText({ userName, outcome, changes, comes, goes }: PreviewExample, names: Names): string {
  const findingLine = (mark: string) => (finding: Finding) => `  ${mark} ${findingText(finding, names)}`;
  return [
    `${escapeLine(userName)}${outcomes[outcome]}`,
    ...changes.map(({ field, before, after, isAgain }) => {
      const how = isAgain
        ? `${valueText(after, names)} is sent again`
        : `${valueText(before, names)} → ${valueText(after, names)}`;
      return `  ${fieldName(field, names)}: ${how}`;
    }),
    ...comes.map(findingLine('+')),
    ...goes.map(findingLine('-')),
  ].join('\n');
}

function findingText({ field, code, value, reason }: Finding, names: Names): string {
  return `${fieldName(field, names)}${value === undefined ? '' : ` ${valueText(value, names)}`}: ${escapeLine(reason)} [${code}]`;
}

/** Returns the name of a field. For a custom field, this is the name that admins gave it. */
export function fieldName(field: string, names: Names): string {
  return escapeLine(names[field] ?? field);
}

/** Formats a value in one line. Options of a custom field are shown by their texts. */
export function valueText(value: Json, names: Names): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string') return escapeLine(JSON.stringify(names[value] ?? value));
  if (!Array.isArray(value)) return escapeLine(JSON.stringify(value));
  return value.map((one) => valueText(customFieldData(one, names), names)).join(', ');
}

function customFieldData(value: Json, names: Names): Json {
  if (!isObject(value)) return value;
  const { data, customFieldOptionId: option } = value;
  return data ?? (typeof option === 'string' ? (names[option] ?? option) : JSON.stringify(value));
}
