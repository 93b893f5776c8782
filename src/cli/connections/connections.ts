import { readSettings } from '../../config/settings.ts';
import { connectionModeNames } from '../../model/policies.ts';
import { connectionRecordOperations } from '../../operations/connections/connection-records.ts';
import { shadowOperations } from '../../operations/connections/shadow.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import type { ImportResult } from '../../provisioning/import/import.ts';
import { modeTexts } from '../../provisioning/shadow/mode-texts.ts';
import type { Service } from '../../server/start.ts';
import { restoredByOperator } from '../../store/restore/restore-watch.ts';
import { removeDeadServers } from '../../store/sql/open-database.ts';
import type { CliCommand, JsonFlag } from '../command.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import { type Operator, withOperations } from '../operations.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from '../terminal/confirmation.ts';
import {
  countText,
  escapeLine,
  printJson,
  type Shell,
  startProgress,
  travelFailureText,
} from '../terminal/output.ts';
import { printResult, printRows } from '../terminal/printers.ts';
import { addPilotCommand } from './pilot.ts';

/** Defines the commands `connections list`, `connections mode`, `connections pilot` and `connections forget`. */
export function defineConnectionCommands(connections: CliCommand): void {
  connections
    .command('list')
    .description(
      'list them, each with what it is from, and its numbers of people, deleted people, groups and linked travelers',
    )
    .option('--json', 'one JSON object for each connection')
    .examples('connections list')
    .runs((shell, flags: JsonFlag) =>
      withOperations(shell, (operator) => listConnections(shell, operator, flags)),
    );
  addModeCommand(connections);
  addPilotCommand(connections);
  const forget = connections
    .command('forget')
    .description(
      'remove a connection that the settings no longer have; its travelers stay, and other connections can link them',
    );
  addChange(forget)
    .examples('connections forget subsidiary', 'connections forget subsidiary --yes')
    .runs((shell, id: string, flags: ChangeFlags) =>
      withOperations(shell, (operator) => forgetConnection(shell, operator, { id, flags })),
    );
}

function addChange(command: CliCommand): CliCommand {
  return addChangeFlags(command.argument('<name>', 'its name, as listed'));
}

function addModeCommand(connections: CliCommand): void {
  const mode = connections
    .command('mode')
    .description('put a connection into another mode: live or shadow (plan and report, send nothing)');
  addChange(mode)
    .argument('<mode>', connectionModeNames.join(', '))
    .examples('connections mode default shadow', 'connections mode default live --yes')
    .runs((shell, id: string, name: string, flags: ChangeFlags) => {
      const to = connectionModeNames.find((one) => one === name);
      if (!to) throw new WrongUse(`the mode must be one of ${connectionModeNames.join(', ')}`);
      return withOperations(shell, async (operator) => {
        const { mode: current } = await findRecord(operator, id);
        shell.printError(modeTexts[to].change);
        if (current === 'shadow' && to === 'live')
          shell.printError(
            `To approve the plan that a report shows instead: npx jetbridge shadow go-live --connection ${id}`,
          );
        await confirmChange(shell, `Put ${id} into the mode ${to}?`, flags);
        await operator.call(shadowOperations, 'changeConnectionMode', { id, mode: to });
        const text = () => `${id} is in the mode ${to}; running servers follow within two seconds`;
        printResult(shell, flags, { connection: id, mode: to }, text);
      });
    });
}

const { result: listed } = connectionRecordOperations.listConnectionRecords;

type ConnectionRecord = OperationOutput<
  typeof connectionRecordOperations.listConnectionRecords
>['connections'][number];

async function readRecords({ call, deps }: Operator) {
  await removeDeadServers(deps.database, deps.settings);
  return call(connectionRecordOperations, 'listConnectionRecords', {});
}

/** Finds a connection of the database. Throws Refused if there is none of that name. */
async function findRecord(operator: Operator, id: string): Promise<ConnectionRecord> {
  const { connections } = await readRecords(operator);
  const found = connections.find((one) => one.id === id);
  if (found) return found;
  const known =
    connections.length === 0 ? 'it has none' : `it has ${connections.map((one) => one.id).join(', ')}`;
  throw new Refused(`There is no connection ${escapeLine(id)} in the database; ${known}.`);
}

const sourceTexts = { file: 'settings file', database: 'admin page' };

/** Lists every connection in the database, including those that the settings no longer have. */
async function listConnections(shell: Shell, operator: Operator, { json }: JsonFlag): Promise<void> {
  const records = await readRecords(operator);
  if (json) return printJson(shell, ...listed.encode(records).connections);
  printRows(shell, records.connections, {
    connection: ({ id }: ConnectionRecord) => id,
    from: ({ source }: ConnectionRecord) => (source ? sourceTexts[source] : '–'),
    mode: ({ mode }: ConnectionRecord) => mode,
    pilot: ({ pilot }: ConnectionRecord) => pilot,
    people: ({ people }: ConnectionRecord) => people,
    deleted: ({ tombstones }: ConnectionRecord) => tombstones,
    groups: ({ groups }: ConnectionRecord) => groups,
    'travelers linked': ({ linked }: ConnectionRecord) => linked,
  });
}

interface Change {
  id: string;
  flags: ChangeFlags;
}

