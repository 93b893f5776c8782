import type { Connection } from './connection.ts';
import { isParkingAddress } from './email-conflicts.ts';
import {
  markStale,
  type ObservationContext,
  type RecordDeps,
  recordPresent,
  recordTravelers,
} from './record-observed.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { MissingTraveler, ReconcileQueue } from './store-ports.ts';
import type { TravelFailure, TravelUserPage } from './travel-ports.ts';

const PAGE = 100;
/** Travel users beyond this number are not read: only a travel API that never ends a list has so many. */
const TRAVELERS = 10_000_000;
/** Below this number of known travelers no share of them is too small: few people may well leave at once. */
const MANY = 20;
/** Travelers that are looked for by id at once. */
const AT_ONCE = 4;
/** Ids of unreadable travelers that the log names. */
const NAMED = 10;

/** What an import came to. */
export interface ImportResult {
  /** Travelers listed, those that cannot be read included. */
  read: number;
  /** Set when travelers could not be read, and were passed over: how many. */
  unreadable?: number;
  /** Whether the whole collection was seen at rest, so that who is missing is known to be gone. */
  complete: boolean;
  /** Set when so few of the known travelers were seen that nothing was concluded from the absence of the others. */
  incomplete?: Share;
}

/** How many of the travelers that were known before an import it has seen. */
export interface Share {
  known: number;
  seen: number;
}

/** Reads all travelers, so that IdPs find the people who were there before, and drift is seen. */
export interface Importer {
  run(
    connection: Connection,
    onPage?: (read: number, total: number) => void,
    options?: ImportOptions,
  ): Promise<ImportResult | TravelFailure>;
  /** The connections of which an import was made in this process; true: the last one saw too few travelers. */
  incompleteImports(): ReadonlyMap<string, boolean>;
}

export interface ImportOptions {
  /** Takes travelers that are missing for gone, however many they are. */
  acceptMissing?: boolean;
}

interface Deps extends RecordDeps {
  reconcileQueue: RecordDeps['reconcileQueue'] & Pick<ReconcileQueue, 'markUnresolvedDirty'>;
  rulesSnapshots: RulesSnapshots;
}

/** Pages through the travel users; safe to run beside everything else, any number of times. */
export function importer(deps: Deps): Importer {
  const incomplete = new Map<string, boolean>();
  return {
    run: async (connection, onPage, { acceptMissing = false } = {}) => {
      const basis = await deps.rulesSnapshots.current(connection);
      if ('kind' in basis) return basis;
      const look = { connection, rulesSnapshot: basis, since: deps.runtime.now() };
      const walked = await walk(deps, look, onPage);
      if ('kind' in walked) return walked;
      const { known: seen, unreadable, ...counted } = walked;
      warnOf(deps, connection, unreadable);
      const passedOver = unreadable.length > 0 ? { unreadable: unreadable.length } : {};
      const imported: ImportResult = { ...counted, ...passedOver };
      const missing = await deps.imports.findMissing(connection.id, look.since);
      const share = { known: seen + missing.length, seen };
      const isTooSmall = !acceptMissing && isBelow(share, connection.minimumShare);
      if (isTooSmall) alarm(deps, connection, share);
      else if (imported.complete) await concludeAbsence(deps, look, missing);
      await deps.reconcileQueue.markUnresolvedDirty(connection.id, deps.runtime.now());
      deps.wake();
      incomplete.set(connection.id, isTooSmall);
      return isTooSmall ? { ...imported, incomplete: share } : imported;
    },
    incompleteImports: () => incomplete,
  };
}

function isBelow({ known, seen }: Share, minimumShare: number): boolean {
  return known >= MANY && seen < minimumShare * known;
}

interface Walked {
  read: number;
  complete: boolean;
  /** Travelers listed that a live identity was known for before. */
  known: number;
  /** The ids of those that could not be read, where they have one. */
  unreadable: (string | undefined)[];
}

