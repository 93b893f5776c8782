import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database } from '../sql/database.ts';
import { containsText } from '../sql/search-keys.ts';
import { takeFeedNumbers } from '../sql/sequences.ts';
import type { Tables } from '../sql/tables.ts';

/** The name of the feed whose numbers the positions of entries are. */
const FEED = 'auditEntry';

/** An entry of the audit log: an attempt to change something, and its outcome. */
export interface AuditEntry {
  position: number;
  at: number;
  /** The name of the account or token. For refused sign-ins the name of an account that was given, else empty: it may be a password. */
  actor: string;
  actorKind: 'account' | 'token' | 'command' | 'nobody';
  /** The client's address; empty for a command. */
  address: string;
  /** The operation, e.g. `applyMapping`. */
  action: string;
  /** Facts about the change, e.g. the id of a person or the parameters of the operation. Without secrets. */
  details: Record<string, unknown>;
  /** The status of the response; undefined if the process ended before it. */
  status: number | undefined;
}

type NewEntry = Omit<AuditEntry, 'position' | 'status'> & { status?: number | undefined };

/** The audit log. */
export type AuditLog = ReturnType<typeof auditLog>;

/** Returns the store of the audit log. Entries are durable before the change. */
export function auditLog({ db, transaction }: Database) {
  return {
    /** Writes an entry, without outcome unless it is known, and returns its position. */
    begin: ({ at, actor, actorKind, address, action, details, status }: NewEntry): Promise<number> =>
      transaction(async (tx) => {
        const position = await takeFeedNumbers(tx, FEED, 1);
        await tx
          .insertInto('audit_entry')
          .values({
            ...{ position, at, actor, actor_kind: actorKind, address, action },
            ...{ details: JSON.stringify(details), status: status ?? null },
          })
          .execute();
        return position;
      }),

    /** Adds the outcome, and the details and the actor that were not known before. */
    finish: async (
      position: number,
      { status, details, actor }: Pick<AuditEntry, 'details'> & { status: number; actor?: string },
    ): Promise<void> => {
      await db
        .updateTable('audit_entry')
        .set({ status, details: JSON.stringify(details), ...(actor !== undefined && { actor }) })
        .where('position', '=', position)
        .execute();
    },

    /** The newest entries before a position, newest first. */
    list: (query: ListQuery): Promise<AuditEntry[]> => listEntries(db, query),

    /** The names of accounts, tokens and commands that have entries, and the actions, in alphabetical order. */
    listChoices: () => listChoices(db),

    /** Removes a number of entries that are older than this, and returns how many there were. */
    removeBefore: async (at: number, limit: number): Promise<number> => {
      const old = db
        .selectFrom('audit_entry')
        .select('position')
        .where('at', '<', at)
        .orderBy('at')
        .limit(limit);
      const removed = await db.deleteFrom('audit_entry').where('position', 'in', old).executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}

/** Selects entries of the audit log. */
export interface EntryFilter {
  /** A part of the name, without case. */
  actor?: string | undefined;
  action?: string | undefined;
  /** Epoch milliseconds, included. */
  since?: number | undefined;
  /** Epoch milliseconds, excluded. */
  until?: number | undefined;
}

interface ListQuery extends EntryFilter {
  before?: number | undefined;
  limit: number;
}

async function listEntries(
  db: Kysely<Tables>,
  { before, actor, action, since, until, limit }: ListQuery,
): Promise<AuditEntry[]> {
  let query = db.selectFrom('audit_entry').selectAll();
  if (before !== undefined) query = query.where('position', '<', before);
  if (actor !== undefined) query = query.where(containsText(sql`lower(actor)`, actor.toLowerCase()));
  if (action !== undefined) query = query.where('action', '=', action);
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  const rows = await query.orderBy('position', 'desc').limit(limit).execute();
  return rows.map(toEntry);
}

/** The most names that can be chosen; others can be typed. */
const MAX_CHOICES = 500;

async function listChoices(db: Kysely<Tables>): Promise<{ actors: string[]; actions: string[] }> {
  const entries = db.selectFrom('audit_entry').distinct().limit(MAX_CHOICES);
  const named = entries.select('actor').where('actor_kind', '<>', sql.lit('nobody')).orderBy('actor');
  const actors = await named.execute();
  const actions = await entries.select('action').orderBy('action').execute();
  return { actors: actors.map(({ actor }) => actor), actions: actions.map(({ action }) => action) };
}

function toEntry(row: Selectable<Tables['audit_entry']>): AuditEntry {
  return {
    position: row.position,
    at: row.at,
    actor: row.actor,
    // This file alone writes the column.
    actorKind: row.actor_kind as AuditEntry['actorKind'],
    address: row.address,
    action: row.action,
    details: JSON.parse(row.details) as Record<string, unknown>,
    status: row.status ?? undefined,
  };
}
