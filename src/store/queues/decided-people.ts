import type { Kysely } from 'kysely';
import type { IdentityState } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { parseJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** How far a decision about held changes is carried out. */
export interface DecisionProgress {
  /** The number of people who are reconciled because of the decision. */
  people: number;
  /** The number of them who are not reconciled yet. */
  left: number;
}

/** The people whom the decision at this time was about, unless they have a later one. */
interface DecidedQuery {
  scope: Scope;
  at: number;
}

/** Returns the store of the people of decisions. */
export function decidedPeople({ db, scopeOf }: Database) {
  return {
    /** Counts how far the decision is carried out that was made at this time. */
    readProgress: (connection: string, at: number) => readProgress(db, { scope: scopeOf(connection), at }),
    /** Lists the people of the decision that was made at this time, in the order of their ids. */
    listDecided: (connection: string, at: number, page: { after: string; limit: number }) =>
      listDecided(db, { scope: scopeOf(connection), at }, page),
  };
}

async function readProgress(db: Kysely<Tables>, { scope, at }: DecidedQuery): Promise<DecisionProgress> {
  const states = await selectDecided(db, { scope, at })
    .select((row) => ['state', row.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute();
  const sum = (rows: typeof states) => rows.reduce((total, { count }) => total + Number(count), 0);
  return { people: sum(states), left: sum(states.filter(({ state }) => state === 'dirty')) };
}

async function listDecided(
  db: Kysely<Tables>,
  query: DecidedQuery,
  { after, limit }: { after: string; limit: number },
): Promise<{ id: string; userName: string; state: IdentityState }[]> {
  const rows = await selectDecided(db, query)
    .select(['id', 'desired', 'state'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, desired, state }) => ({
    ...{ id, state: state as IdentityState }, // The column contains only states of identities.
    userName: String(parseJson<{ userName?: unknown }>(desired).userName),
  }));
}

function selectDecided(db: Kysely<Tables>, { scope, at }: DecidedQuery) {
  return db.selectFrom('identity').where(inScope(scope)).where('decided_at', '=', at);
}