async function walk(
  deps: Deps,
  look: ObservationContext,
  onPage: ((read: number, total: number) => void) | undefined,
): Promise<Walked | TravelFailure> {
  const seen = new Set<string>();
  const totals = new Set<number | undefined>();
  const walked: Walked = { read: 0, complete: false, known: 0, unreadable: [] };
  let listed = 0;
  while (listed < TRAVELERS) {
    const answer = await look.connection.travel.readPage(listed, PAGE);
    if (answer.kind !== 'ok') return answer;
    const { total, isTotalGiven, isLast, length } = answer.value;
    const known = await keepPage(deps, look, answer.value);
    walked.known += known.filter((id) => !seen.has(id)).length;
    walked.unreadable.push(...answer.value.unreadable);
    const before = seen.size;
    for (const id of idsOf(answer.value)) seen.add(id);
    totals.add(isTotalGiven ? total : undefined);
    listed += length;
    const nameless = walked.unreadable.filter((id) => id === undefined).length;
    walked.read = seen.size + nameless;
    onPage?.(walked.read, total);
    // A travel API that passes over the offset would answer the same page for ever.
    const isRepeated = seen.size === before && idsOf(answer.value).length > 0;
    if (!isLast && !isRepeated) continue;
    // Who is listed twice took the place of somebody else; another total than before says that the list has changed.
    const isWhole = isLast && walked.read === listed && totals.size === 1;
    return { ...walked, complete: isWhole && (!isTotalGiven || total === listed) };
  }
  return walked;
}

/** Answers the travelers of the page that were known before. */
async function keepPage(
  deps: Deps,
  look: ObservationContext,
  { users, unreadable }: TravelUserPage,
): Promise<string[]> {
  const { known } = await recordTravelers(deps, look, users);
  const ids = unreadable.filter((id) => id !== undefined);
  return ids.length === 0 ? known : [...known, ...(await recordPresent(deps, look, ids))];
}

function idsOf({ users, unreadable }: TravelUserPage): string[] {
  return [...users.map(({ id }) => id), ...unreadable].filter((id) => id !== undefined);
}

/**
 * Removes the unclaimed people who are gone, and lets the claimed ones be looked at anew. Offsets shift when travelers are
 * deleted while they are listed, so that others are passed over; each missing one is therefore asked for by id.
 */
async function concludeAbsence(
  deps: Deps,
  look: ObservationContext,
  missing: MissingTraveler[],
): Promise<void> {
  const queue = missing.filter(({ claimed }) => !claimed);
  const lane = async (): Promise<void> => {
    for (let one = queue.shift(); one; one = queue.shift()) await lookFor(deps, look, one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await markStale(deps, look.connection, await deps.imports.deleteStale(look.connection.id, look.since));
}

/** Marks a traveler as seen unless the travel API says that it is not there. */
async function lookFor(
  deps: Deps,
  look: ObservationContext,
  { id, travelId }: MissingTraveler,
): Promise<void> {
  const { connection, since } = look;
  const answer = await connection.travel.read(travelId);
  if (answer.kind === 'notFound') return;
  // Not to be shown or found under the address that it had before.
  if (answer.kind === 'ok' && isParkingAddress(connection, answer.value.email)) return;
  await deps.imports.markSeen(connection.id, [id], since);
  if (answer.kind === 'ok') await recordTravelers(deps, look, [answer.value]);
}

function warnOf({ runtime }: Deps, { id }: Connection, unreadable: (string | undefined)[]): void {
  if (unreadable.length === 0) return;
  // An id may be an address (travel API specification, "Id form B"), which the log must not tell.
  const named = unreadable.filter((one) => one !== undefined && !one.includes('@')).slice(0, NAMED);
  runtime.log.warn(
    { connection: id, count: unreadable.length, travelUserIds: named },
    'travelers that cannot be read were passed over: they have no email, or it is not a text',
  );
}

function alarm({ runtime }: Deps, { id }: Connection, share: Share): void {
  runtime.log.error(
    { connection: id, ...share },
    'the import saw too few of the known travelers, and takes nobody for gone: check the travel API, or run jetbridge import --accept-missing',
  );
}
