import { resolve } from 'node:path';
import { type Fault, SettingsFault } from '../../config/faults.ts';
import { type ConnectionSettings, readMapping, type Settings } from '../../config/settings.ts';
import {
  applyMapping,
  findReplacedSince,
  findVersion,
  listVersions,
  type MappingChange,
  type MappingChangeResult,
  mappingOf,
} from '../../provisioning/rules/mapping-versions.ts';
import type { MappingPreview } from '../../provisioning/rules/preview-mapping.ts';
import { needsApproval } from '../../provisioning/rules/rules-change.ts';
import { provisioningStore } from '../../store/provisioning-store.ts';
import type { MappingVersion, RulesStore } from '../../store/queues/rules-in-force.ts';
import type { Database } from '../../store/sql/database.ts';
import { withDatabaseAt } from '../../store/sql/open-database.ts';
import { type OtherRule, otherRules } from '../../translator/mapping/default-rules.ts';
import { type Mapping, parseMapping } from '../../translator/mapping/mapping-file.ts';
import { compileRules } from '../../translator/rules.ts';
import { parseCount } from '../arguments.ts';
import { withAuditEntry } from '../audit.ts';
import { checkConnectionNames, warningText } from '../check.ts';
import type { CliCommand } from '../command.ts';
import { databaseTime, findConnection, readAllSettings, storeConnection } from '../database.ts';
import { Refused, untilRefused } from '../exit-code.ts';
import { confirm, printJson, type Shell, toIsoTime } from '../output.ts';
import { currentUser } from '../terminal.ts';
import {
  allRulesText,
  appliedText,
  conflictText,
  historyTable,
  leftValuesText,
  planText,
} from './mapping-texts.ts';
import { requireMapping, runPreview } from './preview.ts';

interface MappingFlags {
  connection?: string;
  json?: true;
}

interface ShowFlags extends MappingFlags {
  all?: true;
}

interface ChangeFlags extends MappingFlags {
  yes?: true;
}

interface RestoreFlags extends ChangeFlags {
  values?: true;
}

/** Adds the commands `mapping show`, `check`, `preview`, `apply`, `history` and `restore`. */
export function addMappingCommands(program: CliCommand): void {
  const mapping = program
    .command('mapping')
    .description('the mapping in force: show it, change it, restore an earlier one');
  withCommonOptions(mapping.command('show'))
    .description('print the mapping in force, or one of the history, as JSON')
    .argument('[version]', 'its number in the history; default: the one in force', parseCount)
    .option(
      '--all',
      'every rule in force as text: those of the mapping, then those of the travel service and the default rules, as a mapping file could have them',
    )
    .examples('mapping show > my-mapping.json', 'mapping show 2', 'mapping show --all')
    .runs(showMapping);
  withCommonOptions(mapping.command('check'))
    .description(
      'print every fault of a mapping file, and every name that the travel service does not have; groups that nobody has sent are warnings',
    )
    .argument('<file>', 'a mapping file')
    .examples('mapping check my-mapping.json')
    .runs(checkMapping);
  withCommonOptions(mapping.command('preview'))
    .description('show what a mapping file would change for all people; nothing is written or sent')
    .argument('<file>', 'a mapping file')
    .option('--limit <number>', 'the number of people to show as examples; default: 10', parseCount)
    .examples('mapping preview my-mapping.json --limit 3')
    .runs(previewFile);
  withCommonOptions(mapping.command('history'))
    .description('list the mappings that are and were in force, the newest first')
    .examples('mapping history')
    .runs(listHistory);
  addChangeCommands(mapping);
}

/** Adds the commands that change the mapping in force. */
function addChangeCommands(mapping: CliCommand): void {
  withCommonOptions(mapping.command('apply'))
    .description(
      'show what a mapping file would change, ask, and put it in force without a restart; a file with a fault is refused as a whole',
    )
    .argument('<file>', 'a mapping file')
    .option('--yes', 'do not ask for confirmation')
    .examples('mapping apply my-mapping.json', 'mapping apply my-mapping.json --yes')
    .runs(applyFile);
  withCommonOptions(mapping.command('restore'))
    .description('show what a mapping of the history would change, ask, and put it in force again')
    .argument('<version>', 'its number in the history', parseCount)
    .option(
      '--values',
      'also put back the values of travelers that later mappings have replaced, in fields that the restored mapping does not set',
    )
    .option('--yes', 'do not ask for confirmation')
    .examples('mapping restore 1', 'mapping restore 1 --values')
    .runs(restoreMapping);
}

