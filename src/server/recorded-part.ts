import type { RecordedPart, RecordedScenarios } from '../admin/deps.ts';
import { type ExchangeReader, toRecorded } from '../log/search.ts';
import type { RecordedExchange } from '../replay/exchanges.ts';
import { recordScenarios } from '../replay/recorder.ts';
import { travelRoles } from '../translator/translation.ts';

/** The most requests that become scenarios at once: more would take long to read, and nobody would read their steps. */
const MAX_RECORDED = 2_000;
const PAGE = 500;

/** Converts SCIM requests of the log to scenarios with invented people. Returns undefined if there are too many. */
export async function recordPart(
  log: ExchangeReader,
  { connection, person, since, until }: RecordedPart,
): Promise<RecordedScenarios | undefined> {
  const collected: RecordedExchange[] = [];
  let before: string | undefined;
  do {
    const sought = person === undefined ? undefined : { id: person, names: [] };
    const query = { connection, person: sought, since, until, before, direction: 'scim' } as const;
    const { exchanges, next } = await log.list({ ...query, limit: PAGE });
    collected.push(...exchanges.map(toRecorded));
    if (collected.length > MAX_RECORDED) return undefined;
    before = next;
  } while (before !== undefined);
  return recordScenarios(collected.reverse(), { vocabulary: travelRoles });
}
