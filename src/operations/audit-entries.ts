import type { AuditEntry, AuditLog, EntryFilter } from '../store/credentials/audit-log.ts';

/** The columns of the audit log in CSV. */
export const auditColumns = {
  at: ({ at }: AuditEntry) => new Date(at),
  actor: ({ actor }: AuditEntry) => actor,
  actorKind: ({ actorKind }: AuditEntry) => actorKind,
  address: ({ address }: AuditEntry) => address,
  action: ({ action }: AuditEntry) => action,
  status: ({ status }: AuditEntry) => status,
  details: ({ details }: AuditEntry) => JSON.stringify(details),
};

const PAGE = 500;

/** Yields all entries that a filter selects page by page, newest first. */
export async function* auditPages(
  audit: Pick<AuditLog, 'list'>,
  filter: EntryFilter,
): AsyncGenerator<AuditEntry[]> {
  let before: number | undefined;
  do {
    const entries = await audit.list({ ...filter, before, limit: PAGE });
    yield entries;
    before = entries.length === PAGE ? entries.at(-1)?.position : undefined;
  } while (before !== undefined);
}
