import type { Connection } from '../../model/connection.ts';
import type { ReconcileQueue } from '../../model/store-ports.ts';
import type { TravelFailure, TravelUserPage } from '../../model/travel-ports.ts';
import type { MissingTraveler } from '../../store/identities/imports.ts';
import type { BackgroundTasks } from '../../store/queues/background-tasks.ts';
import type { OwnUsers } from '../calls/own-users.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';
import {
  markStale,
  type ObservationContext,
  type RecordDeps,
  recordPresent,
  recordTravelers,
} from './record-observed.ts';
import { readTravelerPages } from './traveler-pages.ts';

/** Without a setting an import reads at least so many travelers, and up to twice the known people. */
const MIN_MAXIMUM = 100_000;
/** If fewer travelers than this were known, any number may be missing: a few people may well leave at once. */
const MIN_KNOWN = 20;
/** Number of missing travelers that are read by id at the same time. */
const CONCURRENCY = 4;
/** Number of ids of unreadable travelers in one log line. */
const MAX_LOGGED_IDS = 10;

/** The result of an import. */
export interface ImportResult {
  /** The number of travelers listed, including those that cannot be parsed. */
  read: number;
  /** The number of travelers that were skipped because they cannot be parsed; absent if there are none. */
  unreadable?: number;
  /**
   * True if the list was read whole and did not change meanwhile, so that travelers that are missing are known to be
   * deleted.
   */
  complete: boolean;
  /** Set if the import listed so few of the known travelers that it did not treat the missing ones as deleted. */
  incomplete?: SeenShare;
  /** Set if the list has more travelers than an import reads: that number. The others are not touched. */
  maximum?: number;
  /** Set if the list ended early. */
  endedEarly?: EarlyEnd;
}

/** A list that repeated its pages, or ended before its total. Nothing is concluded from the absence of a traveler. */
interface EarlyEnd {
  /** Undefined if the travel API gives no total. */
  total?: number;
}

/** The number of travelers known before an import, and how many of them the import has read. */
export interface SeenShare {
  known: number;
  seen: number;
}

/** The result of an import that is saved for the metrics and the admin page of all replicas. */
interface ImportState extends Pick<ImportResult, 'endedEarly'> {
  /** True if the travelers that are missing are not known to be deleted, although the list did not change meanwhile. */
  isIncomplete: boolean;
  /** The end of the import, in epoch milliseconds. */
  at: number;
  /** The duration in milliseconds. */
  ms: number;
  /** The number of travelers listed. */
  read: number;
  /** The number of travelers at which the import has ended, although the list goes on. */
  maximum?: number;
}

/** The time since which imports fail, beside the result of the last one that has ended, if there is one. */
type FailedImports = Partial<ImportState> & { failedSince: number };

/**
 * True if the last import listed so few of the known travelers that it did not treat the missing ones as deleted, or if its list ended
 * early. `state` is what the import has saved.
 */
export function isIncompleteImport(state: unknown): boolean {
  return (state as ImportState | undefined)?.isIncomplete === true; // Only imports write the state.
}

/** Returns the end of the last import and the number of travelers that it listed; undefined before the first import. */
export function lastImportOf(state: unknown): Omit<ImportState, 'isIncomplete'> | undefined {
  const { at } = (state as Partial<ImportState> | undefined) ?? {}; // Only imports write the state.
  return at === undefined ? undefined : (state as ImportState); // An import that has ended saves all of it.
}

/** Returns the time since which imports fail; undefined if the last one has ended. */
export function importFailedSince(state: unknown): number | undefined {
  return (state as FailedImports | undefined)?.failedSince; // Only imports write the state.
}

/** Returns the state after an import that has failed. */
export function withFailedImport(state: unknown, now: number): FailedImports {
  const last = state as FailedImports | undefined; // Only imports write the state.
  return { ...last, failedSince: last?.failedSince ?? now };
}

