import { isDeepStrictEqual } from 'node:util';
import type { TravelUser } from '../translator/travel-user.ts';
import { addressKey } from './address.ts';
import type { Basis } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Agenda, Imports, KnownTraveler, Surroundings } from './ports.ts';
import { rouse } from './rouse.ts';
import { showable, unclaimed } from './unclaimed.ts';

/** What it takes to keep what was seen at the travel API. */
export interface Notebook {
  imports: Imports;
  agenda: Pick<Agenda, 'touch' | 'touchWaiting'>;
  wake(): void;
  surroundings: Surroundings;
}

/** Whose travelers were looked at, by which rules, and from when on. */
export interface Look {
  connection: Connection;
  basis: Basis;
  since: number;
}

/** What became of travelers that were kept. */
export interface Kept {
  /** False when a traveler had to be read anew and could not be; its identity is as before. */
  areAllRead: boolean;
  /** The travelers that a live identity of the connection was known for before. */
  known: string[];
}

/**
 * Keeps what was seen of travelers: who is linked is watched, who is not becomes or stays unclaimed and follows. Safe to do
 * beside everything else, any number of times.
 */
export async function keepTravelers(
  shop: Notebook,
  { connection, basis, since }: Look,
  travelers: TravelUser[],
): Promise<Kept> {
  const ids = travelers.map(({ id }) => id);
  const identities = await shop.imports.known(connection.id, ids);
  const known = new Map(identities.map((identity) => [identity.travelId, identity]));
  const isClaimed = ({ id }: TravelUser) => known.get(id)?.claimed === true;
  const shown = await showable(
    shop.imports,
    connection,
    travelers.filter((traveler) => !isClaimed(traveler)),
  );
  // Nearly everybody, every time: who is as last seen, under the same rules, need not be translated again.
  const isAsSeen = (traveler: TravelUser) => {
    const before = known.get(traveler.id);
    return before?.rulesVersion === basis.version && isDeepStrictEqual(before.observed, traveler);
  };
  const asSeen = new Set(shown.filter(isAsSeen));
  const others = shown.filter((traveler) => !asSeen.has(traveler));
  const unchanged = [...asSeen].flatMap(({ id }) => known.get(id)?.id ?? []);
  await shop.imports.markSeen(connection.id, unchanged, since);
  const newcomers = others.map((traveler) => unclaimed(shop.surroundings, connection, { basis, traveler }));
  await shop.imports.saveUnclaimed(newcomers, since);
  for (const traveler of others) await freed(shop, connection, { before: known.get(traveler.id), traveler });
  const claimed = travelers.filter(isClaimed);
  const areAllRead = await watch(
    shop,
    { connection, basis, since },
    claimed.map((traveler) => ({ traveler, identity: known.get(traveler.id) })),
  );
  return { areAllRead, known: liveOnes(identities) };
}

/**
 * Notes that travelers are there of whom nothing else is known, as they could not be read: their identities stay as they
 * are. Answers those that a live identity of the connection is known for.
 */
export async function keepPresent(
  { imports }: Notebook,
  { connection, since }: Look,
  travelIds: string[],
): Promise<string[]> {
  const known = await imports.known(connection.id, travelIds);
  await imports.markSeen(
    connection.id,
    known.map(({ id }) => id),
    since,
  );
  return liveOnes(known);
}

function liveOnes(identities: KnownTraveler[]): string[] {
  return identities.flatMap(({ travelId, deletedAt }) =>
    travelId !== undefined && deletedAt === undefined ? [travelId] : [],
  );
}

/** Keeps what is seen of claimed people; false when somebody could not be read. Who differs is read anew, as a page may be older than our last patch. */
async function watch(
  shop: Notebook,
  { connection, since }: Look,
  pairs: { traveler: TravelUser; identity: KnownTraveler | undefined }[],
): Promise<boolean> {
  let areAllRead = true;
  const seen: string[] = [];
  for (const { traveler, identity } of pairs) {
    if (!identity) continue;
    if (identity.observed === undefined) {
      // It must be read before the next plan, as something unknown was sent: to fill it in here would hide that.
      seen.push(identity.id);
      await shop.agenda.touch(connection.id, [identity.id], shop.surroundings.now());
      continue;
    }
    if (isDeepStrictEqual(identity.observed, traveler)) {
      seen.push(identity.id);
      continue;
    }
    const answer = await connection.travel.read(traveler.id);
    if (answer.kind !== 'ok' && answer.kind !== 'notFound') {
      areAllRead = false;
      continue;
    }
    const observed = answer.kind === 'ok' ? answer.value : undefined;
    if (observed && isDeepStrictEqual(identity.observed, observed)) {
      seen.push(identity.id);
      continue;
    }
    const { id, observed: known } = identity;
    await shop.imports.observe(connection.id, [{ id, observed, before: known }], since);
    await shop.agenda.touch(connection.id, [identity.id], shop.surroundings.now());
    if (observed) await freed(shop, connection, { before: identity, traveler: observed });
    shop.wake();
  }
  await shop.imports.markSeen(connection.id, seen, since);
  return areAllRead;
}

/** An address that was changed by hand may be what somebody waits for. */
async function freed(
  shop: Notebook,
  connection: Connection,
  { before, traveler }: { before: KnownTraveler | undefined; traveler: TravelUser },
): Promise<void> {
  const old = before?.observed?.email;
  if (old === undefined || addressKey(old) === addressKey(traveler.email)) return;
  await shop.agenda.touchWaiting(connection.account, old, shop.surroundings.now());
  shop.wake();
}

/** Linked people of whom it is not known any more what they are, or whether: the next reconciliation reads them. */
export async function doubt(shop: Notebook, connection: Connection, ids: string[]): Promise<void> {
  const now = shop.surroundings.now();
  await shop.imports.observe(
    connection.id,
    ids.map((id) => ({ id, observed: undefined })),
    now,
  );
  await rouse(shop, connection.id, ids);
}
