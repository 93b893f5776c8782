import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { StoreUnavailable } from '../../src/model/unavailable.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { GroupCommit } from '../../src/store/sql/group-commit.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { openSqlite } from '../../src/store/sql/sqlite-file.ts';
import type { Tables } from '../../src/store/sql/tables.ts';
import { runs } from '../fixtures/runs.ts';

let database: Database;
let directory: string;
/** The pragmas and syncs that the file was given. */
let commands: string[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  database = await openEmbedded(directory, true);
  commands = [];
});
afterEach(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

/** The table of erased travelers serves as a map from keys to numbers. */
const put = (db: Kysely<Tables>, hash: string) =>
  db.insertInto('erased_traveler').values({ account: 'acme', hash, erased_at: 0 }).execute();
const keys = async (db: Kysely<Tables> = database.db) =>
  (await db.selectFrom('erased_traveler').select('hash').orderBy('hash').execute()).map(({ hash }) => hash);

const logSize = () => statSync(join(directory, 'jetbridge.db-wal')).size;

/** Like the database's own, but records the pragmas and syncs, and may give up on stalled transactions early. */
function recordedGroup({ stallMs = 10_000, sync = async () => {} } = {}): GroupCommit {
  const file = {
    exec: (text: string) => {
      commands.push(text);
    },
    executed: () => 0,
    syncLog: () => {
      commands.push('sync');
      return sync();
    },
    prepare: () => {
      throw new Error('not used');
    },
    close: () => {},
  };
  return new GroupCommit({ db: database.db, file, stallMs });
}

describe('transactions that arrive together', () => {
  it('run one after the other, in the order of their arrival, and see what those before them wrote', async () => {
    const { transaction } = database;
    const seen = await Promise.all(
      ['a', 'b', 'c'].map((key) =>
        transaction(async (tx) => {
          const before = await keys(tx);
          await put(tx, key);
          return before;
        }),
      ),
    );
    expect(seen).toEqual([[], ['a'], ['a', 'b']]);
    expect(await keys()).toEqual(['a', 'b', 'c']);
  });

  it('are committed together: no read in between sees one without the other', async () => {
    const { transaction } = database;
    const other = await openEmbedded(directory, false);
    const counts: number[] = [];
    try {
      const first = transaction(async (tx) => {
        await put(tx, 'a');
        counts.push((await keys(other.db)).length);
      });
      const second = transaction(async (tx) => {
        await put(tx, 'b');
        counts.push((await keys(other.db)).length);
      });
      await Promise.all([first, second]);
      expect(counts).toEqual([0, 0]);
      expect(await keys(other.db)).toEqual(['a', 'b']);
    } finally {
      await other.close();
    }
  });

  it('fail one by one: a failed one leaves no trace, and its error is its own', async () => {
    const { transaction, isDuplicate } = database;
    const results = await Promise.allSettled([
      transaction((tx) => put(tx, 'a')),
      transaction(async (tx) => {
        await put(tx, 'b');
        await put(tx, 'a');
      }),
      transaction(async (tx) => {
        await put(tx, 'c');
        throw new Error('changed my mind');
      }),
      transaction((tx) => put(tx, 'd')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    const [, duplicate, thrown] = results;
    expect(duplicate?.status === 'rejected' && isDuplicate(duplicate.reason)).toBe(true);
    expect(thrown).toMatchObject({ reason: new Error('changed my mind') });
    expect(await keys()).toEqual(['a', 'd']);
  });

  it('run once, and again if one of them fails', async () => {
    const { transaction } = database;
    const runs: string[] = [];
    const record = (key: string) =>
      transaction(
        async (tx) => {
          runs.push(key);
          await put(tx, key);
        },
        { commitIf: () => key !== 'refused' },
      );
    await Promise.all([record('a'), record('b')]);
    expect(runs.splice(0)).toEqual(['a', 'b']);
    await Promise.all([record('c'), record('refused'), record('d')]);
    expect(runs).toEqual(['c', 'refused', 'c', 'refused', 'd']);
    expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are rolled back if their result is refused, and the result is returned', async () => {
    const { transaction } = database;
    const refuse = (key: string) =>
      transaction(
        async (tx) => {
          await put(tx, key);
          return key;
        },
        { commitIf: (result) => result !== 'b' },
      );
    expect(await Promise.all([refuse('a'), refuse('b'), refuse('c')])).toEqual(['a', 'b', 'c']);
    expect(await refuse('b')).toBe('b');
    expect(await keys()).toEqual(['a', 'c']);
  });

  it('are all rejected if the commit fails, and nothing is stored', async () => {
    const { transaction } = database;
    const results = await Promise.allSettled([
      transaction((tx) => put(tx, 'a')),
      transaction((tx) => put(tx, 'a')),
      transaction(async (tx) => {
        // A foreign key that is checked at the commit makes it fail.
        await sql`pragma defer_foreign_keys = on`.execute(tx);
        await sql`insert into travel_secret (type, id, sealed) values ('no', 'no', 'no')`.execute(tx);
      }),
      transaction((tx) => put(tx, 'b')),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected' });
      expect(result.status === 'rejected' && result.reason).toBeInstanceOf(StoreUnavailable);
    }
    expect(await keys()).toEqual([]);
    await transaction((tx) => put(tx, 'c'));
    expect(await keys()).toEqual(['c']);
  });

  it('are all rejected if one of them meets a full disk, with the reason', async () => {
    const { db, transaction } = database;
    await sql`pragma max_page_count = 1`.execute(db);
    const results = await Promise.allSettled([
      transaction((tx) => put(tx, 'a')),
      transaction((tx) => put(tx, 'x'.repeat(1_000_000))),
      transaction((tx) => put(tx, 'b')),
    ]);
    await sql`pragma max_page_count = 1000000`.execute(db);
    const stored = await keys();
    for (const [index, result] of results.entries()) {
      const isStored = stored.includes(['a', 'x', 'b'][index] ?? '');
      expect(result.status).toBe(isStored ? 'fulfilled' : 'rejected');
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'the disk is full' });
    }
    expect(results[1]?.status).toBe('rejected');
  });

  it('are all rejected if one of them ends the common transaction', async () => {
    const { transaction } = database;
    const results = await Promise.allSettled([
      transaction((tx) => put(tx, 'a')),
      transaction(async (tx) => {
        await sql`rollback`.execute(tx);
        throw new Error('rolled back');
      }),
      transaction((tx) => put(tx, 'b')),
    ]);
    for (const result of results)
      expect(result.status === 'rejected' && result.reason).toBeInstanceOf(StoreUnavailable);
    expect(await keys()).toEqual([]);
  });

  it('wait for the disk if one of them must', async () => {
    const group = recordedGroup();
    await Promise.all([
      group.run((tx) => put(tx, 'a'), { durable: false }),
      group.run((tx) => put(tx, 'b'), { durable: false }),
    ]);
    expect(commands).toEqual(relaxed);
    await Promise.all([group.run((tx) => put(tx, 'c'), { durable: false }), group.run((tx) => put(tx, 'd'))]);
    expect(commands).toEqual([...relaxed, ...relaxed, 'sync']);
    expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('do not wait for the disk if nothing was committed', async () => {
    const group = recordedGroup();
    await group.run((tx) => put(tx, 'a'), { commitIf: () => false });
    expect(commands).toEqual(relaxed);
  });
});

const relaxed = ['pragma synchronous = normal', 'pragma synchronous = full'];

it('a query outside of a transaction waits for its end, and sees nothing of what is rolled back', async () => {
  const { transaction } = database;
  const reads: Promise<string[]>[] = [];
  await transaction(
    async (tx) => {
      reads.push(keys());
      await put(tx, 'a');
      reads.push(keys());
      await setImmediate();
      reads.push(keys());
    },
    { commitIf: () => false },
  );
  reads.push(keys());
  expect(await Promise.all(reads)).toEqual([[], [], [], []]);
});

describe('while a commit waits for the disk', () => {
  it('its relaxed transactions are done, its durable ones and all queries are not', async () => {
    const steps: string[] = [];
    const step = (name: string) => () => void steps.push(name);
    let finishSync = () => {};
    const sync = () => new Promise<void>((resolve) => (finishSync = resolve));
    const group = recordedGroup({ sync });
    const durable = group.run((tx) => put(tx, 'a')).then(step('durable'));
    await group.run((tx) => put(tx, 'b'), { durable: false }).then(step('relaxed'));
    const read = keys().then(step('read'));
    const next = group.run((tx) => put(tx, 'c'), { durable: false }).then(step('next'));
    for (let turns = 0; turns < 3; turns += 1) await setImmediate();
    steps.push('disk');
    finishSync();
    await Promise.all([durable, read, next]);
    expect(steps.slice(0, 2)).toEqual(['relaxed', 'disk']);
    expect(steps.slice(2).sort()).toEqual(['durable', 'next', 'read']);
  });

  it('it is in the log, and not yet copied into the database file', async () => {
    await database.emptyLog();
    await database.transaction((tx) => put(tx, 'a'));
    expect(logSize()).toBeGreaterThan(0);
  });

  const fault = () => Promise.reject(new Error('EIO'));

  it('a failed sync is replaced by copying the log into the database file', async () => {
    const group = recordedGroup({ sync: fault });
    await group.run((tx) => put(tx, 'a'));
    expect(logSize()).toBe(0);
    await group.run((tx) => put(tx, 'b'));
    expect(await keys()).toEqual(['a', 'b']);
  });

  it('after a failed sync nothing is acknowledged until the log can be copied', async () => {
    const group = recordedGroup({ sync: fault });
    await sql`pragma busy_timeout = 0`.execute(database.db);
    const reader = await openSqlite(join(directory, 'jetbridge.db'));
    try {
      reader.exec('begin; select * from erased_traveler');
      await expect(group.run((tx) => put(tx, 'a'))).rejects.toThrow(StoreUnavailable);
      await expect(group.run((tx) => put(tx, 'b'))).rejects.toThrow(StoreUnavailable);
      reader.exec('commit');
      await group.run((tx) => put(tx, 'c'));
    } finally {
      reader.close();
    }
    expect(commands.filter((command) => command === 'sync')).toEqual(['sync']);
    expect(logSize()).toBe(0);
  });
});

describe('a transaction within a transaction', () => {
  it.each([
    ['another transaction', (group: GroupCommit) => group.run((tx) => keys(tx))],
    ['a read outside of the transaction', () => keys()],
  ])('that waits for %s fails, and the database can be used again', async (_, inner) => {
    const group = recordedGroup({ stallMs: 50 });
    const outer = group.run(async (tx) => {
      await put(tx, 'a');
      await inner(group);
    });
    const other = group.run((tx) => put(tx, 'b'));
    await expect(outer).rejects.toThrow('A transaction waits for something other than its own queries');
    await expect(other).rejects.toThrow(StoreUnavailable);
    expect(await keys()).toEqual([]);
    await group.run((tx) => put(tx, 'c'));
    expect(await keys()).toEqual(['c']);
  });
});

/** A transaction of the property test: what it writes, and how it ends. */
const step = fc.record({
  sets: fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), seq: fc.nat(9) }), { maxLength: 3 }),
  ends: fc.constantFrom('returns', 'returns', 'throws', 'isRefused', 'isDuplicate'),
  durable: fc.boolean(),
});

describe('any transactions, in any groups', () => {
  it('leave the same rows and results as one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 4 }), async (groups) => {
        const { db, transaction } = database;
        await db.deleteFrom('erased_traveler').execute();
        const model = new Map<string, number>();
        for (const group of groups) {
          const expected: unknown[] = [];
          const results = group.map(({ sets, ends, durable }) =>
            transaction(
              async (tx) => {
                const before = await keys(tx);
                for (const { key, seq } of sets)
                  await tx
                    .insertInto('erased_traveler')
                    .values({ account: 'acme', hash: key, erased_at: seq })
                    .onConflict((conflict) =>
                      conflict.columns(['account', 'hash']).doUpdateSet({ erased_at: seq }),
                    )
                    .execute();
                if (ends === 'throws') throw new Error('thrown');
                if (ends === 'isDuplicate') for (let times = 0; times < 2; times += 1) await put(tx, 'e');
                return before;
              },
              { durable, commitIf: () => ends !== 'isRefused' },
            ),
          );
          for (const { sets, ends } of group) {
            expected.push(ends === 'throws' || ends === 'isDuplicate' ? ends : [...model.keys()].sort());
            if (ends === 'returns') for (const { key, seq } of sets) model.set(key, seq);
          }
          const settled = await Promise.allSettled(results);
          expect(settled.map((one) => outcomeOf(one))).toEqual(expected);
          const rows = await db.selectFrom('erased_traveler').selectAll().execute();
          expect(new Map(rows.map(({ hash, erased_at }) => [hash, erased_at]))).toEqual(model);
        }
      }),
      runs(150),
    );
  });

  function outcomeOf(result: PromiseSettledResult<string[]>): string[] | string {
    if (result.status === 'fulfilled') return result.value;
    return database.isDuplicate(result.reason) ? 'isDuplicate' : 'throws';
  }
});
