import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { VersionOfPerson } from '../../model/holds.ts';
import type { Decision, HoldCause, IdentityState } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { relistStrangers } from '../identities/relist-strangers.ts';
import type { Database } from '../sql/database.ts';
import { batches, groupByVersion, parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** Held people: of all connections without a scope, and for any cause without a cause. */
export interface HoldQuery {
  scope?: Scope | undefined;
  cause?: HoldCause | undefined;
}

/** Selects the held people about whose hold no admin has decided. */
export function selectUndecided(db: Kysely<Tables>, { scope, cause }: HoldQuery) {
  const all = db.selectFrom('identity').where(isUndecided);
  const ofConnection = scope === undefined ? all : all.where(inScope(scope));
  return cause === undefined ? ofConnection : ofConnection.where('hold_cause', '=', cause);
}

/** A decision about another cause, or an earlier version, is void. The JSON of a decision begins with cause, answer and version. */
function isUndecided(row: ExpressionBuilder<Tables, 'identity'>) {
  return row.and([
    row('hold_cause', 'is not', null),
    sql<SqlBool>`replace(decision, '}', ',') not like '{"cause":"' || hold_cause || '","answer":"%","version":' || version || ',%'`,
    row.not(hasReturned(row)),
  ]);
}

/**
 * Excludes a person whose deactivation was held and whom the IdP has activated again: there is nothing left to approve, even if the
 * reconciler has not run yet. Once it has, an active person is held because of the scope of the mapping.
 */
function hasReturned(row: ExpressionBuilder<Tables, 'identity'>) {
  const isDeparture = row.or([
    row('hold_cause', '=', 'safetyValve'),
    row.and([row('hold_cause', '=', 'guarded'), row('travel_id', 'is not', null)]),
  ]);
  return row.and([
    isDeparture,
    row('active', '=', 1),
    row('deleted_at', 'is', null),
    row('state', '=', sql.lit('dirty')),
  ]);
}

/** A decision, and the connection that it is about. */
export interface DecisionRequest {
  scope: Scope;
  answer: Decision['answer'];
  now: number;
  /** The name of the admin. */
  by: string | undefined;
}

/** Versions of people who are held for a cause. */
export interface DecidedSelection {
  cause: HoldCause;
  people: readonly VersionOfPerson[];
}

/** Saves the decision about these versions of people in batches, one transaction each. People who are no longer held are skipped. */
export async function decideVersions(
  { transaction }: Database,
  { scope, answer, now, by }: DecisionRequest,
  { cause, people }: DecidedSelection,
): Promise<number> {
  let decided = 0;
  const author = by === undefined ? {} : { by };
  for (const [version, ids] of groupByVersion(people))
    for (const batch of batches(ids))
      decided += await transaction(async (tx) => {
        const updated = await tx
          .updateTable('identity')
          .set((row) => ({
            decision: toJson({ cause, answer, version, ...author, at: now }),
            decided_at: now,
            state: 'dirty',
            next_attempt_at: now,
            revision: row('revision', '+', 1),
          }))
          .where(inScope(scope))
          .where('id', 'in', batch)
          .where('version', '=', version)
          .where('hold_cause', '=', cause)
          .where(isUndecided)
          .returning('id')
          .execute();
        const updatedIds = updated.map(({ id }) => id);
        if (answer === 'discarded' && updatedIds.length > 0) await relistStrangers(tx, scope, updatedIds);
        return updatedIds.length;
      });
  return decided;
}

/** How far a decision about held changes is carried out. */
export interface DecisionProgress {
  /** The number of people who are reconciled because of the decision. */
  people: number;
  /** The number of them who are not reconciled yet. */
  left: number;
}

/** Returns the store of the people whom a decision was about, unless they have a later one. */
export function decidedPeople({ db, scopeOf }: Database) {
  const selectDecided = (connection: string, at: number) =>
    db
      .selectFrom('identity')
      .where(inScope(scopeOf(connection)))
      .where('decided_at', '=', at);
  return {
    /** Counts how far the decision is carried out that was made at this time. */
    readProgress: async (connection: string, at: number): Promise<DecisionProgress> => {
      const states = await selectDecided(connection, at)
        .select((row) => ['state', row.fn.countAll<number>().as('count')])
        .groupBy('state')
        .execute();
      const sum = (rows: typeof states) => rows.reduce((total, { count }) => total + Number(count), 0);
      return { people: sum(states), left: sum(states.filter(({ state }) => state === 'dirty')) };
    },
    /** Lists the people of the decision that was made at this time, in the order of their ids. */
    listDecided: async (
      connection: string,
      at: number,
      { after, limit }: { after: string; limit: number },
    ) => {
      const page = selectDecided(connection, at).where('id', '>', after).orderBy('id').limit(limit);
      const rows = await page.select(['id', 'desired', 'state']).execute();
      return rows.map(({ id, desired, state }) => ({
        ...{ id, state: state as IdentityState }, // The column contains only states of identities.
        userName: String(parseJson<{ userName?: unknown }>(desired).userName),
      }));
    },
  };
}
