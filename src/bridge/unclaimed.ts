import { toScim } from '../translator/to-scim.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { addressKey, isParkingAddress } from './address.ts';
import type { Basis } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import { newIdentity } from './new-identity.ts';
import type { Imports, Surroundings } from './ports.ts';

/** The identity of somebody who was in the travel service before any IdP spoke of them. */
export function unclaimed(
  surroundings: Pick<Surroundings, 'now' | 'wallClock' | 'newId'>,
  connection: Connection,
  { basis, traveler }: { basis: Basis; traveler: TravelUser },
): Identity {
  const desired = toScim(basis.rules, traveler, { lookups: basis.lookups });
  return {
    ...newIdentity(surroundings, connection, desired),
    claimed: false,
    state: 'synced',
    rulesVersion: basis.version,
    travelId: traveler.id,
    observed: traveler,
  };
}

/** Those of the travelers that this connection may show as its own: linked nowhere else, not just being made, not parked, not erased. */
export async function showable(
  imports: Imports,
  connection: Connection,
  travelers: TravelUser[],
): Promise<TravelUser[]> {
  const ids = travelers.map(({ id }) => id);
  const elsewhere = new Set(await imports.linkedElsewhere(connection.id, connection.account, ids));
  const erased = await imports.erased(connection.account, ids);
  const open = new Set(await imports.openCreates(connection.account));
  return travelers.filter(
    ({ id, email }) =>
      !elsewhere.has(id) &&
      !erased.has(id) &&
      !open.has(addressKey(email)) &&
      !isParkingAddress(connection, email),
  );
}