function withCommonOptions(command: CliCommand): CliCommand {
  return command
    .option('--connection <id>', 'the connection; needed only if there are several')
    .option('--json', 'as JSON');
}

/** A connection of the settings, and the file or database that a command works on. */
interface MappingSubject {
  settings: Settings;
  connection: ConnectionSettings;
}

/** Runs the work of a command on the chosen connection: the named one, or the only one. */
function withSubject(
  shell: Shell,
  { connection: id }: MappingFlags,
  work: (subject: MappingSubject) => Promise<void>,
): Promise<0 | 1> {
  return untilRefused(shell, async () => {
    const settings = await readAllSettings(shell);
    const [first] = settings.connections;
    if (id === undefined && settings.connections.length > 1) {
      const names = settings.connections.map((one) => one.id).join(', ');
      throw new Refused(
        `There are several connections: name one with --connection. The settings have ${names}.`,
      );
    }
    await work({ settings, connection: findConnection(settings, id ?? first?.id ?? '') });
  });
}

/** Opens the rules in force of the connection. A server may be running. */
function withRules<R>(
  { settings, connection }: MappingSubject,
  work: (rules: RulesStore, database: Database) => Promise<R>,
): Promise<R> {
  return withDatabaseAt(settings, async (database) => {
    await storeConnection(database, settings, connection.id);
    return work(provisioningStore(database).rules, database);
  });
}

/** Prints the mapping in force, or one of the history, in the form of a mapping file; with `all`, every rule that is in force with it. */
function showMapping(shell: Shell, number: number | undefined, { all, ...flags }: ShowFlags): Promise<0 | 1> {
  return withSubject(shell, flags, async (subject) => {
    const version = await readVersion(subject, number);
    if (all) {
      const { mapping, others } = await readAllRules(subject, version);
      if (flags.json) printJson(shell, { ...versionJson(subject, version), others });
      else shell.print(allRulesText(mapping, others));
    } else if (flags.json) printJson(shell, versionJson(subject, version));
    else shell.print(JSON.stringify(version.mapping, null, 2));
  });
}

/** Compiles a mapping with the collection as last read, and returns the rules that are in force besides its own. */
async function readAllRules(
  subject: MappingSubject,
  version: MappingVersion,
): Promise<{ mapping: Mapping; others: OtherRule[] }> {
  const mapping = mappingOf(version);
  if (!mapping) throw new Refused('Another version of Jetbridge has stored this mapping.');
  const inForce = await withRules(subject, (rules) => rules.find(subject.connection.id));
  const collection = inForce?.lookups?.scimUserMappings ?? [];
  return { mapping, others: otherRules(compileRules(mapping, collection)) };
}

/** Reads a mapping of the history, or the one in force. Throws if there is none. */
async function readVersion(subject: MappingSubject, number?: number): Promise<MappingVersion> {
  const { id } = subject.connection;
  const version = await withRules(subject, (rules) => findVersion(rules, id, number));
  if (version) return version;
  throw number === undefined
    ? neverInForce(subject)
    : new Refused(`The mapping has no version ${number}; "npx jetbridge mapping history" lists them.`);
}

function neverInForce({ connection }: MappingSubject): Refused {
  return new Refused(`No mapping has been in force for connection ${connection.id}: start the server once.`);
}

function versionJson({ connection }: MappingSubject, { appliedAt, ...version }: MappingVersion): object {
  return { connection: connection.id, appliedAt: toIsoTime(appliedAt), ...version };
}

/** Lists the history: a table, or one JSON object for each mapping. */
function listHistory(shell: Shell, flags: MappingFlags): Promise<0 | 1> {
  return withSubject(shell, flags, async (subject) => {
    const versions = await withRules(subject, (rules) => listVersions(rules, subject.connection.id));
    if (versions.length === 0) throw neverInForce(subject);
    if (flags.json) printJson(shell, ...versions.map((version) => versionJson(subject, version)));
    else shell.print(historyTable(versions, shell.columns));
  });
}

