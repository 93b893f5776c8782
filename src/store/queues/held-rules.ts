import { type Kysely, sql } from 'kysely';
import type { HeldRules } from '../../provisioning/holds/holds.ts';
import type { RulesEffect } from '../../provisioning/holds/rules-effect.ts';
import type { Identity } from '../../provisioning/identity.ts';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import { toIdentity } from '../identities/identity-row.ts';
import type { Database } from '../sql/database.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** Returns the store of held changes of rules, and of the people whom they may affect. */
export function heldRules(database: Database) {
  const { db, scopeOf } = database;
  return {
    /** Returns the last change of rules that was checked: it is held, approved or discarded. */
    findHeldRules: (connection: string) => readRulesChange(db, scopeOf(connection)),
    /**
     * Saves the last checked change of rules in place of an earlier one, unless another replica has saved this or a later
     * one. If it is approved, people held because of the earlier one become dirty. Returns the stored change.
     */
    saveHeldRules: (held: HeldRules) => saveRulesChange(database, held),
    /**
     * Saves the effect of a held change of rules as far as it is computed; the first one of a count takes the place of any other. Returns
     * false if the change is another one or is decided, or if the effect of this count is not stored any more.
     */
    saveEffect: (
      connection: string,
      generation: number,
      effect: RulesEffect,
      { isFirst = false }: { isFirst?: boolean } = {},
    ) => saveEffect(database, scopeOf(connection), { generation, effect, isFirst }),
    /**
     * Returns claimed live identities that were last translated with an earlier generation of the rules, in the order of
     * their ids. The page begins after the id `place.after`.
     */
    findTranslatedEarlier: (
      connection: string,
      generation: number,
      place: { after: string; limit: number },
    ) => findTranslatedEarlier(db, scopeOf(connection), { generation, ...place }),
    /** Counts claimed identities that were last translated with an earlier generation of the rules, up to `limit`. */
    countTranslatedEarlier: (connection: string, generation: number, limit: number) =>
      countTranslatedEarlier(db, scopeOf(connection), { generation, limit }),
  };
}

async function readRulesChange(db: Kysely<Tables>, scope: Scope): Promise<HeldRules | undefined> {
  const row = await db.selectFrom('rules_change').selectAll().where(inScope(scope)).executeTakeFirst();
  return row && toHeldRules(row);
}

function toHeldRules(row: Tables['rules_change']): HeldRules {
  const { connection_id, generation, people, since, answer, recent, effect } = row;
  return {
    ...{ connection: connection_id, generation, people, since },
    answer: (answer ?? undefined) as HeldRules['answer'], // The column contains only answers and null.
    recent: new Map(parseJson<[string, number][]>(recent)),
    effect: effect === null ? undefined : parseJson<RulesEffect>(effect),
  };
}

async function saveRulesChange({ transaction, scopeOf }: Database, held: HeldRules): Promise<HeldRules> {
  const { connection, generation, people, since, answer, recent } = held;
  const row = {
    ...{ generation, people, since, answer: answer ?? null, recent: toJson([...recent]) },
    ...{ effect: null, decided_at: null, decided_people: null },
  };
  const scope = scopeOf(connection);
  return transaction(async (tx) => {
    const saved = await tx
      .insertInto('rules_change')
      .values({ ...scopeColumns(scope), ...row })
      .onConflict((conflict) =>
        conflict
          .columns(['account', 'connection_id'])
          .doUpdateSet(row)
          .where('rules_change.generation', '<', generation),
      )
      .returning('generation')
      .executeTakeFirst();
    // Another replica has checked this change or a later one before.
    if (!saved) return (await readRulesChange(tx, scope)) ?? held;
    if (answer === undefined) return held;
    await tx
      .updateTable('identity')
      .set((identity) => ({ state: 'dirty', next_attempt_at: since, revision: identity('revision', '+', 1) }))
      .where(inScope(scope))
      .where('hold_cause', '=', 'rules')
      .execute();
    return held;
  });
}

function saveEffect(
  { transaction }: Database,
  scope: Scope,
  { generation, effect, isFirst }: { generation: number; effect: RulesEffect; isFirst: boolean },
): Promise<boolean> {
  return transaction(async (tx) => {
    const stored = (await readRulesChange(tx, scope))?.effect;
    if (!isFirst && stored?.count !== effect.count) return false;
    const { numUpdatedRows } = await tx
      .updateTable('rules_change')
      .set({ effect: toJson(effect), ...(effect.isComplete ? { people: effect.people } : {}) })
      .where(inScope(scope))
      .where('generation', '=', generation)
      .where('answer', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  });
}

async function findTranslatedEarlier(
  db: Kysely<Tables>,
  scope: Scope,
  { generation, after, limit }: { generation: number; after: string; limit: number },
): Promise<Identity[]> {
  if ((await countTranslatedEarlier(db, scope, { generation, limit: 1 })) === 0) return [];
  const rows = await db
    .selectFrom('identity')
    .selectAll()
    .where(inScope(scope))
    .where('claimed', '=', sql.lit(1))
    .where('deleted_at', 'is', null)
    .where('rules_generation', '>', 0)
    .where('rules_generation', '<', generation)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toIdentity);
}

async function countTranslatedEarlier(
  db: Kysely<Tables>,
  scope: Scope,
  { generation, limit }: { generation: number; limit: number },
): Promise<number> {
  const earlier = await db
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    .where('claimed', '=', sql.lit(1))
    .where('rules_generation', '>', 0)
    .where('rules_generation', '<', generation)
    .limit(limit)
    .execute();
  return earlier.length;
}
