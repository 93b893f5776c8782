import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { VersionOfPerson } from '../../model/holds.ts';
import type { Decision, HoldCause } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { relistStrangers } from '../identities/relist-strangers.ts';
import type { Database } from '../sql/database.ts';
import { batches, parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** Held people: of all connections without a scope, and for any cause without a cause. */
export interface HoldQuery {
  scope?: Scope | undefined;
  cause?: HoldCause | undefined;
}

/** Selects held people, including those with a decision. */
export function selectHeld(db: Kysely<Tables>, { scope, cause }: HoldQuery) {
  const all = db
    .selectFrom('identity')
    .where('hold_cause', 'is not', null)
    .where((row) => row.not(hasReturned(row)));
  const ofConnection = scope === undefined ? all : all.where(inScope(scope));
  return cause === undefined ? ofConnection : ofConnection.where('hold_cause', '=', cause);
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

export interface DecisionColumns {
  version: number;
  decision: string;
  hold_cause: string | null;
}

/** True if the admin's decision is about the current hold. A later write of the IdP makes the decision void. */
export function isDecided({ version, decision, hold_cause }: DecisionColumns): boolean {
  if (decision === '') return false;
  const { cause, version: about } = parseJson<{ cause: string; version: number }>(decision);
  return cause === hold_cause && about === version;
}

/** A decision, and the connection that it is about. */
export interface DecisionRequest {
  scope: Scope;
  answer: Decision['answer'];
  now: number;
  /** The name of the admin. */
  by: string | undefined;
}

/** Finds all held people without a decision. */
export async function findUndecided(db: Kysely<Tables>, query: HoldQuery): Promise<VersionOfPerson[]> {
  const held = await selectHeld(db, query).select(['id', 'version', 'decision', 'hold_cause']).execute();
  return held.filter((row) => !isDecided(row)).map(({ id, version }) => ({ id, version }));
}

/** Versions of people who are held for a cause. */
export interface DecidedSelection {
  cause: HoldCause;
  people: readonly VersionOfPerson[];
}

type DecidedRow = DecisionColumns & { id: string };

/** Saves the decision about these versions of people in batches, one transaction each. People who are no longer held are skipped. */
export async function decideVersions(
  { transaction }: Database,
  request: DecisionRequest,
  { cause, people }: DecidedSelection,
): Promise<number> {
  const versions = new Map(people.map(({ id, version }) => [id, version]));
  let decided = 0;
  for (const batch of batches([...versions.keys()])) {
    decided += await transaction(async (tx) => {
      const rows = await selectHeld(tx, { scope: request.scope })
        .select(['id', 'version', 'decision', 'hold_cause'])
        .where('id', 'in', batch)
        .execute();
      const selected = rows.filter(
        (row) => row.hold_cause === cause && versions.get(row.id) === row.version && !isDecided(row),
      );
      let updated = 0;
      for (const alike of groupAlike(selected)) updated += await writeDecision(tx, request, alike);
      return updated;
    });
  }
  return decided;
}

/** The people whose rows get the same decision or approval. Most have the same version, so that one statement updates many of them. */
function groupAlike(rows: DecidedRow[]): DecidedRow[][] {
  const groups = new Map<string, DecidedRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.version, row.hold_cause, row.decision]);
    const alike = groups.get(key) ?? [];
    groups.set(key, alike);
    alike.push(row);
  }
  return [...groups.values()];
}

/** Another writer may have changed a row since it was read: that row is left out. */
async function writeDecision(
  tx: Kysely<Tables>,
  { scope, answer, now, by }: DecisionRequest,
  alike: DecidedRow[],
): Promise<number> {
  const [first] = alike;
  if (!first) return 0;
  const { version, hold_cause: cause, decision } = first;
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    .set((row) => ({
      decision: toJson({ cause, answer, version, ...(by === undefined ? {} : { by }), at: now }),
      decided_at: now,
      state: 'dirty',
      next_attempt_at: now,
      revision: row('revision', '+', 1),
    }))
    .where(inScope(scope))
    .where(
      'id',
      'in',
      alike.map(({ id }) => id),
    )
    .where('version', '=', version)
    .where('hold_cause', '=', cause)
    .where('decision', '=', decision)
    .executeTakeFirst();
  if (answer === 'discarded')
    await relistStrangers(
      tx,
      scope,
      alike.map(({ id }) => id),
    );
  return Number(numUpdatedRows);
}