/** Returns the number of travelers at which an import ends. */
async function findMaximum(
  { tasks, reconcileQueue }: ImportDeps,
  { id, maxImported }: Connection,
): Promise<number> {
  if (maxImported !== undefined) return maxImported;
  const last = (await tasks.listStates('import')).find(({ connection }) => connection === id)?.state;
  // A list that never ends must not double the maximum with each import.
  const before = (last as ImportState | undefined)?.maximum;
  if (before !== undefined) return before;
  const known = (await reconcileQueue.countByState()).filter(({ connection }) => connection === id);
  return Math.max(MIN_MAXIMUM, 2 * known.reduce((sum, { count }) => sum + count, 0));
}

export interface ImportOptions {
  /** If true, missing travelers are treated as deleted, even if there are very many. */
  acceptMissing?: boolean;
}

interface ImportDeps extends RecordDeps {
  reconcileQueue: RecordDeps['reconcileQueue'] &
    Pick<ReconcileQueue, 'markUnresolvedDirty' | 'markAllEmailWaitersDirty' | 'countByState'>;
  rulesSnapshots: RulesSnapshots;
  tasks: Pick<BackgroundTasks, 'saveState' | 'listStates'>;
  ownUsers: Pick<OwnUsers, 'read' | 'lastKnown'>;
}

export type Importer = ReturnType<typeof importer>;

/**
 * Creates the importer, which reads all travelers, so that IdPs find existing people and drift is detected. An import may run at any
 * time, beside writes and any number of times.
 */
export function importer(deps: ImportDeps) {
  return {
    run: async (
      connection: Connection,
      onPage?: ((read: number, total: number) => void) | undefined,
      { acceptMissing = false }: ImportOptions = {},
    ): Promise<ImportResult | TravelFailure> => {
      const began = deps.runtime.now();
      const snapshot = await deps.rulesSnapshots.current(connection);
      if ('kind' in snapshot) return snapshot;
      // Before its person is listed. If the travel API does not tell it now, the last known one counts.
      await deps.ownUsers.read(connection);
      const context = { connection, rulesSnapshot: snapshot, since: deps.runtime.now() };
      const maximum = await findMaximum(deps, connection);
      const result = await readAllPages(deps, { ...context, maximum }, onPage);
      if ('kind' in result) return result;
      const imported = await endImport(deps, context, { result, maximum, acceptMissing });
      await deps.reconcileQueue.markUnresolvedDirty(connection.id, deps.runtime.now());
      deps.wake();
      const times = { at: deps.runtime.wallClock(), ms: deps.runtime.now() - began };
      await deps.tasks.saveState(connection.id, 'import', toState(imported, times));
      return imported;
    },
  };
}

function toState(
  { read, incomplete, maximum, endedEarly }: ImportResult,
  times: Pick<ImportState, 'at' | 'ms'>,
): ImportState {
  return {
    ...{ isIncomplete: incomplete !== undefined || endedEarly !== undefined, ...times, read },
    ...(maximum === undefined ? {} : { maximum }),
    ...(endedEarly === undefined ? {} : { endedEarly }),
  };
}

/** Treats the missing travelers as deleted, unless too many are missing or the list was not read to its end. */
async function endImport(
  deps: ImportDeps,
  context: ObservationContext,
  { result, maximum, acceptMissing }: { result: ReadResult; maximum: number; acceptMissing: boolean },
): Promise<ImportResult> {
  const { connection } = context;
  const { known: seen, listed, unreadable, isAtMaximum, ...counted } = result;
  warnOfUnreadable(deps, connection, unreadable);
  const passedOver = unreadable.length > 0 ? { unreadable: unreadable.length } : {};
  const imported: ImportResult = { ...counted, ...passedOver };
  if (isAtMaximum) {
    logMaximum(deps, connection, maximum);
    return { ...imported, complete: false, maximum };
  }
  if (imported.endedEarly) {
    logEarlyEnd(deps, connection, imported);
    return imported;
  }
  const missing = await findMissing(deps, context, listed);
  const share = { known: seen + missing.length, seen };
  if (!acceptMissing && isTooSmall(share, connection.minimumShare)) {
    logIncomplete(deps, connection, share);
    return { ...imported, incomplete: share };
  }
  if (imported.complete) await deleteMissing(deps, context, missing);
  return imported;
}

