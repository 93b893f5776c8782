import { readSettings, type Settings } from '../config/settings.ts';
import { withStoredConnections } from '../config/stored-connections.ts';
import { type ProvisioningStore, provisioningStore } from '../store/provisioning-store.ts';
import { replicas } from '../store/queues/replicas.ts';
import type { Database } from '../store/sql/database.ts';
import { withDatabaseAt, withDatabaseIfAny } from '../store/sql/open-database.ts';
import { readStoredSettings } from '../store/stored-connections.ts';
import { Refused, untilRefused } from './exit-code.ts';
import { escapeLine, type Shell } from './terminal/output.ts';

/** The open database, the settings with the connections of the database too, and the stores of provisioning. */
export interface OpenedDatabase {
  database: Database;
  settings: Settings;
  store: ProvisioningStore;
}

/**
 * Opens the database of the settings for `work`, and closes it. A server may be running on it. Without `mayCreate`, throws NoDatabase if
 * there is none. Returns 1 if the work is refused.
 */
export function withDatabase(
  shell: Shell,
  work: (opened: OpenedDatabase) => Promise<void>,
  options: { mayCreate?: boolean } = {},
): Promise<0 | 1> {
  return untilRefused(shell, () => {
    const settings = readSettings(shell.environment, shell.home);
    const workWithAll = async (database: Database) => {
      // A command needs no travel credential of a stored connection, which the environment of the server may have alone.
      const stored = await readStoredSettings(database);
      const all = withStoredConnections(settings, stored, { includesFaulty: true });
      await work({ database, settings: all, store: provisioningStore(database) });
    };
    return withDatabaseAt(settings, workWithAll, options);
  });
}

/** Reads the settings, with the connections of the database if there is one. */
export async function readAllSettings({ environment, home }: Shell): Promise<Settings> {
  const settings = readSettings(environment, home);
  const stored = (await withDatabaseIfAny(settings, readStoredSettings)) ?? [];
  return withStoredConnections(settings, stored, { includesFaulty: true });
}

/** Returns the time by the clock of the database, by which the servers compare times. */
export function databaseTime(database: Database): Promise<number> {
  return replicas(database).time(Date.now());
}

/** Finds a connection of the settings and the database. Throws if they have none of that name. */
export function findConnection({ connections }: Settings, id: string): Settings['connections'][number] {
  const connection = connections.find((candidate) => candidate.id === id);
  if (connection) return connection;
  const known = connections.map((candidate) => candidate.id).join(', ');
  throw new Refused(`There is no connection ${escapeLine(id)}; the settings have ${known}.`);
}

/** Returns all connections of the database, or the chosen one. Throws if there is no such connection. */
export function findConnections(database: Database, chosen: string | undefined): string[] {
  if (chosen === undefined) return database.scopes.ids();
  if (!database.scopes.has(chosen)) throw unknownConnection(chosen, database);
  return [chosen];
}

/** Says that the database does not have a connection, and which ones it has. */
export function unknownConnection(name: string, { scopes }: Database): Refused {
  const all = scopes.ids();
  const known = all.length === 0 ? 'it has none' : `it has ${all.join(', ')}`;
  return new Refused(`There is no connection ${escapeLine(name)} in the database; ${known}.`);
}
