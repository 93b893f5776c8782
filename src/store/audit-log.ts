import type { Selectable } from 'kysely';
import type { AuditEntry, AuditLog } from '../admin/ports.ts';
import type { AuditEntryTable } from './admin-table-types.ts';
import type { Database } from './database.ts';
import { takeFeedNumbers } from './sequences.ts';

/** The name of the feed whose numbers the positions of entries are. */
const FEED = 'auditEntry';

/** Returns the store of the audit log. An entry is durable before `begin` returns. */
export function auditLog({ db, transaction }: Database): AuditLog {
  return {
    begin: ({ at, actor, actorKind, address, action, details }) =>
      transaction(async (tx) => {
        const position = await takeFeedNumbers(tx, FEED, 1);
        await tx
          .insertInto('audit_entry')
          .values({
            ...{ position, at, actor, actor_kind: actorKind, address, action },
            ...{ details: JSON.stringify(details), status: null },
          })
          .execute();
        return position;
      }),

    finish: async (position, { status, details }) => {
      await db
        .updateTable('audit_entry')
        .set({ status, details: JSON.stringify(details) })
        .where('position', '=', position)
        .execute();
    },

    list: async ({ before, actor, action, limit }) => {
      let query = db.selectFrom('audit_entry').selectAll();
      if (before !== undefined) query = query.where('position', '<', before);
      if (actor !== undefined) query = query.where('actor', '=', actor);
      if (action !== undefined) query = query.where('action', '=', action);
      const rows = await query.orderBy('position', 'desc').limit(limit).execute();
      return rows.map(toEntry);
    },

    removeBefore: async (at) => {
      await db.deleteFrom('audit_entry').where('at', '<', at).execute();
    },
  };
}

function toEntry(row: Selectable<AuditEntryTable>): AuditEntry {
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
