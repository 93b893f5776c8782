import { sql } from 'kysely';
import type { AlarmCount } from '../../model/holds.ts';
import type { Database } from '../sql/database.ts';
import { readAtMostEvery } from '../sql/queries.ts';

/** The interval at which the people are counted, in milliseconds: all people with findings are read for it. */
const COUNT_MS = 10_000;

/** Returns a function that counts the people whose travelers may differ from the answers of the travel API, at most every ten seconds. */
export function unconfirmedPeople({ db }: Database, now: () => number): () => Promise<AlarmCount[]> {
  const count = async (cause: AlarmCount['cause'], code: string, finding: string): Promise<AlarmCount[]> => {
    const rows = await db
      .selectFrom('identity')
      .select((row) => ['connection_id', row.fn.countAll<number>().as('people')])
      .where('finding_codes', '<>', sql.lit(''))
      .where('finding_codes', 'like', `%${code}%`)
      .where('findings', 'like', `%${finding}%`)
      .groupBy(['account', 'connection_id'])
      .execute();
    return rows.map(({ connection_id, people }) => ({
      ...{ connection: connection_id, cause, count: Number(people) },
      since: now(),
    }));
  };
  return readAtMostEvery(COUNT_MS, now, async () => [
    ...(await count('unclearAnswer', 'unclearAnswer', '"code":"unclearAnswer"')),
    ...(await count('notArchived', 'notApplied', '"field":"archived","code":"notApplied","value":false')),
  ]);
}
