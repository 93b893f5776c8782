import { readSettings, type Settings } from '../config/settings.ts';
import type { Imported } from '../provisioning/import.ts';
import { type Service, start } from '../server/start.ts';
import { forgetConnection as forget, type KeptConnection, keptConnections } from '../store/connections.ts';
import { type Database, openEmbedded } from '../store/database.ts';
import { failureText, inLine, type Shell, startBar, tableOf } from './output.ts';

/** Lists every connection in the database, be it in the settings or not. Works beside a running server. */
export function listConnections(shell: Shell): Promise<0> {
  return withDatabase(shell, async (database, settings) => {
    const rows = (await keptConnections(database, Date.now())).map((kept) => [
      kept.id,
      isInSettings(settings, kept.id) ? 'yes' : 'no',
      ...[kept.people, kept.tombstones, kept.groups, kept.linked].map(String),
    ]);
    const head = ['connection', 'in the settings', 'people', 'tombstones', 'groups', 'travelers linked'];
    shell.print(tableOf(head, rows));
    return 0;
  });
}

/**
 * Removes a connection that is not in the settings, after it was confirmed by `yes` or at the terminal. Works beside a
 * running server. `unconfirmed`: nobody could be asked.
 */
export function forgetConnection(
  shell: Shell,
  { name, yes }: { name: string; yes: boolean },
): Promise<0 | 1 | 'unconfirmed'> {
  return withDatabase(shell, async (database, settings) => {
    const all = await keptConnections(database, Date.now());
    const kept = all.find(({ id }) => id === name);
    const fault = kept ? whyKept(settings, kept) : unknown(name, all);
    if (!kept || fault !== undefined) {
      shell.complain(fault ?? '');
      return 1;
    }
    shell.complain(consequences(kept));
    if (!yes) {
      if (!shell.ask) return 'unconfirmed';
      const answer = await shell.ask(`Forget ${name}? It cannot be undone. [y/N] `);
      if (!/^\s*y(es)?\s*$/i.test(answer)) {
        shell.complain('Nothing was changed.');
        return 1;
      }
    }
    const bar = shell.isTerminal ? startBar(name, 'people') : undefined;
    bar?.setTotal(kept.people + kept.tombstones);
    const end = await forget(database, name, (gone) => bar?.update(gone)).finally(() => bar?.stop());
    if (end === 'inUse') {
      shell.complain(inUse(name));
      return 1;
    }
    shell.print('forgotten');
    return 0;
  });
}

function isInSettings({ connections }: Settings, id: string): boolean {
  return connections.some((connection) => connection.id === id);
}

function unknown(name: string, all: KeptConnection[]): string {
  const known = all.length === 0 ? 'it has none' : `it has ${all.map(({ id }) => id).join(', ')}`;
  return `There is no connection ${inLine(name)} in the database; ${known}.`;
}

function whyKept(settings: Settings, { id, isInUse }: KeptConnection): string | undefined {
  if (isInSettings(settings, id))
    return `The connection ${id} is in the settings. Remove it there and restart the server; then it can be forgotten.`;
  return isInUse ? inUse(id) : undefined;
}

function inUse(id: string): string {
  return `A server works on the connection ${id}, as its settings still have it. Restart the server, then try again.`;
}

function consequences({ id, account, people, tombstones, groups, linked }: KeptConnection): string {
  return [
    `The connection ${id} (travel account ${inLine(account)}) has ${counted(people, 'person', 'people')}, ${counted(tombstones, 'tombstone', 'tombstones')} and ${counted(groups, 'group', 'groups')}.`,
    `They go, with its tokens and OAuth clients. ${counted(linked, 'traveler becomes', 'travelers become')} free for the other connections of the account; no traveler is changed.`,
  ].join('\n');
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** What the command line asks of an import. */
export interface ImportAsked {
  /** Takes travelers that are missing for gone, however many they are. */
  acceptMissing?: boolean;
}

/**
 * Reads all travelers of every connection now, with a bar for each; 1 when one could not be read, or so few of the known
 * travelers were seen that nothing was concluded about the others.
 */
export async function importTravelers(shell: Shell, asked: ImportAsked): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  // What is due is told here, and a log would break the bars.
  const quiet = { ...settings, port: 0, host: '127.0.0.1', tls: undefined, logLevel: 'silent' } as const;
  const service = await start(quiet, { background: false });
  try {
    let exit: 0 | 1 = 0;
    for (const { id } of settings.connections) {
      if ((await importOne(shell, { service, id, asked })) === 1) exit = 1;
    }
    return exit;
  } finally {
    await service.close();
  }
}

async function importOne(
  shell: Shell,
  { service, id, asked }: { service: Service; id: string; asked: ImportAsked },
): Promise<0 | 1> {
  const bar = shell.isTerminal ? startBar(id, 'travelers') : undefined;
  const onPage = (read: number, total: number) => {
    bar?.setTotal(total);
    bar?.update(read);
  };
  const imported = await service.importTravelers(id, onPage, asked);
  bar?.stop();
  if ('kind' in imported) {
    shell.complain(`${id}: the travelers could not be read: ${failureText(imported)}.`);
    return 1;
  }
  shell.print(`${id}: ${travelers(imported.read)} read`);
  if (imported.unreadable !== undefined)
    shell.complain(`${id}: ${travelers(imported.unreadable)} without a readable email passed over.`);
  const doubt = doubtAbout(imported, asked);
  if (doubt === undefined) return 0;
  shell.complain(`${id}: ${doubt}`);
  return 1;
}

/** Why nothing was concluded from who is missing, where that must be known. */
function doubtAbout({ incomplete, complete }: Imported, { acceptMissing }: ImportAsked): string | undefined {
  if (incomplete) {
    const { seen, known } = incomplete;
    return `only ${seen} of ${known} known travelers were seen, so nobody was taken for gone. Check the address and the key of the travel API. If the others are gone indeed, run: jetbridge import --accept-missing`;
  }
  if (!acceptMissing || complete) return undefined;
  return 'the list of travelers changed while it was read, so nobody was taken for gone. Run the same again.';
}

function travelers(count: number): string {
  return `${count} ${count === 1 ? 'traveler' : 'travelers'}`;
}

/** Does work on the database of the settings, beside a running server. */
export async function withDatabase<E extends 0 | 1 | 'unconfirmed'>(
  shell: Shell,
  work: (database: Database, settings: Settings) => Promise<E>,
): Promise<E> {
  const settings = readSettings(shell.environment, shell.home);
  const database = await openEmbedded(settings.data, false);
  try {
    return await work(database, settings);
  } finally {
    await database.close();
  }
}

/** The connection that a command names, or undefined with a word about those that there are. */
export function connectionOf(
  shell: Shell,
  { connections }: Settings,
  id: string,
): Settings['connections'][number] | undefined {
  const connection = connections.find((one) => one.id === id);
  if (!connection) {
    const known = connections.map((one) => one.id).join(', ');
    shell.complain(`There is no connection ${inLine(id)}; the settings have ${known}.`);
  }
  return connection;
}
