import { isDeepStrictEqual } from 'node:util';
import type { TravelUser } from '../translator/travel-user.ts';
import { addressKey } from './address.ts';
import type { Bases } from './basis.ts';
import type { Connection } from './connection.ts';
import { isLookedUp } from './looked-up.ts';
import { doubt, keepTravelers, type Notebook } from './notice.ts';
import type { FeedEvent, Identities } from './ports.ts';

/** What it takes to heed events. */
export interface Reader extends Notebook {
  identities: Pick<Identities, 'commit'>;
  bases: Bases;
  /** Lets rules and lookups be read anew, soon; who is concerned is translated again. */
  followRules(): void;
}

/**
 * Does what events call for, the newest first; of each traveler the newest counts. What a write of our own left is known
 * and calls for nothing: most events are that. False: something could not be read, so they must be heeded again.
 */
export async function heed(shop: Reader, connection: Connection, events: FeedEvent[]): Promise<boolean> {
  if (events.some(({ kind }) => isLookedUp(kind.split('.')[0] ?? ''))) {
    connection.lookups.expire();
    shop.followRules();
  }
  const newest = new Map<string, { traveler: TravelUser; kind: string }>();
  for (const { traveler, kind } of events) {
    if (traveler && !newest.has(traveler.id)) newest.set(traveler.id, { traveler, kind });
  }
  const isGone = ({ kind }: { kind: string }) => kind === 'user.deleted';
  const people = [...newest.values()];
  const areAllSeen = await see(
    shop,
    connection,
    people.filter((one) => !isGone(one)).map(({ traveler }) => traveler),
  );
  await miss(
    shop,
    connection,
    people.filter(isGone).map(({ traveler }) => traveler),
  );
  await free(shop, connection, freedBy(events, newest));
  return areAllSeen;
}

async function see(shop: Reader, connection: Connection, travelers: TravelUser[]): Promise<boolean> {
  const known = await knownOf(shop, connection, travelers);
  const news = travelers.filter((traveler) => !isDeepStrictEqual(known.get(traveler.id)?.observed, traveler));
  if (news.length === 0) return true;
  const basis = await shop.bases.current(connection);
  const since = shop.surroundings.now();
  // Without rules nobody can be kept.
  if ('kind' in basis) return false;
  return (await keepTravelers(shop, { connection, basis, since }, news)).areAllRead;
}

/** Who was linked is found to be gone by the next reconciliation; whom no IdP has written yet goes along. */
async function miss(shop: Reader, connection: Connection, travelers: TravelUser[]): Promise<void> {
  const known = [...(await knownOf(shop, connection, travelers)).values()];
  for (const { id } of known.filter(({ claimed }) => !claimed))
    await shop.identities.commit(connection.id, [{ kind: 'erase', id }]);
  await doubt(
    shop,
    connection,
    known.filter(({ claimed }) => claimed).map(({ id }) => id),
  );
}

async function knownOf({ imports }: Reader, { id }: Connection, travelers: TravelUser[]) {
  const known = await imports.known(
    id,
    travelers.map((traveler) => traveler.id),
  );
  return new Map(known.map((identity) => [identity.travelId, identity]));
}

/** Addresses, by key, that somebody had and has no more. */
function freedBy(
  events: FeedEvent[],
  newest: Map<string, { traveler: TravelUser; kind: string }>,
): Map<string, string> {
  const freed = new Map<string, string>();
  for (const { kind, traveler, previousEmail } of events) {
    if (previousEmail !== undefined) freed.set(addressKey(previousEmail), previousEmail);
    if (traveler && kind === 'user.deleted') freed.set(addressKey(traveler.email), traveler.email);
  }
  for (const { traveler, kind } of newest.values()) {
    if (kind !== 'user.deleted') freed.delete(addressKey(traveler.email));
  }
  return freed;
}

async function free(shop: Reader, { account }: Connection, addresses: Map<string, string>): Promise<void> {
  const now = shop.surroundings.now();
  for (const address of addresses.values()) await shop.agenda.touchWaiting(account, address, now);
  if (addresses.size > 0) shop.wake();
}
