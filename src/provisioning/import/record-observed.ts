import { isDeepStrictEqual } from 'node:util';
import { addressKey, isParkingAddress } from '../../model/addresses.ts';
import type { Connection } from '../../model/connection.ts';
import { type Identity, newIdentity } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { ReconcileQueue, References } from '../../model/store-ports.ts';
import { isAdministrator, type TravelUser } from '../../model/traveler.ts';
import type { Imports, KnownTraveler } from '../../store/identities/imports.ts';
import { toScim } from '../../translator/to-scim.ts';
import type { RulesSnapshot } from '../rules/rules-snapshot.ts';

/** Dependencies for saving travelers that were read from the travel API. */
export interface RecordDeps {
  imports: Imports;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty' | 'markEmailWaitersDirty'>;
  references: Pick<References, 'findReferrers'>;
  wake(): void;
  runtime: Runtime;
}

/** The connection and rules of an import or a poll of the event feed, and the time when it began. */
export interface ObservationContext {
  connection: Connection;
  rulesSnapshot: RulesSnapshot;
  since: number;
}

/**
 * Saves travelers that were read from the travel API. A claimed identity gets a new observed state; for every other
 * traveler an unclaimed identity is inserted or updated. Can run concurrently with every other operation, and
 * repeatedly. Returns the ids of the travelers that had a live identity in the connection before.
 */
export async function recordTravelers(
  deps: RecordDeps,
  { connection, rulesSnapshot, since }: ObservationContext,
  travelers: TravelUser[],
): Promise<string[]> {
  const ids = travelers.map(({ id }) => id);
  const identities = await deps.imports.findKnown(connection.id, ids);
  const known = new Map(identities.map((identity) => [identity.travelId, identity]));
  const isClaimed = ({ id }: TravelUser) => known.get(id)?.claimed === true;
  const visible = await filterVisibleTravelers(
    deps.imports,
    connection,
    travelers.filter((traveler) => !isClaimed(traveler)),
  );
  const shown = new Set(visible);
  const hidden = travelers.filter((traveler) => !isClaimed(traveler) && !shown.has(traveler));
  await deleteHidden(deps, connection, { hidden, known });
  // Most travelers do not change between two imports. If the rules are the same too, skip the translation.
  const isUnchanged = (traveler: TravelUser) => {
    const before = known.get(traveler.id);
    return (
      before !== undefined &&
      before.rulesGeneration >= rulesSnapshot.generation &&
      isDeepStrictEqual(before.observed, traveler)
    );
  };
  const unchangedTravelers = new Set(visible.filter(isUnchanged));
  const others = visible.filter((traveler) => !unchangedTravelers.has(traveler));
  const unchanged = [...unchangedTravelers].flatMap(({ id }) => known.get(id)?.id ?? []);
  await deps.imports.markSeen(connection.id, unchanged, since);
  const newcomers = others.map((traveler) =>
    unclaimedIdentity(deps.runtime, connection, { rulesSnapshot, traveler }),
  );
  await deps.imports.saveUnclaimed(newcomers, since);
  for (const traveler of others) {
    const before = known.get(traveler.id);
    await notifyIfAddressAvailable(deps, connection, { before, traveler });
    await notifyReports(deps, connection, { before, traveler });
  }
  const claimed = travelers.filter(isClaimed);
  await recordClaimed(
    deps,
    { connection, rulesSnapshot, since },
    claimed.map((traveler) => ({ traveler, identity: known.get(traveler.id) })),
  );
  return travelIdsOfLive(identities);
}

/** Deletes the unclaimed identities of travelers that the connection must not show any more. */
async function deleteHidden(
  { imports }: RecordDeps,
  connection: Connection,
  { hidden, known }: { hidden: TravelUser[]; known: ReadonlyMap<string | undefined, KnownTraveler> },
): Promise<void> {
  const idsOf = (travelers: TravelUser[]) => travelers.flatMap(({ id }) => known.get(id)?.id ?? []);
  await imports.deleteLinkedElsewhere(connection.id, idsOf(hidden));
  // The bridge has given away the former address of a parked traveler, under which nobody must find its person any more.
  const parked = hidden.filter(({ email }) => isParkingAddress(connection, email));
  if (parked.length > 0) await imports.deleteUnclaimed(connection.id, idsOf(parked));
}

