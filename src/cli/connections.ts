import { type ConnectionSettings, readSettings, type Settings } from '../config/settings.ts';
import type { ImportResult } from '../provisioning/import/import.ts';
import type { Service } from '../server/start.ts';
import {
  deleteConnection as forget,
  readStoredConnections,
  type StoredConnection,
} from '../store/connections.ts';
import type { Database } from '../store/sql/database.ts';
import { removeDeadServers } from '../store/sql/open-database.ts';
import type { CliCommand } from './command.ts';
import { changeMode } from './connection-mode.ts';
import { unknownConnection, withDatabase } from './database.ts';
import { Refused } from './exit-code.ts';
import { type ChangeFlags, printPaused, resumeConnection, unconfirmed } from './holds/paused-connections.ts';
import {
  confirm,
  countText,
  escapeLine,
  printJson,
  printTable,
  type Shell,
  startProgress,
  travelFailureText,
} from './output.ts';

/** Adds the commands `connections list`, `connections mode`, `connections resume` and `connections forget`. */
export function addConnectionCommands(program: CliCommand): void {
  const connections = program
    .command('connections')
    .description('the connections in the database, whether or not the settings have them');
  connections
    .command('list')
    .description(
      'list them, each with what it is from, and its numbers of people, tombstones, groups and linked travelers',
    )
    .option('--json', 'one JSON object for each connection')
    .examples('connections list')
    .runs(listConnections);
  connections
    .command('resume')
    .description('let a paused connection go on')
    .argument('<name>', 'its name, as listed')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .examples('connections resume default', 'connections resume default --yes')
    .runs((shell, name: string, flags: ChangeFlags) => resumeConnection(shell, { name, ...flags }));
  connections
    .command('mode')
    .description('put a connection into another mode: live, shadow (plan and report, send nothing) or paused')
    .argument('<name>', 'its name, as listed')
    .argument('<mode>', 'live, shadow or paused')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .examples('connections mode default shadow', 'connections mode default live --yes')
    .runs((shell, name: string, mode: string, flags: ChangeFlags) =>
      changeMode(shell, { name, mode, ...flags }),
    );
  connections
    .command('forget')
    .description(
      'remove a connection that the settings no longer have; its travelers stay, and other connections can link them',
    )
    .argument('<name>', 'its name, as listed')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .examples('connections forget subsidiary', 'connections forget subsidiary --yes')
    .runs((shell, name: string, flags: ChangeFlags) => forgetConnection(shell, { name, ...flags }));
}

/** Lists every connection in the database, including those that the settings no longer have. Works while a server runs. */
export function listConnections(shell: Shell, { json }: { json?: true } = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings, store }) => {
    await removeDeadServers(database, settings);
    const stored = await readStoredConnections(database, Date.now());
    const listed = await store.modes.list();
    const modeOf = (id: string) => listed.find(({ connection }) => connection === id)?.mode ?? 'live';
    if (json) {
      const paused = await store.modes.listPaused();
      const of = (id: string) => paused.find(({ connection }) => connection === id);
      printJson(
        shell,
        ...stored.map((kept) => ({
          ...kept,
          source: sourceOf(settings, kept.id),
          isInSettings: sourceOf(settings, kept.id) === 'file',
          mode: modeOf(kept.id),
          paused: of(kept.id) && { since: of(kept.id)?.since, people: of(kept.id)?.people },
        })),
      );
      return;
    }
    const rows = stored.map((kept) => [
      kept.id,
      sourceTexts[sourceOf(settings, kept.id) ?? 'none'],
      modeOf(kept.id),
      ...[kept.people, kept.tombstones, kept.groups, kept.linked].map(String),
    ]);
    const head = ['connection', 'from', 'mode', 'people', 'tombstones', 'groups', 'travelers linked'];
    printTable(shell, head, rows);
    await printPaused(shell, store, settings);
  });
}

/** Removes a connection that is not in the settings, after the admin has confirmed it. Works while a server runs. */
export function forgetConnection(
  shell: Shell,
  { name, yes, json }: ChangeFlags & { name: string },
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings }) => {
    const kept = await findForgettable(database, settings, name);
    shell.printError(consequencesText(kept));
    await confirm(shell, `Forget ${name}? It cannot be undone.`, { yes, ...unconfirmed });
    const progress = startProgress(shell, name, 'people');
    const total = kept.people + kept.tombstones;
    const deleted = { connection: name, now: Date.now() };
    const end = await forget(database, deleted, (gone) => progress.update(gone, total)).finally(
      progress.stop,
    );
    if (end === 'inUse') {
      await findForgettable(database, settings, name);
      throw new Refused(busyText(name));
    }
    if (json) printJson(shell, { connection: name, forgotten: true });
    else shell.print('forgotten');
  });
}

/** Returns what a connection is from; undefined for one that is served no longer. */
function sourceOf({ connections }: Settings, id: string): ConnectionSettings['source'] | undefined {
  return connections.find((connection) => connection.id === id)?.source;
}

const sourceTexts = { file: 'settings file', database: 'admin page', none: '–' };

/** Finds a stored connection. Throws if it cannot be forgotten. */
async function findForgettable(
  database: Database,
  settings: Settings,
  name: string,
): Promise<StoredConnection> {
  await removeDeadServers(database, settings);
  const all = await readStoredConnections(database, Date.now());
  const kept = all.find(({ id }) => id === name);
  if (!kept) throw unknownConnection(name, database);
  const source = sourceOf(settings, name);
  if (source === 'database')
    throw new Refused(`The connection ${name} was added on the admin page. Remove it there.`);
  if (source !== undefined)
    throw new Refused(
      `The connection ${name} is in the settings. Remove it there and restart the server; then it can be forgotten.`,
    );
  if (kept.servers > 0) throw new Refused(servedText(kept, database.dialect.isShared));
  if (kept.isInUse) throw new Refused(busyText(name));
  return kept;
}

function servedText({ id, servers }: StoredConnection, isShared: boolean): string {
  const running = servers === 1 ? '1 running server serves' : `${servers} running servers serve`;
  const them = servers === 1 ? 'it' : 'them';
  const remedy = `Remove it from the settings and restart ${them}, or stop ${them}; then try again.`;
  const killed = isShared ? ' A server that was killed counts for 20 seconds more.' : '';
  return `${running} the connection ${id}, so nothing was changed. ${remedy}${killed}`;
}

function busyText(id: string): string {
  return `A server works on people of the connection ${id}, or has begun to serve it. Try again in a minute.`;
}

function consequencesText({ id, account, people, tombstones, groups, linked }: StoredConnection): string {
  return [
    `The connection ${id} (travel account ${escapeLine(account)}) has ${countText(people, 'person', 'people')}, ${countText(tombstones, 'tombstone', 'tombstones')} and ${countText(groups, 'group', 'groups')}.`,
    `They go, with its tokens and OAuth clients. ${countText(linked, 'traveler becomes', 'travelers become')} free for the other connections of the account; no traveler is changed.`,
  ].join('\n');
}

/** Adds the command `import`. */
export function addImportCommand(program: CliCommand): void {
  program
    .command('import')
    .description(
      'read all travelers now, as the server does at its start and every hour; the server must not be running on the same data',
    )
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
  const { start } = await import('../server/start.ts');
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
