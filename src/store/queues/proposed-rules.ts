import { type Kysely, sql } from 'kysely';
import type { ScimUserMapping } from '../../model/translation.ts';
import type { MappingSource } from '../../translator/mapping/mapping-file.ts';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import { inPilot } from '../identities/shadow-plans.ts';
import type { Database } from '../sql/database.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { noProposal, type RulesInForce, replaceRules, supersedeProposal } from './rules-in-force.ts';

/** Rules that wait beside those in force, one for each connection. */
export interface ProposedRules {
  /** The digest of all that is proposed. */
  digest: string;
  edition: number;
  /** As in `RulesInForce`. */
  mapping: unknown;
  /** The digest of the mapping alone. */
  mappingDigest: string;
  /** The rules of the travel service; undefined if those in force stay. */
  collection: ScimUserMapping[] | undefined;
  source: MappingSource;
  author: string | undefined;
  putBackSince?: number | undefined;
  since: number;
  /** The number of people for whom they would change values, up to one more than need no admin; undefined until they are counted. */
  people: number | undefined;
}

/** The proposed rules of a connection, and the digests of the mapping and the collection that were discarded last. */
interface Proposals {
  proposed: ProposedRules | undefined;
  discardedMapping: string | undefined;
  discardedCollection: string | undefined;
}

export type ProposalStore = ReturnType<typeof proposalStore>;

/** The store of rules that wait beside those in force, and of the people whom they may change. */
export function proposalStore(database: Database) {
  const { db, scopeOf } = database;
  return {
    findProposals: (connection: string): Promise<Proposals> => findProposals(db, scopeOf(connection)),
    /** Proposes rules in place of those that are proposed; undefined withdraws these. */
    propose: (connection: string, proposed: ProposedRules | undefined): Promise<void> =>
      propose(database, scopeOf(connection), proposed),
    /** Lets counted rules wait for an admin. Returns false if others are proposed, or these were counted, by now. */
    letWait: (connection: string, proposed: ProposedRules, people: number): Promise<boolean> =>
      letWait(db, scopeOf(connection), { proposed, people }),
    /** Puts proposed rules in force, as `replace`. Returns false if others are proposed by now, or these were counted or decided meanwhile. */
    accept: (
      connection: string,
      proposed: ProposedRules,
      next: RulesInForce,
      now: number,
    ): Promise<boolean> => acceptProposed(database, scopeOf(connection), { proposed, next, now }),
    /** Discards proposed rules: a file or collection with this content is not proposed again. Returns false if others are proposed by now. */
    discard: (connection: string, proposed: ProposedRules, collectionDigest?: string): Promise<boolean> =>
      discard(db, scopeOf(connection), { proposed, collectionDigest }),
    /** Counts the people whose travelers other rules may change, up to `limit`: in shadow mode those of the pilot, because nothing is sent for others. */
    countFollowers: (connection: string, limit: number): Promise<number> =>
      countFollowers(db, scopeOf(connection), { connection, limit }),
    /** Counts claimed identities that were last translated with an earlier generation of the rules, up to `limit`. */
    countTranslatedEarlier: async (
      connection: string,
      generation: number,
      limit: number,
    ): Promise<number> => {
      const claimed = db
        .selectFrom('identity')
        .select('id')
        .where(inScope(scopeOf(connection)));
      const earlier = claimed.where('claimed', '=', sql.lit(1)).where('rules_generation', '>', 0);
      return (await earlier.where('rules_generation', '<', generation).limit(limit).execute()).length;
    },
  };
}

async function letWait(
  db: Kysely<Tables>,
  scope: Scope,
  { proposed: { digest }, people }: { proposed: ProposedRules; people: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('proposed_rules')
    .set({ people })
    .where(inScope(scope))
    .where('digest', '=', digest)
    .where('people', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function discard(
  db: Kysely<Tables>,
  scope: Scope,
  { proposed, collectionDigest }: { proposed: ProposedRules; collectionDigest: string | undefined },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('proposed_rules')
    .set({
      ...{ ...noProposal, discarded_mapping: proposed.mappingDigest },
      ...(collectionDigest === undefined ? {} : { discarded_collection: collectionDigest }),
    })
    .where(inScope(scope))
    .where('digest', '=', proposed.digest)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function findProposals(db: Kysely<Tables>, scope: Scope): Promise<Proposals> {
  const row = await db.selectFrom('proposed_rules').selectAll().where(inScope(scope)).executeTakeFirst();
  const stored = row?.proposed ? parseJson<Omit<ProposedRules, 'since' | 'people'>>(row.proposed) : undefined;
  return {
    proposed: row && stored && { ...stored, since: row.since, people: row.people ?? undefined },
    discardedMapping: row?.discarded_mapping ?? undefined,
    discardedCollection: row?.discarded_collection ?? undefined,
  };
}

function propose(
  { transaction }: Database,
  scope: Scope,
  proposed: ProposedRules | undefined,
): Promise<void> {
  return transaction(async (tx) => {
    // Otherwise the file whose content an admin replaces would be proposed again.
    if (proposed && proposed.source !== 'file') await supersedeProposal(tx, scope);
    if (!proposed) {
      await tx.updateTable('proposed_rules').set(noProposal).where(inScope(scope)).execute();
      return;
    }
    const { since, people, ...content } = proposed;
    const row = {
      ...{ digest: proposed.digest, mapping_digest: proposed.mappingDigest },
      ...{ proposed: toJson(content), since, people: people ?? null },
    };
    await tx
      .insertInto('proposed_rules')
      .values({ ...scopeColumns(scope), ...row })
      .onConflict((conflict) => conflict.columns(['account', 'connection_id']).doUpdateSet(row))
      .execute();
  });
}

/** The row decides between replicas: what one has counted to wait, another does not put in force without an admin. */
function acceptProposed(
  { transaction, dialect }: Database,
  scope: Scope,
  { proposed, next, now }: { proposed: ProposedRules; next: RulesInForce; now: number },
): Promise<boolean> {
  return transaction(
    async (tx) => {
      const taken = await tx
        .updateTable('proposed_rules')
        .set(noProposal)
        .where(inScope(scope))
        .where('digest', '=', proposed.digest)
        .where('people', proposed.people === undefined ? 'is' : '=', proposed.people ?? null)
        .returning('account')
        .executeTakeFirst();
      if (!taken) return false;
      return replaceRules(tx, { dialect }, { scope, next, now, author: proposed.author });
    },
    { commitIf: (isAccepted) => isAccepted },
  );
}

async function countFollowers(
  db: Kysely<Tables>,
  scope: Scope,
  { connection, limit }: { connection: string; limit: number },
): Promise<number> {
  const { mode } =
    (await db.selectFrom('connection').select('mode').where('id', '=', connection).executeTakeFirst()) ?? {};
  const linked = db
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    .where('claimed', '=', sql.lit(1))
    .where('travel_id', 'is not', null)
    .where('deleted_at', 'is', null);
  const followers = mode === 'shadow' ? linked.where('progress', 'like', inPilot) : linked;
  return (await followers.limit(limit).execute()).length;
}