/**
 * Records that these travelers exist although they cannot be parsed, so that they do not count as deleted. Returns the
 * ids of those that have a live identity in the connection.
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

/** An unclaimed identity counts also if the IdP has deleted the person: it lives as long as the traveler. */
function travelIdsOfLive(identities: KnownTraveler[]): string[] {
  return identities.flatMap(({ travelId, deletedAt, claimed }) =>
    travelId !== undefined && (deletedAt === undefined || !claimed) ? [travelId] : [],
  );
}

/**
 * Saves the observed state of claimed identities. If a traveler differs from the stored state, it is read again,
 * because the page may be older than the last PATCH of the bridge. If that fails, the next reconciliation reads it.
 */
async function recordClaimed(
  deps: RecordDeps,
  { connection, since }: ObservationContext,
  pairs: { traveler: TravelUser; identity: KnownTraveler | undefined }[],
): Promise<void> {
  const seen: string[] = [];
  for (const { traveler, identity } of pairs) {
    if (!identity) continue;
    if (identity.observed === undefined) {
      // The outcome of a call is unknown. The reconciler must read the traveler itself to determine it, so save nothing
      // here.
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
      await markStale(deps, connection, [identity.id]);
      continue;
    }
    const observed = answer.kind === 'ok' ? answer.value : undefined;
    if (observed && isDeepStrictEqual(identity.observed, observed)) {
      seen.push(identity.id);
      continue;
    }
    const { id, observed: known } = identity;
    await deps.imports.saveObserved(connection.id, [{ id, observed, before: known }], since);
    await notifyIfAddressAvailable(deps, connection, { before: identity, traveler: observed });
    deps.wake();
  }
  await deps.imports.markSeen(connection.id, seen, since);
}

/** Makes the reports of a manager dirty whom the travel service has archived or un-archived, and no IdP has written. */
async function notifyReports(
  deps: RecordDeps,
  connection: Connection,
  { before, traveler }: { before: KnownTraveler | undefined; traveler: TravelUser },
): Promise<void> {
  if (!before?.observed || before.observed.archived === traveler.archived) return;
  const reports = await deps.references.findReferrers(connection.id, before.id, []);
  if (reports.length === 0) return;
  await deps.reconcileQueue.markDirty(connection.id, reports, deps.runtime.now());
  deps.wake();
}

/**
 * Makes the identities dirty that wait for an address which a traveler lost by a change in the travel service, or by its deletion, or for the
 * traveler of an administrator that is none any more.
 */
async function notifyIfAddressAvailable(
  deps: RecordDeps,
  connection: Connection,
  { before, traveler }: { before: KnownTraveler | undefined; traveler: TravelUser | undefined },
): Promise<void> {
  const known = before?.observed;
  if (!known) return;
  const isAddressKept = traveler !== undefined && addressKey(known.email) === addressKey(traveler.email);
  const isRoleKept = !isAdministrator(known) || (traveler !== undefined && isAdministrator(traveler));
  if (isAddressKept && isRoleKept) return;
  await deps.reconcileQueue.markEmailWaitersDirty(connection.account, known.email, deps.runtime.now());
  deps.wake();
}

/** Removes the observed state of linked identities and makes them dirty: their reconciliation reads the travelers. */
export async function markStale(deps: RecordDeps, connection: Connection, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const stale = ids.map((id) => ({ id, observed: undefined }));
  await deps.imports.saveObserved(connection.id, stale, deps.runtime.now());
  deps.wake();
}

/** The identity of a traveler that no IdP has written yet: its desired state is the traveler, translated to SCIM. */
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
    rulesGeneration: rulesSnapshot.generation,
    travelId: traveler.id,
    observed: traveler,
  };
}

/**
 * The travelers that may become unclaimed identities of this connection: not linked by another one, not just being created, not
 * at a parking address, not erased.
 */
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
