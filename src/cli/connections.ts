import type { Settings } from '../config/settings.ts';
import { forgetConnection as forget, type KeptConnection, keptConnections } from '../store/connections.ts';
import { withDatabase } from './database.ts';
import type { Shell } from './exit.ts';
import { inLine, startBar, tableOf } from './output.ts';

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
