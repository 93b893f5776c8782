import type { Settings } from '../config/settings.ts';
import type { HoldCause, Identity } from '../provisioning/identity.ts';
import type { Policies } from '../provisioning/policies.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { Database } from '../store/sql/database.ts';
import { findConnection } from './connections.ts';
import { escapeLine, type Shell } from './output.ts';

/** Selects held changes by connection and cause. */
export interface HoldFilter {
  connection?: string;
  cause?: HoldCause;
}

/** A limit that no list of held people reaches. */
export const ALL = Number.MAX_SAFE_INTEGER;

/** True if the filter names no connection or one of the settings; otherwise prints that there is none of that name. */
export function isConnectionKnown(shell: Shell, settings: Settings, { connection }: HoldFilter): boolean {
  return connection === undefined || findConnection(shell, settings, connection) !== undefined;
}

/** The policies of a connection; undefined if the settings do not have it. */
export function policiesOf({ connections }: Settings, connection: string): Policies | undefined {
  return connections.find(({ id }) => id === connection)?.policies;
}

/** Prints that nobody has that id or name, and returns the exit code. */
export function printUnknownPerson(shell: Shell, person: string): 1 {
  shell.printError(`There is no person with the SCIM id or userName ${escapeLine(person)}.`);
  return 1;
}

/** The connections that are meant, without those that no server has been started with: the database does not have them. */
export function selectedConnections(
  { scopes }: Database,
  { connections }: Settings,
  chosen: string | undefined,
): string[] {
  return connections.map(({ id }) => id).filter((id) => (chosen ?? id) === id && scopes.has(id));
}

/**
 * Finds identities by SCIM id or userName in these connections, including tombstones. If some of them are held, returns
 * only those.
 */
export async function findIdentities(
  database: Database,
  connections: string[],
  person: string,
): Promise<Identity[]> {
  const { identities } = provisioningStore(database);
  const found: Identity[] = [];
  for (const connection of connections) {
    const identity = await identities.findById(connection, person);
    found.push(
      ...(identity ? [identity] : await identities.find(connection, { by: 'userName', value: person })),
    );
  }
  const held = found.filter(({ hold }) => hold !== undefined);
  return held.length > 0 ? held : found;
}
