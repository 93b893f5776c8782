import { addressKey } from '../../model/addresses.ts';
import type { Connection } from '../../model/connection.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { TravelAnswer } from '../../model/travel-ports.ts';
import type { TravelUser } from '../../model/traveler.ts';
import type { Imports } from '../../store/identities/imports.ts';
import type { CircuitBreaker } from '../calls/circuit-breaker.ts';
import type { OwnUsers } from '../calls/own-users.ts';
import { filterVisibleTravelers, unclaimedIdentity } from '../import/record-observed.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';

/** Time limit for a search at the travel API while an IdP waits for the answer, in milliseconds. */
const SEARCH_TIMEOUT_MS = 800;
/**
 * The result of a search is remembered for this time, in milliseconds, so that an IdP that repeats a filter causes only
 * one call.
 */
const REMEMBERED_MS = 10_000;
const MAX_REMEMBERED = 10_000;
/** RFC 5321 §4.5.3.1.3: a path has at most 256 octets, angle brackets included. */
const MAX_ADDRESS_LENGTH = 254;

interface FindExistingDeps {
  imports: Imports;
  rulesSnapshots: RulesSnapshots;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  ownUsers: Pick<OwnUsers, 'read'>;
  runtime: Runtime;
}

export type ExistingUserFinder = ReturnType<typeof existingUserFinder>;

/** Finds people in the travel service whom no import has read yet. Remembers recent searches in memory. */
export function existingUserFinder(deps: FindExistingDeps) {
  const searches = new Map<string, number>();
  const { runtime } = deps;
  return {
    /**
     * Searches the travel API for this email address and saves the travelers found as unclaimed identities. Returns true
     * if at least one was saved. Returns false if the text is not an address, the search failed, or the same address was
     * searched recently.
     */
    find: async (connection: Connection, address: string, requestId?: string): Promise<boolean> => {
      if (address.length > MAX_ADDRESS_LENGTH || !/^[^\s@]+@[^\s@]+$/.test(address)) return false;
      const key = `${connection.id} ${addressKey(address)}`;
      const now = runtime.now();
      const rememberedMs = (searches.get(key) ?? 0) - now;
      // If more is left than the whole time, the clock was set back.
      if (rememberedMs > 0 && rememberedMs <= REMEMBERED_MS) return false;
      const isFound = await saveMatches(deps, connection, { email: address, requestId }).catch(
        (error: unknown) => {
          // A full disk must not make reads fail.
          runtime.log.error({ err: error }, 'a traveler found by email could not be saved');
          return false;
        },
      );
      // Remember the search whatever its result: a saved traveler is found in the store next time, and a traveler that
      // was not saved must not cause another search.
      rememberSearch(searches, key, { now, until: now + REMEMBERED_MS });
      return isFound;
    },
  };
}

/** All entries live equally long, so the map's insertion order is also the order in which they expire. */
function rememberSearch(
  searches: Map<string, number>,
  key: string,
  { now, until }: { now: number; until: number },
): void {
  searches.delete(key);
  for (const [other, end] of searches) {
    if (end > now && searches.size < MAX_REMEMBERED) break;
    searches.delete(other);
  }
  searches.set(key, until);
}

/** The address for which an IdP searches, and its request. */
interface Search {
  email: string;
  requestId: string | undefined;
}

async function saveMatches(deps: FindExistingDeps, connection: Connection, search: Search): Promise<boolean> {
  if (deps.circuitBreakerOf(connection).pauseReason() !== undefined) return false;
  const answer = await searchTravelers(deps, connection, search);
  if (answer.kind !== 'ok' || answer.value.length === 0) return false;
  const travelers = await filterVisibleTravelers(deps.imports, connection, answer.value);
  // The person of the credential stays hidden.
  await deps.ownUsers.read(connection);
  const rulesSnapshot = await deps.rulesSnapshots.loaded(connection);
  const identities = travelers.map((traveler) =>
    unclaimedIdentity(deps.runtime, connection, { rulesSnapshot, traveler }),
  );
  await deps.imports.saveUnclaimed(identities, deps.runtime.now());
  return identities.length > 0;
}

/** Searches the travel API. Its time is short, so a missing answer does not show that the travel API is down. */
async function searchTravelers(
  { circuitBreakerOf, runtime }: FindExistingDeps,
  connection: Connection,
  { email, requestId }: Search,
): Promise<TravelAnswer<TravelUser[]>> {
  const call = circuitBreakerOf(connection).beginCall();
  const answer = await connection.travel.findByEmails([email], SEARCH_TIMEOUT_MS, { requestId });
  if (answer.kind === 'ok') call.recordAnswer();
  else if (answer.kind !== 'unavailable' || !answer.isUnanswered)
    call.recordFailure(answer, runtime.now(), email);
  return answer;
}