function isTooSmall({ known, seen }: SeenShare, minimumShare: number): boolean {
  return known >= MIN_KNOWN && seen < minimumShare * known;
}

/**
 * Returns the identities whose traveler is missing from the list. A traveler that was listed just before an attempt has
 * linked it is not missing, and counts as seen.
 */
async function findMissing(
  { imports }: ImportDeps,
  { connection, since }: ObservationContext,
  listed: ReadonlySet<string>,
): Promise<MissingTraveler[]> {
  const unseen = await imports.findMissing(connection.id, since);
  const isListed = ({ travelId }: MissingTraveler) => listed.has(travelId);
  const linked = unseen.filter(isListed).map(({ id }) => id);
  await imports.markSeen(connection.id, linked, since);
  return unseen.filter((identity) => !isListed(identity));
}

interface ReadResult {
  read: number;
  complete: boolean;
  /** The number of listed travelers that had a live identity before. */
  known: number;
  /** The ids of all listed travelers. */
  listed: ReadonlySet<string>;
  /** The ids of the travelers that cannot be parsed; undefined for one without an id. */
  unreadable: (string | undefined)[];
  /** True if the list has more travelers than the import may read. */
  isAtMaximum: boolean;
  endedEarly?: EarlyEnd;
}

async function readAllPages(
  deps: ImportDeps,
  context: ObservationContext & { maximum: number },
  onPage: ((read: number, total: number) => void) | undefined,
): Promise<ReadResult | TravelFailure> {
  const seen = new Set<string>();
  const totals = new Set<number | undefined>();
  const result: ReadResult = {
    ...{ read: 0, complete: false, known: 0, listed: seen, unreadable: [], isAtMaximum: false },
  };
  let listed = 0;
  for await (const batch of readTravelerPages(context.connection.travel)) {
    if ('kind' in batch) return batch;
    const pages = pagesWithin(batch, context.maximum - listed);
    const known = await recordPages(deps, context, pages);
    result.known += known.filter((id) => !seen.has(id)).length;
    for (const page of pages) {
      const { total, isTotalGiven, isLast, length } = page;
      // Not spread: a page may have more than a call takes as arguments.
      for (const id of page.unreadable) result.unreadable.push(id);
      const before = seen.size;
      for (const id of idsOf(page)) seen.add(id);
      totals.add(isTotalGiven ? total : undefined);
      listed += length;
      const nameless = result.unreadable.filter((id) => id === undefined).length;
      result.read = seen.size + nameless;
      onPage?.(result.read, total);
      // A traveler that is listed twice has displaced another one. A changed total means that the list has changed.
      const isWhole = isLast && result.read === listed && totals.size === 1;
      result.complete = isWhole && (!isTotalGiven || total === listed);
      // A travel API that ignores the offset would return the same page for ever.
      const isRepeated = seen.size === before && idsOf(page).length > 0;
      if (isRepeated || (isLast && isTotalGiven && listed < total))
        return { ...result, complete: false, endedEarly: isTotalGiven ? { total } : {} };
    }
    // Leaving the loop ends the reading.
    if (pages.length < batch.length) return { ...result, isAtMaximum: true };
  }
  return result;
}

/** Returns the first pages that have at most so many travelers together. */
function pagesWithin(pages: TravelUserPage[], maximum: number): TravelUserPage[] {
  let left = maximum;
  const end = pages.findIndex(({ length }) => {
    left -= length;
    return left < 0;
  });
  return end < 0 ? pages : pages.slice(0, end);
}

/** Saves pages and returns the ids of their travelers that had a live identity before. */
async function recordPages(
  deps: ImportDeps,
  context: ObservationContext,
  pages: TravelUserPage[],
): Promise<string[]> {
  // If the list has changed between two pages, a traveler may be on both.
  const travelers = new Map(pages.flatMap(({ users }) => users).map((user) => [user.id, user]));
  const known = await recordTravelers(deps, context, [...travelers.values()]);
  const ids = pages.flatMap(({ unreadable }) => unreadable).filter((id) => id !== undefined);
  return ids.length === 0 ? known : [...known, ...(await recordPresent(deps, context, ids))];
}

