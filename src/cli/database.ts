import { readSettings, type Settings } from '../config/settings.ts';
import { type Database, openEmbedded } from '../store/database.ts';
import type { Shell } from './exit.ts';
import { inLine } from './output.ts';

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
