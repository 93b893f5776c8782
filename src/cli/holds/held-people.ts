import type { Settings } from '../../config/settings.ts';
import type { HoldCause, Identity } from '../../provisioning/identity.ts';
import type { Policies } from '../../provisioning/policies.ts';
import type { ProvisioningStore } from '../../store/provisioning-store.ts';
import type { Database } from '../../store/sql/database.ts';
import { findConnection } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { escapeLine } from '../output.ts';

/** Selects held changes by connection and cause. */
export interface HoldFilter {
  connection?: string;
  cause?: HoldCause;
}

/** A limit that no list of held people reaches. */
export const ALL = Number.MAX_SAFE_INTEGER;

/** The policies of a connection; undefined if the settings do not have it. */
export function policiesOf({ connections }: Settings, connection: string): Policies | undefined {
  return connections.find(({ id }) => id === connection)?.policies;
}

/**
 * Returns the connections of the settings, or the chosen one, without those that no server has been started with: the database does not
 * have them. Throws if the settings do not have the chosen one.
 */
export function selectedConnections(
  { scopes }: Database,
  settings: Settings,
  chosen: string | undefined,
): string[] {
  const connections = chosen === undefined ? settings.connections : [findConnection(settings, chosen)];
  return connections.map(({ id }) => id).filter((id) => scopes.has(id));
}

/**
 * Finds identities by SCIM id or userName in these connections, including tombstones. If some of them are held, returns
 * only those. Throws if there are none.
 */
export async function findIdentities(
  { identities }: Pick<ProvisioningStore, 'identities'>,
  connections: string[],
  person: string,
): Promise<Identity[]> {
  const found: Identity[] = [];
  for (const connection of connections) {
    const identity = await identities.findById(connection, person);
    found.push(
      ...(identity ? [identity] : await identities.find(connection, { by: 'userName', value: person })),
    );
  }
  if (found.length === 0)
    throw new Refused(`There is no person with the SCIM id or userName ${escapeLine(person)}.`);
  const held = found.filter(({ hold }) => hold !== undefined);
  return held.length > 0 ? held : found;
}
