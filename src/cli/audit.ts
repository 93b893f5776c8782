import type { AuditEntry } from '../store/credentials/audit-log.ts';
import { auditLog } from '../store/credentials/audit-log.ts';
import type { Database } from '../store/sql/database.ts';
import { currentUser } from './terminal.ts';

/**
 * Records a change that a command makes in the audit log of the admin page, with the user of the operating system. `change` may add to the
 * details; `isDone` is false of its result if nothing has changed.
 */
export async function withAuditEntry<T>(
  database: Database,
  { action, details }: Pick<AuditEntry, 'action' | 'details'>,
  change: () => Promise<T>,
  isDone: (result: T) => boolean,
): Promise<T> {
  const audit = auditLog(database);
  const actor = { actor: `command line: ${currentUser()}`, actorKind: 'command', address: '' } as const;
  const position = await audit.begin({ at: Date.now(), ...actor, action, details });
  const result = await change();
  await audit.finish(position, { status: isDone(result) ? 200 : 409, details });
  return result;
}
