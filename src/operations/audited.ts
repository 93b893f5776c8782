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
 * Writes the entry of a change that begins. Returns the function that adds the outcome; that it cannot be added is logged, because the change
 * is done by then.
 */
export async function beginAuditEntry(
  entry: Omit<AuditEntry, 'position' | 'at' | 'status'>,
  { audit, now, log }: AuditDeps,
): Promise<(outcome: Parameters<AuditLog['finish']>[1]) => Promise<void>> {
  const position = await audit.begin({ at: now(), ...entry });
  return (outcome) =>
    audit.finish(position, outcome).catch((error: unknown) => {
      log.error({ err: error, position }, 'the outcome of a change could not be added to the audit log');
    });
}

/**
 * Runs a change between the two writes of its entry, so that no change is without one. `outcome` has the status of a change that is done,
 * and tells that of one that is refused.
 */
export async function withAuditEntry<T>(
  run: () => Promise<T>,
  entry: Omit<AuditEntry, 'position' | 'at' | 'status'>,
  deps: AuditDeps,
  outcome: { done?: number; refusal?: (error: unknown) => number } = {},
): Promise<T> {
  const { details } = entry;
  const finishEntry = await beginAuditEntry(entry, deps);
  const finish = (status: number) => finishEntry({ status, details });
  try {
    const result = await run();
    await finish(outcome.done ?? (result === undefined ? 204 : 200));
    return result;
  } catch (error) {
    await finish(outcome.refusal?.(error) ?? toOperationError(error).status);
    throw error;
  }
}