/** Prints every fault of a mapping file. Names are not checked while the travel API cannot be read, which is no fault. */
function checkMapping(shell: Shell, file: string, flags: MappingFlags): Promise<0 | 1> {
  return withSubject(shell, flags, async ({ settings, connection }) => {
    const found: Fault[] = [];
    const mapping = readMapping(resolve(file), found);
    const { faults, unchecked }: Awaited<ReturnType<typeof checkConnectionNames>> = mapping
      ? await checkConnectionNames(settings, { ...connection, mapping, mappingFile: file })
      : { faults: found };
    const warnings = mapping ? await findWarnings({ settings, connection }, mapping, file) : [];
    if (flags.json) printJson(shell, { file, faults, warnings, unchecked });
    else {
      printWarnings(shell, warnings);
      if (faults.length > 0) throw new SettingsFault(faults);
      shell.print(
        unchecked ?? `${file} is in order${warnings.length > 0 ? ', except for the warnings' : ''}.`,
      );
    }
    if (faults.length > 0) throw new Refused();
  });
}

/** Prints what a mapping file would change for all people, compared with the mapping in force. */
function previewFile(
  shell: Shell,
  file: string,
  { limit, ...flags }: MappingFlags & { limit?: number },
): Promise<0 | 1> {
  return withSubject(shell, flags, async (subject) => {
    const mapping = requireMapping(file);
    printWarnings(shell, await findWarnings(subject, mapping, file));
    const preview = await previewChange(shell, subject, { mapping, limit });
    const { id } = subject.connection;
    if (flags.json) printJson(shell, { connection: id, needsApproval: needsApproval(preview), ...preview });
    else shell.print(planText(preview, { connection: id, mapping: file, columns: shell.columns }));
  });
}

/** Names that a known extension does not have, and groups that nobody has sent: they are allowed, but probably misspelled. */
async function findWarnings(
  { settings, connection }: MappingSubject,
  mapping: Mapping,
  file: string,
): Promise<Fault[]> {
  const { findUnknownNames } = await import('../../checks/connection.ts');
  const unknown = await findUnknownNames(settings, connection, { mapping });
  return unknown.map((warning) => ({ file, ...warning }));
}

function printWarnings(shell: Shell, warnings: Fault[]): void {
  for (const warning of warnings) shell.printError(warningText(warning));
}

const EXAMPLES = 10;

/** Compares with the mapping in force, whatever file the settings name. */
function previewChange(
  shell: Shell,
  { settings, connection }: MappingSubject,
  {
    limit = EXAMPLES,
    ...change
  }: Pick<Candidate, 'mapping' | 'putBackSince'> & { limit?: number | undefined },
): Promise<MappingPreview> {
  const inForce = { ...connection, mapping: undefined };
  return runPreview(shell, settings, inForce, { ...change, examples: limit });
}

/** Puts a mapping file in force. */
export function applyFile(shell: Shell, file: string, flags: ChangeFlags): Promise<0 | 1> {
  return withSubject(shell, flags, async (subject) =>
    changeMapping(shell, subject, { ...flags, mapping: requireMapping(file), name: file }),
  );
}

/** Puts a mapping of the history in force again. With `--values`, puts back what later mappings have replaced. */
function restoreMapping(shell: Shell, number: number, { values, ...flags }: RestoreFlags): Promise<0 | 1> {
  return withSubject(shell, flags, async (subject) => {
    const version = await readVersion(subject, number);
    const name = `version ${number}`;
    const parsed = parseMapping(version.mapping);
    if ('faults' in parsed) throw new SettingsFault(parsed.faults.map((fault) => ({ ...fault, file: name })));
    const putBackSince = values
      ? await withRules(subject, (rules) => findReplacedSince(rules, subject.connection.id, number))
      : undefined;
    const restored = { isRestore: true, putBackSince } as const;
    await changeMapping(shell, subject, { ...flags, mapping: parsed.mapping, name, ...restored });
  });
}

const unconfirmed = {
  declined: 'Nothing was applied.',
  unasked: 'nothing was applied, as nobody can be asked here: give --yes',
};

