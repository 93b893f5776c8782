import { type Kysely, sql } from 'kysely';
import type { Lookups } from '../../model/translation.ts';
import type { MappingSource } from '../../translator/mapping/mapping-file.ts';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** The mapping and the lookups in force for one connection. All replicas translate with them. */
export interface RulesInForce {
  /** 1 for the first rules of the connection; each change raises it by one. */
  generation: number;
  /** The edition of the code that put the mapping in force: another edition may translate with it otherwise. */
  edition: number;
  /** The digest of edition and mapping. */
  digest: string;
  /** The mapping as JSON, as in a mapping file. */
  mapping: unknown;
  /** Undefined until they have been read for the first time. */
  lookups: Lookups | undefined;
  /** The source of the mapping. Only a mapping from a file gives way to a file with an earlier content. */
  source: MappingSource;
  /** Set if values of travelers are put back with the mapping: those that were replaced since this generation. */
  putBackSince?: number | undefined;
  /** The SCIM filter of the pilot of a connection in shadow mode (`ConnectionModes.changePilot`). */
  pilot?: string | undefined;
}

/** The facts that decide whether a mapping file comes into force, without the content of the rules in force. */
export interface RulesHead extends Pick<RulesInForce, 'generation' | 'edition' | 'digest' | 'source'> {
  /**
   * The time since a replica last had a mapping file with this content, or used the mapping without a file, in
   * milliseconds.
   */
  fileAgeMs: number;
}

/** A mapping that was or is in force. */
export interface MappingVersion {
  /** Its place in the history of the connection: 1 for the first mapping. */
  number: number;
  /** The generation with which it came into force. */
  generation: number;
  edition: number;
  digest: string;
  mapping: unknown;
  source: MappingSource;
  appliedAt: number;
  /**
   * The author of the change: the user of the operating system who gave the command, the account or token on the admin page, or the
   * path of the mapping file; undefined for the default rules.
   */
  author: string | undefined;
}

export type RulesStore = ReturnType<typeof rulesStore>;

/**
 * The store of the rules in force, one row for each connection, and of the history of mappings. The generation decides
 * between replicas that change the rules at the same time.
 */
export function rulesStore(database: Database) {
  const { db, dialect, scopeOf } = database;
  return {
    findHead: (connection: string, now: number): Promise<RulesHead | undefined> =>
      db
        .selectFrom('rules_in_force')
        .where(inScope(scopeOf(connection)))
        .select(['generation', 'edition', 'digest', 'source'])
        .select(sql<number>`${dialect.now(now)} - file_seen_at`.as('fileAgeMs'))
        .executeTakeFirst(),
    find: async (connection: string): Promise<RulesInForce | undefined> => {
      const rules = db.selectFrom('rules_in_force').selectAll().select(pilotOfRules);
      const row = await rules.where(inScope(scopeOf(connection))).executeTakeFirst();
      return row && toRulesInForce(row);
    },
    /**
     * Puts these rules in force if the generation in force is one less (0: there is none). Returns false otherwise. A
     * mapping with another digest than the one before is added to the history, with the author, and takes the place of what is proposed.
     */
    replace: (connection: string, next: RulesInForce, now: number, author?: string): Promise<boolean> =>
      database.transaction(
        (tx) => replaceRules(tx, database, { scope: scopeOf(connection), next, now, author }),
        { commitIf: (isReplaced) => isReplaced },
      ),
    /** True if a mapping with this digest is in the history. */
    wasInForce: async (connection: string, digest: string): Promise<boolean> => {
      const known = mappingsOf(db, scopeOf(connection)).select('generation').where('digest', '=', digest);
      return (await known.limit(1).executeTakeFirst()) !== undefined;
    },
    /** Returns the history of the mapping, the newest first. */
    listMappings: async (connection: string, limit: number): Promise<MappingVersion[]> => {
      const mappings = mappingsOf(db, scopeOf(connection)).selectAll().select(historyNumber);
      return (await mappings.orderBy('generation', 'desc').limit(limit).execute()).map(toMappingVersion);
    },
    /** Returns the number of the mapping that was in force with these rules; undefined if there was none. */
    findMappingNumber: async (connection: string, generation: number): Promise<number | undefined> => {
      const before = mappingsOf(db, scopeOf(connection)).where('generation', '<=', generation);
      const counted = before.select((row) => row.fn.countAll<number>().as('count'));
      return Number((await counted.executeTakeFirstOrThrow()).count) || undefined;
    },
    /** Records that a replica has a mapping file with the content in force, or uses it without a file. */
    recordFile: async (connection: string, digest: string, now: number): Promise<void> => {
      await db
        .updateTable('rules_in_force')
        .set({ file_seen_at: dialect.now(now) })
        .where(inScope(scopeOf(connection)))
        .where('digest', '=', digest)
        .execute();
    },
    /** Records that no other process has a mapping file: only this one uses the database. */
    forgetFiles: async (): Promise<void> => {
      await db.updateTable('rules_in_force').set({ file_seen_at: 0 }).execute();
    },
  };
}

