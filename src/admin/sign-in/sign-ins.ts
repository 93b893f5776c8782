import { setMaxListeners } from 'node:events';
import type { Log, Runtime } from '../../model/runtime-ports.ts';
import { type AuditLog, auditLog } from '../../store/credentials/audit-log.ts';
import { signInFailures } from '../../store/credentials/sign-in-failures.ts';
import type { Database } from '../../store/sql/database.ts';
import type { PasswordCosts } from './passwords.ts';
import { type RefusedSignIns, recordRefusedSignIns } from './refused-sign-ins.ts';
import { createSignInLimit, type SignInLimit } from './sign-in-limit.ts';

/** The parts of the admin page that guard its sign-in and have timers. */
export interface SignIns {
  limit: SignInLimit;
  refusedSignIns: RefusedSignIns;
  /** Answers the refusals that wait. */
  endWaits(): void;
  /** Writes what is not in the audit log yet, and stops. */
  close(): Promise<void>;
}

interface SignInDeps {
  database: Database;
  passwordCosts: PasswordCosts;
  clock: { now(): number; wait: Runtime['wait'] };
  /** The times of entries, in epoch milliseconds. */
  wallClock(): number;
  log: Pick<Log, 'warn' | 'error'>;
  /** Receives the operation of each refused sign-in. */
  onRefusal(action: string): void;
}

/** Starts to guard the sign-in to the admin page, and to remove old entries of the audit log. */
export function openSignIns({
  database,
  passwordCosts,
  clock,
  wallClock,
  log,
  onRefusal,
}: SignInDeps): SignIns {
  const audit = auditLog(database);
  const end = new AbortController();
  const { signal } = end;
  // Each refusal that waits listens to it, and their number is limited.
  setMaxListeners(0, signal);
  const refusedSignIns = recordRefusedSignIns({
    ...{ audit, log, onRefusal },
    clock: { now: wallClock, wait: clock.wait },
  });
  const removing = removeOldEntries({ audit, clock, log }, signal);
  return {
    limit: createSignInLimit({ failures: signInFailures(database), passwordCosts, clock, signal }),
    refusedSignIns,
    endWaits: () => end.abort(),
    close: async () => {
      end.abort();
      await Promise.all([refusedSignIns.close(), removing]);
    },
  };
}

const DAY_MS = 24 * 60 * 60_000;
/** The time for which entries of the audit log are kept. */
const KEEP_MS = 400 * DAY_MS;
const REMOVE_EVERY_MS = 60 * 60_000;
/** One large deletion would block other writes. */
const BATCH = 500;
/** Pause between two batches, so that other work can use the database. */
const PAUSE_MS = 20;

async function removeOldEntries(
  { audit, clock, log }: { audit: AuditLog } & Pick<SignInDeps, 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      while (!signal.aborted && (await audit.removeBefore(clock.now() - KEEP_MS, BATCH)) === BATCH)
        await clock.wait(PAUSE_MS, signal);
    } catch (error) {
      log.error({ err: error }, 'old entries of the audit log could not be removed; retrying');
    }
    await clock.wait(REMOVE_EVERY_MS, signal);
  }
}
