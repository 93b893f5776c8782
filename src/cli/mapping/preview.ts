import { readJsonFile } from '../../config/faults.ts';
import type { ConnectionSettings } from '../../config/settings.ts';
import type { MappingDeps } from '../../operations/deps.ts';
import { OperationError } from '../../operations/errors.ts';
import { mappingChangeOperations } from '../../operations/mappings/mapping-changes.ts';
import { mappingOperations } from '../../operations/mappings/mappings.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import { isObject, type Json, type JsonObject } from '../../schema/resource.ts';
import { previewText } from '../../translator/preview.ts';
import type { CliCommand } from '../command.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import type { Operator } from '../operations.ts';
import { parseCount } from '../terminal/arguments.ts';
import { escapeLine, printJson, type Shell } from '../terminal/output.ts';
import { printPreview, readMappingText, readSoundFile } from './mapping.ts';
import { withMappingOperations } from './mapping-operations.ts';

interface PreviewFlags {
  input?: string | undefined;
  people?: true;
  mapping?: string;
  connection?: string;
  limit?: number | undefined;
  json?: true;
}

/** Defines the command `preview`. */
export function definePreviewCommand(command: CliCommand): void {
  command
    .option('--input <file>', 'a SCIM user as JSON, or a ListResponse with users')
    .option('--people', 'preview the stored people')
    .option('--mapping <file>', "a mapping file; default: the connection's own")
    .option('--connection <id>', 'the connection; needed only if there are several')
    .option('--limit <number>', 'the number of people to show as examples; default: 10', parseCount)
    .option('--json', 'one JSON object')
    .examples(
      'preview --input user.json',
      'preview --input user.json --mapping my-mapping.json',
      'preview --people --mapping my-mapping.json --limit 3',
    )
    .runs(async (shell, { input, people, limit, ...flags }: PreviewFlags) => {
      if ((people === true) === (input !== undefined))
        throw new WrongUse('give either --input <file> or --people');
      if (input === undefined) return previewPeople(shell, { limit, ...flags });
      if (limit !== undefined) throw new WrongUse('--limit goes with --people');
      return previewUsers(shell, { input, ...flags });
    });
}

function previewPeople(shell: Shell, { limit, mapping, ...flags }: PreviewFlags): Promise<0 | 1> {
  return withMappingOperations(shell, { ...flags, usesFile: true }, async (operator, { id: connection }) => {
    const text =
      mapping === undefined ? undefined : await readSoundFile(shell, operator, connection, mapping);
    await printPreview(shell, operator, { ...flags, connection, name: mapping, text, examples: limit });
  });
}

type PersonPreview = OperationOutput<typeof mappingChangeOperations.previewPerson>;

/** Prints how SCIM users are mapped to travelers, rule by rule. */
function previewUsers(shell: Shell, { input, ...flags }: PreviewFlags & { input: string }): Promise<0 | 1> {
  return withMappingOperations(shell, { ...flags, usesFile: true }, async (operator, settings) => {
    const text = await readOwnMapping(operator, settings, flags.mapping);
    const previews: PersonPreview[] = [];
    for (const { user, place } of readUsers(input))
      previews.push(
        await operator
          .call(mappingChangeOperations, 'previewPerson', { connection: settings.id, text, user })
          .catch((error: unknown) => {
            const isOfUser = error instanceof OperationError && error.faults[0]?.field === 'user';
            throw isOfUser ? new Refused(escapeLine(`${place}: ${error.message}`)) : error;
          }),
      );
    if (flags.json) return printJson(shell, ...previews);
    for (const preview of previews) {
      if (previews.length > 1) shell.print(`${escapeLine(preview.userName)}\n`);
      shell.print(personText(preview));
    }
  });
}

/** Reads the given mapping file, else that of the settings, else the mapping in force. */
async function readOwnMapping(
  { call }: Operator<MappingDeps>,
  { id: connection, mapping }: ConnectionSettings,
  file: string | undefined,
): Promise<string> {
  if (file !== undefined) return readMappingText(file);
  if (mapping) return JSON.stringify(mapping);
  return (await call(mappingOperations, 'readMapping', { connection })).text;
}

function personText({ fields, names, ...translated }: PersonPreview): string {
  const wanted = fields.map(({ field, outcome: kind, value }) => [field, { kind, value }]);
  // The operation returns a translation, although its declaration does not tell the types of values.
  const translation = Object({ ...translated, fields: Object.fromEntries(wanted) });
  const byId = Object.entries(names).map(
    ([key, name]) => [key.replace(/^customFields\./, ''), name] as const,
  );
  return previewText(translation, new Map(byId));
}

/** A user in a file, and the place there. */
interface UserInFile {
  user: JsonObject;
  place: string;
}

/** Reads a user, or the users of a ListResponse, as IdPs send and SCIM services answer them. */
function readUsers(file: string): UserInFile[] {
  const read = readJsonFile(file);
  if (!('json' in read)) throw new Refused(`${file}: ${read.problem}. ${read.remedy}`);
  // A parsed JSON file is JSON.
  const json = read.json as Json;
  const listed = isObject(json) ? json['Resources'] : undefined;
  if (!Array.isArray(listed)) return [readUser(json, file)];
  if (listed.length === 0)
    throw new Refused(`${file}: its Resources are empty: there is no user to preview.`);
  return listed.map((user, index) => readUser(user, `${file}: Resources[${index}]`));
}

function readUser(user: Json, place: string): UserInFile {
  if (isObject(user)) return { user, place };
  throw new Refused(`${place}: must be a JSON object, a SCIM user.`);
}
