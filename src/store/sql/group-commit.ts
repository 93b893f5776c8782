import { types } from 'node:util';
import { type Kysely, sql, type Transaction } from 'kysely';
import { StoreUnavailable } from '../../model/unavailable.ts';
import type { RunTransaction, TransactionOptions } from './database.ts';
import type { SqliteFile } from './sqlite-file.ts';
import type { Tables } from './tables.ts';

/** The maximum number of transactions in one commit; some tens of milliseconds of work. */
const MAX_MEMBERS = 64;

/** A transaction that executes no query for this time, in milliseconds, is rolled back. */
const STALL_MS = 10_000;

interface GroupCommitDeps {
  db: Kysely<Tables>;
  file: SqliteFile;
  stallMs?: number;
}

/**
 * Runs the transactions that arrive together in one SQLite transaction, because waiting for the disk is most of the cost
 * of a commit. They run one after the other, in the order of arrival. If one of them fails, all of them are rolled back and
 * run again, each in a savepoint: the one that fails leaves no trace, and the others are committed. Savepoints at once would
 * copy every page that a transaction changes, for a failure that is rare. All results are returned after the commit. If the
 * commit fails, all of them are rejected with StoreUnavailable, also those that had failed before: they may have failed
 * because of a row that was never committed.
 *
 * If any of them is durable, the log of the database is then synced, in a thread of its own. The other work of the process goes
 * on, and further transactions arrive for the next commit. Queries wait: a client must not be told of a commit that a power
 * failure may undo.
 */
export class GroupCommit {
  readonly #deps: Required<GroupCommitDeps>;
  #waiting: Member[] = [];
  #isScheduled = false;
  /** True after a failed sync. The operating system may have dropped what it could not write, and then the next sync succeeds. */
  #isLogDamaged = false;

  constructor({ stallMs = STALL_MS, ...deps }: GroupCommitDeps) {
    this.#deps = { ...deps, stallMs };
  }

  /** Runs a transaction, together with those that arrive in the same turn of the event loop. */
  readonly run: RunTransaction = (work, options) =>
    new Promise((resolve, reject) => {
      this.#waiting.push(toMember(work, options, { resolve, reject }));
      this.#schedule();
    });

  /** Begins after the pending I/O callbacks, in which further requests may arrive. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#runWaiting());
  }

  async #runWaiting(): Promise<void> {
    const members = this.#waiting.splice(0, MAX_MEMBERS);
    const relaxed = members.filter(({ durable }) => !durable);
    const durable = members.filter((member) => member.durable);
    const settle = (some: Member[], error?: unknown) => {
      for (const member of some.splice(0)) member.settle(error);
    };
    try {
      await this.#deps.db.connection().execute(async (connection) => {
        const isCommitted = await this.#commit(connection, members);
        settle(relaxed);
        if (isCommitted && durable.length > 0) await this.#waitForDisk(connection);
      });
    } catch (error) {
      settle(relaxed, error);
      settle(durable, error);
    }
    this.#isScheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
    settle(durable);
  }

  /** Commits without waiting for the disk. Returns false if there is nothing to commit. */
  async #commit(connection: Kysely<Tables>, members: Member[]): Promise<boolean> {
    const { file } = this.#deps;
    file.exec('pragma synchronous = normal');
    try {
      const isCommitted = await this.#commitIfNoneFails(connection, members, runMembers);
      // A single transaction that fails needs no second run.
      if (isCommitted || members.length === 1) return isCommitted;
      return await this.#commitIfNoneFails(connection, members, runInSavepoints);
    } finally {
      file.exec('pragma synchronous = full');
    }
  }

  /** Commits what `run` does to the members. Returns false if that throws Rollback. */
  async #commitIfNoneFails(
    connection: Kysely<Tables>,
    members: Member[],
    run: (tx: Transaction<Tables>, members: Member[]) => Promise<void>,
  ): Promise<boolean> {
    try {
      await connection.transaction().execute((tx) => this.#withoutStall(() => run(tx, members)));
      return true;
    } catch (error) {
      if (error instanceof Rollback) return false;
      throw error;
    }
  }

  /** Waits until the commits so far are on the disk: in the log, or else in the database file. */
  async #waitForDisk(connection: Kysely<Tables>): Promise<void> {
    if (!this.#isLogDamaged) {
      try {
        return await this.#deps.file.syncLog();
      } catch {
        this.#isLogDamaged = true;
      }
    }
    if (!(await emptyLog(connection))) throw new Error('The log of the database cannot be synced.');
    this.#isLogDamaged = false;
  }

  /**
   * Runs members; rejects if one of them waits for something other than its queries. Otherwise a work that uses the
   * database instead of its transaction would wait for itself, and all others with it.
   */
  async #withoutStall(run: () => Promise<void>): Promise<void> {
    const { file, stallMs } = this.#deps;
    let executed = file.executed();
    let timer: NodeJS.Timeout | undefined;
    const stalled = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        if (file.executed() === executed) reject(new TransactionStalled());
        executed = file.executed();
      }, stallMs).unref();
    });
    try {
      await Promise.race([run(), stalled]);
    } finally {
      clearInterval(timer);
    }
  }
}