function idsOf({ users, unreadable }: TravelUserPage): string[] {
  return [...users.map(({ id }) => id), ...unreadable].filter((id) => id !== undefined);
}

/**
 * Deletes the unclaimed identities of deleted travelers, and marks the claimed ones to be read again. Offsets shift if
 * travelers are deleted during the import, so that others are skipped; each missing traveler is therefore read by id.
 */
async function deleteMissing(
  deps: ImportDeps,
  context: ObservationContext,
  missing: MissingTraveler[],
): Promise<void> {
  const queue = missing.filter(({ claimed }) => !claimed);
  const isOwnReadable = once(() => isOwnUserReadable(deps, context.connection));
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift())
      await confirmMissing(deps, { ...context, isOwnReadable }, next);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const { id, account } = context.connection;
  const stale = await deps.imports.deleteStale(id, context.since);
  await markStale(deps, context.connection, stale);
  // Also those of other connections, and those whose userName is the address.
  if (stale.length > 0 || missing.length > 0)
    await deps.reconcileQueue.markAllEmailWaitersDirty(account, deps.runtime.now());
}

/**
 * Reads a missing traveler by id. Marks it as listed, unless the travel API answers that it does not exist. A 404 that a gateway may have
 * sent counts if the bridge's own user can be read by its id.
 */
async function confirmMissing(
  deps: ImportDeps,
  context: ObservationContext & { isOwnReadable(): Promise<boolean> },
  { id, travelId }: MissingTraveler,
): Promise<void> {
  const { connection, since, isOwnReadable } = context;
  const answer = await connection.travel.read(travelId);
  if (answer.kind === 'notFound') return;
  if (answer.kind === 'unavailable' && answer.bareStatus === 404 && (await isOwnReadable())) return;
  await deps.imports.markSeen(connection.id, [id], since);
  if (answer.kind === 'ok') await recordTravelers(deps, context, [answer.value]);
}

async function isOwnUserReadable({ ownUsers }: ImportDeps, connection: Connection): Promise<boolean> {
  const own = await ownUsers.lastKnown(connection.id);
  if (own === undefined) return false;
  const read = await connection.travel.read(own);
  return read.kind === 'ok' && read.value.id === own;
}

/** Returns a function that calls another one the first time, and returns its result each time. */
function once<T>(call: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= call();
    return result;
  };
}

function warnOfUnreadable(
  { runtime }: ImportDeps,
  { id }: Connection,
  unreadable: (string | undefined)[],
): void {
  if (unreadable.length === 0) return;
  // An id may be an email address (travel API specification, "Id form B"), which must not be logged.
  const named = unreadable
    .filter((travelId) => travelId !== undefined && !travelId.includes('@'))
    .slice(0, MAX_LOGGED_IDS);
  runtime.log.warn(
    { connection: id, count: unreadable.length, travelUserIds: named },
    'unreadable travelers were skipped: their email is missing or not a string',
  );
}

function logMaximum({ runtime }: ImportDeps, { id }: Connection, maximum: number): void {
  runtime.log.error(
    { connection: id, maximum },
    'the travel API lists more travelers than an import reads; the others are not touched, and none is treated as deleted: check the travel API, or raise import.maximum in the settings',
  );
}

function logEarlyEnd(
  { runtime }: ImportDeps,
  { id }: Connection,
  { read, endedEarly }: Pick<ImportResult, 'read' | 'endedEarly'>,
): void {
  runtime.log.error(
    { connection: id, read, ...endedEarly },
    'the travel API repeated its pages or ended its list early; none of the other travelers is treated as deleted: check how the travel API pages its list',
  );
}

function logIncomplete({ runtime }: ImportDeps, { id }: Connection, share: SeenShare): void {
  runtime.log.error(
    { connection: id, ...share },
    'the import listed too few of the known travelers; treating none as deleted: check the travel API, or run npx jetbridge import --accept-missing',
  );
}
