import type { Connection } from './connection.ts';
import { addressKey } from './email-conflicts.ts';
import { filterVisibleTravelers, unclaimedIdentity } from './record-observed.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Imports } from './store-ports.ts';

/** How long the travel API may take over a search that an IdP waits for. */
const BUDGET_MS = 800;
/** A miss is remembered this long: an IdP that looks for a thousand newcomers asks for each once. */
const MISS_MS = 10_000;
const MISSES = 10_000;
/** RFC 5321 §4.5.3.1.3: a path has at most 256 octets, angle brackets included. */
const LONGEST_ADDRESS = 254;

/** Finds people who are in the travel service and that no import has seen yet. */
export interface ExistingUserFinder {
  /** True when the travel API had somebody with this address who is known from now on. A failure is a miss. */
  seek(connection: Connection, text: string): Promise<boolean>;
}

/** Asks the travel API by address, once for each miss. */
export function existingUserFinder(
  imports: Imports,
  bases: RulesSnapshots,
  runtime: Runtime,
): ExistingUserFinder {
  const misses = new Map<string, number>();
  return {
    seek: async (connection, text) => {
      if (text.length > LONGEST_ADDRESS || !/^[^\s@]+@[^\s@]+$/.test(text)) return false;
      const key = `${connection.id} ${addressKey(text)}`;
      const now = runtime.now();
      if ((misses.get(key) ?? 0) > now) return false;
      const isFound = await ask({ imports, bases, runtime }, connection, text).catch((error: unknown) => {
        // A full disk does not stop reads.
        runtime.log.error({ err: error }, 'a traveler who was found could not be kept');
        return false;
      });
      // Also when somebody was found: whoever is known from now on is not asked for again, whoever may not be shown is.
      remember(misses, key, { now, until: now + MISS_MS });
      return isFound;
    },
  };
}

/** All are remembered equally long, so that those whose time is over come first: their addresses are forgotten. */
function remember(
  misses: Map<string, number>,
  key: string,
  { now, until }: { now: number; until: number },
): void {
  misses.delete(key);
  for (const [other, end] of misses) {
    if (end > now && misses.size < MISSES) break;
    misses.delete(other);
  }
  misses.set(key, until);
}

async function ask(
  deps: { imports: Imports; bases: RulesSnapshots; runtime: Runtime },
  connection: Connection,
  email: string,
): Promise<boolean> {
  const answer = await connection.travel.findByEmails([email], BUDGET_MS);
  if (answer.kind !== 'ok' || answer.value.length === 0) return false;
  const travelers = await filterVisibleTravelers(deps.imports, connection, answer.value);
  const basis = deps.bases.lastKnown(connection);
  const identities = travelers.map((traveler) =>
    unclaimedIdentity(deps.runtime, connection, { rulesSnapshot: basis, traveler }),
  );
  await deps.imports.saveUnclaimed(identities, deps.runtime.now());
  return identities.length > 0;
}
