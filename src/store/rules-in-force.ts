import { type Kysely, sql } from 'kysely';
import type { MappingVersion, RulesInForce, RulesStore } from '../provisioning/rules-ports.ts';
import type { Database } from './database.ts';
import { parseJson, toJson } from './queries.ts';
import type { Tables } from './tables.ts';

/** Returns the store of the rules in force. */
export function rulesStore(database: Database): RulesStore {
  const { db, dialect } = database;
  const keyOf = (connection: string) => {
    const { account } = database.scopeOf(connection);
    return { account, connection_id: connection };
  };
  return {
    findHead: (connection, now) =>
      ofConnection(db, keyOf(connection))
        .select(['generation', 'edition', 'digest', 'source'])
        .select(sql<number>`${dialect.now(now)} - file_seen_at`.as('fileAgeMs'))
        .executeTakeFirst(),
    find: async (connection) => {
      const row = await ofConnection(db, keyOf(connection)).selectAll().executeTakeFirst();
      return row && toRulesInForce(row);
    },
    replace: (connection, next, now, author) =>
      replaceRules(database, keyOf(connection), { next, now, author }),
    wasInForce: async (connection, digest) => {
      const known = mappingsOf(db, keyOf(connection)).select('generation').where('digest', '=', digest);
      return (await known.limit(1).executeTakeFirst()) !== undefined;
    },
    listMappings: async (connection, limit) => {
      const newest = mappingsOf(db, keyOf(connection)).selectAll().orderBy('generation', 'desc');
      return (await newest.limit(limit).execute()).map(toMappingVersion);
    },
    recordFile: async (connection, digest, now) => {
      await db
        .updateTable('rules_in_force')
        .set({ file_seen_at: dialect.now(now) })
        .where('account', '=', keyOf(connection).account)
        .where('connection_id', '=', connection)
        .where('digest', '=', digest)
        .execute();
    },
    forgetFiles: async () => {
      await db.updateTable('rules_in_force').set({ file_seen_at: 0 }).execute();
    },
  };
}

interface ConnectionKey {
  account: string;
  connection_id: string;
}

function ofConnection(db: Kysely<Tables>, { account, connection_id }: ConnectionKey) {
  return db
    .selectFrom('rules_in_force')
    .where('account', '=', account)
    .where('connection_id', '=', connection_id);
}

function mappingsOf(db: Kysely<Tables>, { account, connection_id }: ConnectionKey) {
  return db
    .selectFrom('mapping_version')
    .where('account', '=', account)
    .where('connection_id', '=', connection_id);
}

function toMappingVersion(row: Tables['mapping_version']): MappingVersion {
  const { generation, edition, digest, source, applied_at, author, mapping } = row;
  const columns = { generation, edition, digest, source, author: author ?? undefined };
  return { ...columns, appliedAt: applied_at, mapping: parseJson<unknown>(mapping) };
}

function toRulesInForce({
  generation,
  edition,
  digest,
  source,
  mapping,
  lookups,
}: Tables['rules_in_force']): RulesInForce {
  return {
    ...{ generation, edition, digest, source },
    mapping: parseJson<unknown>(mapping),
    lookups: lookups === null ? undefined : parseJson<NonNullable<RulesInForce['lookups']>>(lookups),
  };
}

/** The condition on the generation lets one of several replicas win that change the rules at the same time. */
function replaceRules(
  { transaction, dialect }: Database,
  key: ConnectionKey,
  { next, now, author }: { next: RulesInForce; now: number; author: string | undefined },
): Promise<boolean> {
  const { mapping, lookups, ...columns } = next;
  const version = { ...columns, mapping: toJson(mapping) };
  const content = { ...version, lookups: lookups ? toJson(lookups) : null };
  const seen = { file_seen_at: dialect.now(now) };
  return transaction(
    async (tx) => {
      const before = await ofConnection(tx, key).select(['generation', 'digest']).executeTakeFirst();
      const isNewMapping = before?.digest !== next.digest;
      const written = before
        ? await tx
            .updateTable('rules_in_force')
            .set({ ...content, ...(isNewMapping ? seen : {}) })
            .where('account', '=', key.account)
            .where('connection_id', '=', key.connection_id)
            .where('generation', '=', next.generation - 1)
            .returning('generation')
            .executeTakeFirst()
        : await tx
            .insertInto('rules_in_force')
            .values({ ...key, ...content, ...seen })
            .onConflict((conflict) => conflict.columns(['account', 'connection_id']).doNothing())
            .returning('generation')
            .executeTakeFirst();
      if (written && isNewMapping)
        await tx
          .insertInto('mapping_version')
          .values({ ...key, ...version, applied_at: now, author: author ?? null })
          .execute();
      return written !== undefined;
    },
    { commitIf: (isReplaced) => isReplaced },
  );
}
