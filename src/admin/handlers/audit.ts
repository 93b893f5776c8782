import type { z } from 'zod';
import type { AuditEntry, AuditLog } from '../../store/credentials/audit-log.ts';
import { auditPages, readableDetails } from '../audit-entries.ts';
import type { auditContract } from '../contract/audit.ts';
import type { Handlers } from '../contract/operation.ts';
import { peopleContract } from '../contract/people.ts';
import type { AdminContext } from '../router.ts';
import { type NameOf, nameReader } from '../user-names.ts';

/** Dependencies of the operations on the audit log. */
export interface AuditDeps {
  audit: AuditLog;
  nameOf: NameOf;
}

/** Handles the operations on the audit log. */
export function auditHandlers(deps: AuditDeps): Handlers<typeof auditContract, AdminContext> {
  return {
    listAuditEntries: ({ query }) => listAuditEntries(query, deps),
    downloadAuditEntries: async ({ query }) => auditPages(deps.audit, query),
    listAuditChoices: () => deps.audit.listChoices(),
  };
}

async function listAuditEntries(
  { limit, ...query }: z.output<(typeof auditContract)['listAuditEntries']['query']>,
  { audit, nameOf }: AuditDeps,
) {
  const entries = await audit.list({ ...query, limit: limit + 1 });
  const shown = entries.slice(0, limit);
  const next = entries.length > limit ? shown.at(-1)?.position : undefined;
  const readName = nameReader(nameOf, MAX_NAMES);
  const toListed = async (entry: AuditEntry) => ({
    ...entry,
    details: readableDetails(entry),
    people: await Promise.all(
      peopleOf(entry).map(async ({ connection, id }) => ({ id, name: await readName(connection, id) })),
    ),
  });
  return { entries: await Promise.all(shown.map(toListed)), next };
}

interface PersonKey {
  connection: string;
  id: string;
}

/** The changed people of an entry. The id of an operation on one person is that of the person. */
function peopleOf({ action, details }: AuditEntry): PersonKey[] {
  const { connection, people, person, id } = details;
  if (typeof connection !== 'string') return [];
  const ids = [people, person, action in peopleContract ? id : undefined].flat();
  return ids.flatMap((one) => (typeof one === 'string' ? [{ connection, id: one }] : []));
}

/** The most names that are read for a page: decisions about many people would make it slow. */
const MAX_NAMES = 300;