/** A transaction that waits for its commit. */
interface Member {
  durable: boolean;
  /** Runs the work; resolves to false if its changes must be rolled back. */
  run(tx: Transaction<Tables>): Promise<boolean>;
  /** The error of the work, if it failed. */
  failure(): unknown;
  /** Returns the result or the error of the work; `error` is that of the common transaction, if it failed. */
  settle(error: unknown): void;
}

type State<T> = { at: 'waiting' | 'running' } | { at: 'done'; result: T } | { at: 'failed'; error: unknown };

function toMember<T>(
  work: (tx: Transaction<Tables>) => Promise<T>,
  { durable = true, commitIf = () => true }: TransactionOptions<T> = {},
  { resolve, reject }: { resolve(result: T): void; reject(error: unknown): void },
): Member {
  let state: State<T> = { at: 'waiting' };
  return {
    durable,
    run: async (tx) => {
      state = { at: 'running' };
      try {
        const result = await work(tx);
        state = { at: 'done', result };
        return commitIf(result);
      } catch (error) {
        state = { at: 'failed', error };
        return false;
      }
    },
    failure: () => (state.at === 'failed' ? state.error : undefined),
    settle: (error) => {
      if (error instanceof TransactionStalled && state.at === 'running') reject(error);
      else if (error !== undefined) reject(toUnavailable(error));
      else if (state.at === 'done') resolve(state.result);
      else reject(state.at === 'failed' ? state.error : new Error('A transaction was not run.'));
    },
  };
}

const begin = sql`savepoint member`;
const keep = sql`release member`;
const undo = sql`rollback to member`;

async function runMembers(tx: Transaction<Tables>, members: Member[]): Promise<void> {
  for (const member of members) if (!(await member.run(tx))) throw new Rollback();
}

/** Runs the members so that the changes of those that fail are undone. */
async function runInSavepoints(tx: Transaction<Tables>, members: Member[]): Promise<void> {
  for (const member of members) {
    await begin.execute(tx);
    if (!(await member.run(tx))) await undoMember(tx, member);
    await keep.execute(tx);
  }
}

/** Rejects with the error of the work if that error has ended the whole transaction, such as a full disk. */
async function undoMember(tx: Transaction<Tables>, member: Member): Promise<void> {
  try {
    await undo.execute(tx);
  } catch (error) {
    throw member.failure() ?? error;
  }
}

/** Thrown to roll back a transaction in which a member has failed. */
class Rollback extends Error {}

/**
 * Copies the log into the database file, waits for the disk, and truncates the log. Returns false while a reader of another
 * process still uses the log.
 */
export async function emptyLog(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
  return rows[0]?.busy === 0;
}

/** The work of a transaction waits for something other than its own queries. */
class TransactionStalled extends Error {
  constructor() {
    super('A transaction waits for something other than its own queries, such as another transaction.');
    this.name = 'TransactionStalled';
  }
}

/** The client may send the request again: nothing of it is stored. */
function toUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const cause = types.isNativeError(error) ? error : new Error(String(error));
  return new StoreUnavailable('the transaction could not be committed', { cause });
}
