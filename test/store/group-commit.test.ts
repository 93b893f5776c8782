import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../src/store/database.ts';
import { GroupCommit } from '../../src/store/group-commit.ts';
import { openEmbedded } from '../../src/store/sqlite.ts';
import type { Tables } from '../../src/store/tables.ts';
import { StoreUnavailable } from '../../src/store/unavailable.ts';

let database: Database;
let directory: string;
/** The pragmas and the commands of transactions that the database was given. */
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

/** Like `openEmbedded`, but records the commands of transactions and gives up on stalled ones early. */
function recordedGroup(stallMs: number): GroupCommit {
  const file = {
    exec: (text: string) => {
      commands.push(text);
    },
    executed: () => 0,
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
    const group = recordedGroup(10_000);
    await Promise.all([
      group.run((tx) => put(tx, 'a'), { durable: false }),
      group.run((tx) => put(tx, 'b'), { durable: false }),
    ]);
    expect(commands).toEqual(['pragma synchronous = normal', 'pragma synchronous = full']);
    await Promise.all([group.run((tx) => put(tx, 'c'), { durable: false }), group.run((tx) => put(tx, 'd'))]);
    expect(commands).toHaveLength(2);
    expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a transaction within a transaction', () => {
  it.each([
    ['another transaction', (group: GroupCommit) => group.run((tx) => keys(tx))],
    ['a read outside of the transaction', () => keys()],
  ])('that waits for %s fails, and the database can be used again', async (_, inner) => {
    const group = recordedGroup(50);
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
      { numRuns: 150 },
    );
  });

  function outcomeOf(result: PromiseSettledResult<string[]>): string[] | string {
    if (result.status === 'fulfilled') return result.value;
    return database.isDuplicate(result.reason) ? 'isDuplicate' : 'throws';
  }
});