const pilotOfRules = sql<string | null>`(select pilot from connection
  where connection.account = rules_in_force.account and connection.id = rules_in_force.connection_id)`.as(
  'pilot',
);

/** The place of a mapping in the history. */
const historyNumber = sql<number>`row_number() over (order by generation)`.as('number');

function mappingsOf(db: Kysely<Tables>, scope: Scope) {
  return db.selectFrom('mapping_version').where(inScope(scope));
}

function toMappingVersion({
  number,
  ...row
}: Tables['mapping_version'] & { number: number }): MappingVersion {
  const { generation, edition, digest, source, applied_at, author, mapping } = row;
  return {
    ...{ number: Number(number), generation, edition, digest, source, author: author ?? undefined },
    ...{ appliedAt: applied_at, mapping: parseJson<unknown>(mapping) },
  };
}

function toRulesInForce({
  generation,
  edition,
  digest,
  source,
  mapping,
  lookups,
  put_back_since,
  pilot,
}: Tables['rules_in_force'] & { pilot: string | null }): RulesInForce {
  return {
    ...{ generation, edition, digest, source },
    mapping: parseJson<unknown>(mapping),
    lookups: lookups === null ? undefined : parseJson<NonNullable<RulesInForce['lookups']>>(lookups),
    putBackSince: put_back_since ?? undefined,
    pilot: pilot ?? undefined,
  };
}

interface Replacement {
  scope: Scope;
  next: RulesInForce;
  now: number;
  author: string | undefined;
}

/** The condition on the generation lets one of several replicas win that change the rules at the same time. */
export async function replaceRules(
  tx: Kysely<Tables>,
  { dialect }: Pick<Database, 'dialect'>,
  { scope, next, now, author }: Replacement,
): Promise<boolean> {
  // The pilot belongs to the mode.
  const { mapping, lookups, putBackSince, pilot: _, ...columns } = next;
  const version = { ...columns, mapping: toJson(mapping) };
  const content = {
    ...version,
    ...{ lookups: lookups ? toJson(lookups) : null, put_back_since: putBackSince ?? null },
  };
  const seen = { file_seen_at: dialect.now(now) };
  const before = await tx
    .selectFrom('rules_in_force')
    .select(['generation', 'digest'])
    .where(inScope(scope))
    .executeTakeFirst();
  const isNewMapping = before?.digest !== next.digest;
  const written = before
    ? await tx
        .updateTable('rules_in_force')
        .set({ ...content, ...(isNewMapping ? seen : {}) })
        .where(inScope(scope))
        .where('generation', '=', next.generation - 1)
        .returning('generation')
        .executeTakeFirst()
    : await tx
        .insertInto('rules_in_force')
        .values({ ...scopeColumns(scope), ...content, ...seen })
        .onConflict((conflict) => conflict.columns(['account', 'connection_id']).doNothing())
        .returning('generation')
        .executeTakeFirst();
  if (!written) return false;
  if (isNewMapping) {
    await tx
      .insertInto('mapping_version')
      .values({ ...scopeColumns(scope), ...version, applied_at: now, author: author ?? null })
      .execute();
    await supersedeProposal(tx, scope);
  }
  return true;
}

/** The columns of a connection for which nothing is proposed. */
export const noProposal = { digest: null, proposed: null, mapping_digest: null, since: 0, people: null };

/** A proposal that another mapping replaces is as if it was discarded: its file does not propose it again. */
export async function supersedeProposal(tx: Kysely<Tables>, scope: Scope): Promise<void> {
  await tx
    .updateTable('proposed_rules')
    .set((row) => ({ ...noProposal, discarded_mapping: row.ref('mapping_digest') }))
    .where(inScope(scope))
    .where('digest', 'is not', null)
    .execute();
}
