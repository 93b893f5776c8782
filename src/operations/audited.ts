import type { AuditEntry, AuditLog } from '../store/credentials/audit-log.ts';
import { toOperationError } from './errors.ts';

/** The audit log, its clock, and the log for an outcome that could not be stored. */
export interface AuditDeps {
  audit: AuditLog;
  /** Epoch milliseconds. */
  now(): number;
  log: { error(fields: object, text: string): void };
}

/**
 * Runs a change between the two writes of its entry, so that no change is without one. `outcome` has the status of a change that is done,
 * and tells that of one that is refused.
 */
export async function withAuditEntry<T>(
  run: () => Promise<T>,
  entry: Omit<AuditEntry, 'position' | 'at' | 'status'>,
  { audit, now, log }: AuditDeps,
  outcome: { done?: number; refusal?: (error: unknown) => number } = {},
): Promise<T> {
  const { details } = entry;
  const position = await audit.begin({ at: now(), ...entry });
  const finish = (status: number) =>
    audit.finish(position, { status, details }).catch((error: unknown) => {
      log.error({ err: error, position }, 'the outcome of a change could not be added to the audit log');
    });
  try {
    const result = await run();
    await finish(outcome.done ?? (result === undefined ? 204 : 200));
    return result;
  } catch (error) {
    await finish(outcome.refusal?.(error) ?? toOperationError(error).status);
    throw error;
  }
}
