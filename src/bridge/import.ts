import { isDeepStrictEqual } from 'node:util';
import type { TravelUser } from '../translator/travel-user.ts';
import { addressKey } from './address.ts';
import type { Bases, Basis } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Agenda, Imports, KnownTraveler, Surroundings, TravelFailure } from './ports.ts';
import { rouse } from './rouse.ts';
import { showable, unclaimed } from './unclaimed.ts';

const PAGE = 100;

/** What an import came to. */
export interface Imported {
  /** Travelers read. */
  read: number;
  /** Whether the whole collection was seen at rest, so that who is missing is known to be gone. */
  complete: boolean;
}

/** Reads all travelers, so that IdPs find the people who were there before, and drift is seen. */
export interface Importer {
  run(
    connection: Connection,
    onPage?: (read: number, total: number) => void,
  ): Promise<Imported | TravelFailure>;
}

interface Shop {
  imports: Imports;
  agenda: Pick<Agenda, 'touch' | 'touchWaiting' | 'touchOpen'>;
  bases: Bases;
  wake(): void;
  surroundings: Surroundings;
}

/** Pages through the travel users; safe to run beside everything else, any number of times. */
export function importer(shop: Shop): Importer {
  return {
    run: async (connection, onPage) => {
      const basis = await shop.bases.current(connection);
      if ('kind' in basis) return basis;
      const since = shop.surroundings.now();
      const walked = await walk(shop, { connection, basis, since }, onPage);
      if ('kind' in walked) return walked;
      if (walked.complete) await verify(shop, connection, await shop.imports.sweep(connection.id, since));
      await shop.agenda.touchOpen(connection.id, shop.surroundings.now());
      shop.wake();
      return walked;
    },
  };
}

interface Run {
  connection: Connection;
  basis: Basis;
  since: number;
}

async function walk(
  shop: Shop,
  run: Run,
  onPage: ((read: number, total: number) => void) | undefined,
): Promise<Imported | TravelFailure> {
  const seen = new Set<string>();
  const totals = new Set<number>();
  for (let offset = 0; ; offset += PAGE) {
    const answer = await run.connection.travel.page(offset, PAGE);
    if (answer.kind !== 'ok') return answer;
    const { users, total } = answer.value;
    totals.add(total);
    for (const { id } of users) seen.add(id);
    await keep(shop, run, users);
    onPage?.(seen.size, total);
    if (users.length < PAGE || offset + PAGE >= total) break;
  }
  return { read: seen.size, complete: totals.size === 1 && totals.has(seen.size) };
}

async function keep(shop: Shop, { connection, basis, since }: Run, travelers: TravelUser[]): Promise<void> {
  const ids = travelers.map(({ id }) => id);
  const known = new Map(
    (await shop.imports.known(connection.id, ids)).map((identity) => [identity.travelId, identity]),
  );
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
  const identities = others.map((traveler) => unclaimed(shop.surroundings, connection, { basis, traveler }));
  await shop.imports.saveUnclaimed(identities, since);
  for (const traveler of others) await freed(shop, connection, { before: known.get(traveler.id), traveler });
  const claimed = travelers.filter(isClaimed);
  await watch(
    shop,
    { connection, basis, since },
    claimed.map((traveler) => ({ traveler, identity: known.get(traveler.id) })),
  );
}

/** Keeps what is seen of claimed people. Who differs is read anew, as a page may be older than our last patch. */
async function watch(
  shop: Shop,
  { connection, since }: Run,
  pairs: { traveler: TravelUser; identity: KnownTraveler | undefined }[],
): Promise<void> {
  const seen: { id: string; observed: TravelUser | undefined }[] = [];
  for (const { traveler, identity } of pairs) {
    if (!identity) continue;
    if (identity.observed === undefined) {
      // It must be read before the next plan, as something unknown was sent: to fill it in here would hide that.
      seen.push({ id: identity.id, observed: undefined });
      await shop.agenda.touch(connection.id, [identity.id], shop.surroundings.now());
      continue;
    }
    if (isDeepStrictEqual(identity.observed, traveler)) {
      seen.push({ id: identity.id, observed: traveler });
      continue;
    }
    const answer = await connection.travel.read(traveler.id);
    if (answer.kind !== 'ok' && answer.kind !== 'notFound') continue;
    const observed = answer.kind === 'ok' ? answer.value : undefined;
    await shop.imports.observe(connection.id, [{ id: identity.id, observed }], since);
    await shop.agenda.touch(connection.id, [identity.id], shop.surroundings.now());
    if (observed) await freed(shop, connection, { before: identity, traveler: observed });
    shop.wake();
  }
  await shop.imports.observe(connection.id, seen, since);
}

/** An address that was changed by hand may be what somebody waits for. */
async function freed(
  shop: Shop,
  connection: Connection,
  { before, traveler }: { before: KnownTraveler | undefined; traveler: TravelUser },
): Promise<void> {
  const old = before?.observed?.email;
  if (old === undefined || addressKey(old) === addressKey(traveler.email)) return;
  await shop.agenda.touchWaiting(connection.account, addressKey(old), shop.surroundings.now());
  shop.wake();
}

/** Linked people whom the import did not see: the next reconciliation reads them, and finds out. */
async function verify(shop: Shop, connection: Connection, ids: string[]): Promise<void> {
  const now = shop.surroundings.now();
  await shop.imports.observe(
    connection.id,
    ids.map((id) => ({ id, observed: undefined })),
    now,
  );
  await rouse(shop, connection.id, ids);
}