/** Removes a connection that is not in the settings, after the admin has confirmed it. */
async function forgetConnection(shell: Shell, operator: Operator, { id, flags }: Change): Promise<void> {
  const { account, people, tombstones, groups, linked, keptBecause } = await findRecord(operator, id);
  if (keptBecause !== undefined) throw new Refused(keptBecause);
  const numbers = [
    countText(people, 'person', 'people'),
    countText(tombstones, 'deleted person', 'deleted people'),
    countText(groups, 'group'),
  ];
  shell.printError(
    [
      `The connection ${id} (travel account ${escapeLine(account)}) has ${numbers.slice(0, 2).join(', ')} and ${numbers[2]}.`,
      `They go, with its tokens and OAuth clients. ${countText(linked, 'traveler becomes', 'travelers become')} free for the other connections of the account; no traveler is changed.`,
    ].join('\n'),
  );
  await confirmChange(shell, `Forget ${id}? It cannot be undone.`, flags);
  await operator.call(connectionRecordOperations, 'forgetConnection', { id });
  printResult(shell, flags, { connection: id, forgotten: true }, () => 'forgotten');
}

/** Defines the command `restored`. */
export function defineRestoredCommand(command: CliCommand): void {
  command
    .option('--json', 'one JSON object')
    .examples('restored')
    .runs((shell, flags: JsonFlag) =>
      withOperations(shell, async ({ deps: { database, now } }) => {
        await restoredByOperator(database, now());
        printResult(shell, flags, { restored: true }, () => restoredText);
      }),
    );
}

/** Says what happens after a restore, and what the operator does. */
const restoredText = [
  'Everybody counts as newly imported: a running server reads all travelers now, reports what differs, and sends nothing of it.',
  '1. Start a full synchronization in the identity provider.',
  '2. Look at who still differs: npx jetbridge people --finding restored',
  '3. Have the stored values sent where they are right: npx jetbridge people send-again PERSON',
].join('\n');

/** Defines the command `import`. */
export function defineImportCommand(command: CliCommand): void {
  command
    .option('--accept-missing', 'treat missing travelers as deleted, however many they are')
    .option('--json', 'one JSON object for each connection that could be read')
    .examples('import', 'import --accept-missing')
    .runs(importTravelers);
}

/** The flags of `import`. */
export interface ImportFlags {
  /** If set, missing travelers are treated as deleted even if there are very many. */
  acceptMissing?: boolean;
  json?: true;
}

/**
 * Reads all travelers of every connection, with a progress bar for each. Returns 1 if a travel API could not be read, or returned so
 * few of the known travelers that the import concluded nothing about the missing ones.
 */
export async function importTravelers(shell: Shell, flags: ImportFlags): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  // Log nothing, because log lines would break the progress bars; the command prints every result itself.
  const local = { port: 0, host: '127.0.0.1', tls: undefined, traces: undefined } as const;
  const quiet = { ...settings, ...local, logLevel: 'silent' } as const;
  const { start } = await import('../../server/start.ts');
  const service = await start(quiet, { background: false, mayCreate: false });
  try {
    let exit: 0 | 1 = 0;
    for (const id of service.connections()) {
      if ((await importConnection(shell, { service, id, flags })) === 1) exit = 1;
    }
    return exit;
  } finally {
    await service.close();
  }
}

async function importConnection(
  shell: Shell,
  { service, id, flags }: { service: Service; id: string; flags: ImportFlags },
): Promise<0 | 1> {
  const progress = startProgress(shell, id, 'travelers');
  const imported = await service.importTravelers(id, progress.update, flags).finally(progress.stop);
  if ('kind' in imported) {
    shell.printError(`${id}: the travelers could not be read: ${travelFailureText(imported)}.`);
    return 1;
  }
  if (flags.json) printJson(shell, { connection: id, ...imported });
  else shell.print(`${id}: ${countText(imported.read, 'traveler')} read`);
  if (imported.unreadable !== undefined)
    shell.printError(
      `${id}: ${countText(imported.unreadable, 'traveler')} without a readable email passed over.`,
    );
  const doubt = incompleteText(imported, flags);
  if (doubt === undefined) return 0;
  shell.printError(`${id}: ${doubt}`);
  return 1;
}

/** Explains why an import did not treat missing travelers as deleted; undefined if there is nothing to explain. */
function incompleteText(
  { read, incomplete, complete, maximum, endedEarly }: ImportResult,
  { acceptMissing }: ImportFlags,
): string | undefined {
  if (incomplete) {
    const { seen, known } = incomplete;
    return `only ${seen} of ${countText(known, 'known traveler')} ${seen === 1 ? 'was' : 'were'} seen, so nobody was taken for gone. Check the address and the key of the travel API. If the others are gone indeed, run: npx jetbridge import --accept-missing`;
  }
  if (maximum !== undefined)
    return `the travel API lists more than ${countText(maximum, 'traveler')}; the others were not touched, and nobody was taken for gone. Check the travel API, or raise import.maximum in the settings.`;
  if (endedEarly) {
    const travelers =
      endedEarly.total === undefined
        ? countText(read, 'traveler')
        : `${read} of ${countText(endedEarly.total, 'traveler')}`;
    return `the travel API repeated its pages or ended its list after ${travelers}, so nobody was taken for gone. Check how the travel API pages its list.`;
  }
  if (!acceptMissing || complete) return undefined;
  return 'the list of travelers changed while it was read, so nobody was taken for gone. Run the same again.';
}
