import { type Kysely, sql } from 'kysely';
import type { Outcome } from '../bridge/identity.ts';
import { atomically } from './atomically.ts';
import type { Database } from './database.ts';
import { eraseUnclaimedOf } from './erase.ts';
import { outcomeColumnNames, outcomeColumns } from './identity-row.ts';
import { pick, prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/** An identity, and the token under which it is held. */
export interface Held {
  connection: string;
  id: string;
  token: string;
}

/** What came of a reconciliation, and which revision it knew. */
interface Reached {
  revision: number;
  outcome: Outcome;
}

/**
 * Keeps an outcome and gives the lease back. It writes the reconciler's side of the row only, under the token: an IdP
 * may have written the other side meanwhile, and then there is work again at once.
 */
export async function finish(
  { db, lightly, isDuplicate }: Database,
  held: Held,
  reached: Reached,
): Promise<'kept' | 'moved' | 'lost' | 'taken'> {
  try {
    return await lightly(db, (light) =>
      atomically<'kept' | 'moved' | 'lost' | 'taken'>(light, ['kept', 'moved'], async (tx) => {
        const obstacle = await clearWay(tx, held, reached.outcome.travelId);
        if (obstacle) return obstacle;
        const written = await write(tx, held, reached);
        if (!written) return 'lost';
        return written.revision === reached.revision ? 'kept' : 'moved';
      }),
    );
  } catch (error) {
    // Two who link one traveler at the same moment: the index decides.
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
}

/** Takes unclaimed rows of a traveler that becomes linked out of the way; tells when somebody else has it. */
export async function clearWay(
  tx: Kysely<Tables>,
  { connection, id, token }: Held,
  travelId: string | undefined,
): Promise<'lost' | 'taken' | undefined> {
  const [before] = (await linkOf(tx, { connection, id, token })).rows;
  if (!before) return 'lost';
  if (travelId === undefined || travelId === before.travel_id) return undefined;
  const { account } = before;
  const other = await tx
    .selectFrom('identity')
    .select('id')
    .where('account', '=', account)
    .where('travel_id', '=', travelId)
    .where('claimed', '=', sql.lit(1))
    .executeTakeFirst();
  if (other) return 'taken';
  await eraseUnclaimedOf(tx, { account, travelId }, { connection, id });
  return undefined;
}

const linkOf = prepared((db, { connection, id, token }: Held) =>
  db
    .selectFrom('identity')
    .select(['account', 'travel_id'])
    .where('connection_id', '=', connection)
    .where('id', '=', id)
    .where('lease_token', '=', token),
);

async function write(
  tx: Kysely<Tables>,
  held: Held,
  { revision, outcome }: Reached,
): Promise<{ revision: number } | undefined> {
  const [row] = (await written(tx, { ...held, ...outcomeColumns(outcome), known: revision })).rows;
  return row;
}

type Columns = ReturnType<typeof outcomeColumns>;

const written = prepared((db, blanks: Held & Columns & { known: number }) => {
  const { connection, id, token, known, state, next_attempt_at, observed, travel_email_key } = blanks;
  return db
    .updateTable('identity')
    .set((row) => {
      const isCurrent = row('revision', '=', known);
      // Somebody doubted meanwhile what the attempt knows of the traveler: the next one reads.
      const ifDoubted = row
        .case()
        .when(
          row.and([
            row('revision', '<>', known),
            row('travel_id', 'is not', null),
            row('observed', 'is', null),
          ]),
        );
      return {
        ...pick(blanks, outcomeColumnNames),
        observed: ifDoubted
          .then(null)
          .else(row.cast<string | null>(row.val(observed), 'text'))
          .end(),
        travel_email_key: ifDoubted
          .then(null)
          .else(row.cast<string | null>(row.val(travel_email_key), 'text'))
          .end(),
        state: row.case().when(isCurrent).then(state).else('dirty').end(),
        next_attempt_at: row
          .case()
          .when(isCurrent)
          .then(row.cast<number>(row.val(next_attempt_at), 'bigint'))
          .else(row.cast<number>(row.val(0), 'bigint'))
          .end(),
        lease_token: null,
        lease_until: null,
      };
    })
    .where('connection_id', '=', connection)
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .returning('revision');
});