interface Candidate extends ChangeFlags {
  mapping: Mapping;
  /** The file, or the version of the history. */
  name: string;
  isRestore?: true;
  /** As in `RulesSnapshot`. */
  putBackSince?: number | undefined;
}

/** Prints the plan, asks, and puts the mapping in force if the mapping that it was compared with is still in force. */
async function changeMapping(shell: Shell, subject: MappingSubject, candidate: Candidate): Promise<void> {
  const { connection } = subject;
  const { mapping, name, json, yes, isRestore, putBackSince } = candidate;
  const before = await withRules(subject, (rules) => findVersion(rules, connection.id));
  const preview = await previewChange(shell, subject, { mapping, putBackSince });
  printWarnings(shell, await findWarnings(subject, mapping, name));
  const faults = (preview.mappingFaults ?? []).filter(({ origin }) => origin === 'file');
  if (faults.length > 0) throw new SettingsFault(faults.map((fault) => ({ ...fault, file: name })));
  const isHeld = needsApproval(preview);
  if (json) printJson(shell, { connection: connection.id, needsApproval: isHeld, plan: preview });
  else {
    const subject = { connection: connection.id, mapping: name, columns: shell.columns };
    shell.print(planText(preview, { ...subject, isChange: true }));
    if (isRestore) shell.print(`\n${leftValuesText(preview, putBackSince !== undefined)}\n`);
  }
  const question = `Put ${name} in force for connection ${connection.id}?`;
  await confirm(shell, question, { yes, ...unconfirmed });
  const change = { connection: connection.id, mapping, putBackSince, expected: before?.generation ?? 0 };
  const result = await applyWithAudit(subject, change, {
    action: isRestore ? 'restoreMappingVersion' : 'applyMapping',
    details: { connection: connection.id, mapping: name },
  });
  if (json) printJson(shell, { connection: connection.id, ...result });
  if (result.outcome === 'conflict')
    throw new Refused(json ? '' : conflictText(result.version, result.difference));
  if (!json) shell.print(resultText(connection.id, result, isHeld));
  if (result.outcome === 'applied' && connection.mappingFile !== undefined)
    shell.printError(
      `The settings name ${connection.mappingFile}, which replaces this mapping when its content changes.`,
    );
}

/** Puts a mapping in force, and records it in the audit log as a change on the page is recorded. */
function applyWithAudit(
  subject: MappingSubject,
  change: Omit<MappingChange, 'source' | 'author' | 'now'>,
  entry: { action: string; details: Record<string, unknown> },
): Promise<MappingChangeResult> {
  const apply = async (rules: RulesStore) => {
    const by = { source: 'command', author: currentUser(), now: Date.now() } as const;
    const result = await applyMapping(rules, { ...change, ...by });
    if (result.outcome !== 'conflict')
      Object.assign(entry.details, { version: result.version, before: result.before });
    return result;
  };
  const isApplied = ({ outcome }: MappingChangeResult) => outcome !== 'conflict';
  return withRules(subject, async (rules, database) => {
    const result = await withAuditEntry(database, entry, () => apply(rules), isApplied);
    if (result.outcome === 'applied') await planAgainInShadow(database, subject);
    return result;
  });
}

const BATCH = 500;

/**
 * Makes the people of a connection in shadow mode due, so that a running server plans them at once: it would see the new rules within a
 * minute only. In the other modes the server first decides whether the change is held.
 */
async function planAgainInShadow(database: Database, { connection }: MappingSubject): Promise<void> {
  const { modes, reconcileQueue } = provisioningStore(database);
  const shadow = await modes.readShadow(connection.id);
  if (!shadow) return;
  const now = await databaseTime(database);
  for (let marked = BATCH; marked === BATCH; )
    marked = await reconcileQueue.markStaleDirty(connection.id, shadow.generation, BATCH, now);
}

function resultText(
  connection: string,
  { outcome, version }: Exclude<MappingChangeResult, { outcome: 'conflict' }>,
  isHeld: boolean,
): string {
  return outcome === 'unchanged'
    ? `This mapping is in force already, as version ${version}.`
    : appliedText(connection, version, isHeld);
}
