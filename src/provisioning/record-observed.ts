import { isDeepStrictEqual } from 'node:util';
import { toScim } from '../translator/to-scim.ts';
import type { TravelUser } from '../translator/traveler.ts';
import type { Connection } from './connection.ts';
import { newIdentity } from './create-user.ts';
import { addressKey, isParkingAddress } from './email-conflicts.ts';
import type { Identity } from './identity.ts';
import { markDirty } from './notify-dependents.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Imports, KnownTraveler, ReconcileQueue } from './store-ports.ts';

/** What it takes to keep what was seen at the travel API. */
export interface RecordDeps {
  imports: Imports;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty' | 'markEmailWaitersDirty'>;
  wake(): void;
  runtime: Runtime;
}

/** Whose travelers were looked at, by which rules, and from when on. */
export interface ObservationContext {
  connection: Connection;
  rulesSnapshot: RulesSnapshot;
  since: number;
}

/** What became of travelers that were kept. */
export interface RecordedTravelers {
  /** False when a traveler had to be read anew and could not be; its identity is as before. */
  areAllRead: boolean;
  /** The travelers that a live identity of the connection was known for before. */
  known: string[];
}

/**
 * Keeps what was seen of travelers: who is linked is watched, who is not becomes or stays unclaimed and follows. Safe to do
 * beside everything else, any number of times.
 */
export async function recordTravelers(
  deps: RecordDeps,
  { connection, rulesSnapshot, since }: ObservationContext,
  travelers: TravelUser[],
): Promise<RecordedTravelers> {
  const ids = travelers.map(({ id }) => id);
  const identities = await deps.imports.findKnown(connection.id, ids);
  const known = new Map(identities.map((identity) => [identity.travelId, identity]));
  const isClaimed = ({ id }: TravelUser) => known.get(id)?.claimed === true;
  const shown = await filterVisibleTravelers(
    deps.imports,
    connection,
    travelers.filter((traveler) => !isClaimed(traveler)),
  );
  // Nearly everybody, every time: who is as last seen, under the same rules, need not be translated again.
  const isAsSeen = (traveler: TravelUser) => {
    const before = known.get(traveler.id);
    return before?.rulesVersion === rulesSnapshot.version && isDeepStrictEqual(before.observed, traveler);
  };
  const asSeen = new Set(shown.filter(isAsSeen));
  const others = shown.filter((traveler) => !asSeen.has(traveler));
  const unchanged = [...asSeen].flatMap(({ id }) => known.get(id)?.id ?? []);
  await deps.imports.markSeen(connection.id, unchanged, since);
  const newcomers = others.map((traveler) =>
    unclaimedIdentity(deps.runtime, connection, { rulesSnapshot, traveler }),
  );
  await deps.imports.saveUnclaimed(newcomers, since);
  for (const traveler of others)
    await notifyIfAddressFreed(deps, connection, { before: known.get(traveler.id), traveler });
  const claimed = travelers.filter(isClaimed);
  const areAllRead = await recordClaimed(
    deps,
    { connection, rulesSnapshot, since },
    claimed.map((traveler) => ({ traveler, identity: known.get(traveler.id) })),
  );
  return { areAllRead, known: travelIdsOfLive(identities) };
}

/**
 * Notes that travelers are there of whom nothing else is known, as they could not be read: their identities stay as they
 * are. Answers those that a live identity of the connection is known for.
 */
export async function recordPresent(
  { imports }: RecordDeps,
  { connection, since }: ObservationContext,
  travelIds: string[],
): Promise<string[]> {
  const known = await imports.findKnown(connection.id, travelIds);
  await imports.markSeen(
    connection.id,
    known.map(({ id }) => id),
    since,
  );
  return travelIdsOfLive(known);
}

function travelIdsOfLive(identities: KnownTraveler[]): string[] {
  return identities.flatMap(({ travelId, deletedAt }) =>
    travelId !== undefined && deletedAt === undefined ? [travelId] : [],
  );
}

/** Keeps what is seen of claimed people; false when somebody could not be read. Who differs is read anew, as a page may be older than our last patch. */
async function recordClaimed(
  deps: RecordDeps,
  { connection, since }: ObservationContext,
  pairs: { traveler: TravelUser; identity: KnownTraveler | undefined }[],
): Promise<boolean> {
  let areAllRead = true;
  const seen: string[] = [];
  for (const { traveler, identity } of pairs) {
    if (!identity) continue;
    if (identity.observed === undefined) {
      // It must be read before the next plan, as something unknown was sent: to fill it in here would hide that.
      seen.push(identity.id);
      await deps.reconcileQueue.markDirty(connection.id, [identity.id], deps.runtime.now());
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
    await deps.imports.saveObserved(connection.id, [{ id, observed, before: known }], since);
    await deps.reconcileQueue.markDirty(connection.id, [identity.id], deps.runtime.now());
    if (observed) await notifyIfAddressFreed(deps, connection, { before: identity, traveler: observed });
    deps.wake();
  }
  await deps.imports.markSeen(connection.id, seen, since);
  return areAllRead;
}

/** An address that was changed by hand may be what somebody waits for. */
async function notifyIfAddressFreed(
  deps: RecordDeps,
  connection: Connection,
  { before, traveler }: { before: KnownTraveler | undefined; traveler: TravelUser },
): Promise<void> {
  const old = before?.observed?.email;
  if (old === undefined || addressKey(old) === addressKey(traveler.email)) return;
  await deps.reconcileQueue.markEmailWaitersDirty(connection.account, old, deps.runtime.now());
  deps.wake();
}

/** Linked people of whom it is not known any more what they are, or whether: the next reconciliation reads them. */
export async function markStale(deps: RecordDeps, connection: Connection, ids: string[]): Promise<void> {
  const now = deps.runtime.now();
  await deps.imports.saveObserved(
    connection.id,
    ids.map((id) => ({ id, observed: undefined })),
    now,
  );
  await markDirty(deps, connection.id, ids);
}

/** The identity of somebody who was in the travel service before any IdP spoke of them. */
export function unclaimedIdentity(
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>,
  connection: Connection,
  { rulesSnapshot, traveler }: { rulesSnapshot: RulesSnapshot; traveler: TravelUser },
): Identity {
  const desired = toScim(rulesSnapshot.rules, traveler, { lookups: rulesSnapshot.lookups });
  return {
    ...newIdentity(runtime, connection, desired),
    claimed: false,
    state: 'synced',
    rulesVersion: rulesSnapshot.version,
    travelId: traveler.id,
    observed: traveler,
  };
}

/** Those of the travelers that this connection may show as its own: linked nowhere else, not just being made, not parked, not erased. */
export async function filterVisibleTravelers(
  imports: Imports,
  connection: Connection,
  travelers: TravelUser[],
): Promise<TravelUser[]> {
  const ids = travelers.map(({ id }) => id);
  const elsewhere = new Set(await imports.findLinkedElsewhere(connection.id, connection.account, ids));
  const erased = await imports.findErased(connection.account, ids);
  const open = new Set(await imports.findOpenCreates(connection.account));
  return travelers.filter(
    ({ id, email }) =>
      !elsewhere.has(id) &&
      !erased.has(id) &&
      !open.has(addressKey(email)) &&
      !isParkingAddress(connection, email),
  );
}
