import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { StoreUnavailable } from '../../src/model/unavailable.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { WriteHealth } from '../../src/store/sql/write-health.ts';
import { type Clock, clock } from '../fixtures/clock.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';

let database: Database;
let directory: string;
let time: Clock;
let lines: string[];
let health: WriteHealth;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  database = await openEmbedded(directory, true);
  time = clock();
  lines = [];
  const note = (fields: object, message: string) =>
    void lines.push('reason' in fields ? `${message}: ${fields.reason}` : message);
  health = new WriteHealth({ database, clock: time, log: { info: note, warn: note, error: note } });
});
afterEach(async () => {
  await health.stop();
  await database.close();
  rmSync(directory, { recursive: true });
});

const insert = (id: string, size = 10) =>
  sql`insert into connection (id, account) values (${id}, ${'x'.repeat(size)})`;
const insertOne = (id: string, size?: number) => insert(id, size).execute(database.db);
const ids = async () => {
  const rows = await database.db.selectFrom('connection').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
};
const pragma = async (name: string) => {
  const { rows } = await sql<Record<string, number>>`pragma ${sql.raw(name)}`.execute(database.db);
  return Object.values(rows[0] ?? {})[0];
};

/** Fills the database to its maximum size. */
async function fill(): Promise<void> {
  await pragma('max_page_count = 1');
}

async function makeRoom(): Promise<void> {
  await pragma('max_page_count = 1000000');
}

describe('a database on a full disk', () => {
  it('rejects writes with a reason, and accepts them again once there is room', async () => {
    await fill();
    const failing = insertOne('a', 1_000_000);
    await expect(failing).rejects.toThrow(StoreUnavailable);
    await expect(failing).rejects.toMatchObject({
      message: 'database or disk is full',
      reason: 'the disk is full',
    });
    await makeRoom();
    await insertOne('a', 1_000_000);
    expect(await ids()).toEqual(['a']);
  });

  it('leaves no transaction open, and no part of a failed one', async () => {
    await fill();
    const failing = database.transaction(async (tx) => {
      await insert('a').execute(tx);
      await insert('b', 1_000_000).execute(tx);
    });
    await expect(failing).rejects.toThrow(StoreUnavailable);
    await database.transaction((tx) => insert('c').execute(tx));
    expect(await ids()).toEqual(['c']);
  });

  it('syncs commits again after a transaction that is not durable, even if that failed', async () => {
    await fill();
    const failing = database.transaction((tx) => insert('a', 1_000_000).execute(tx), { durable: false });
    await expect(failing).rejects.toThrow(StoreUnavailable);
    // 2 is "full" (https://www.sqlite.org/pragma.html#pragma_synchronous).
    expect(await pragma('synchronous')).toBe(2);
  });
});

describe('the write health', () => {
  const forbidWrites = () => pragma('query_only = on');
  const allowWrites = () => pragma('query_only = off');
  const reason = 'the database may only be read';
  const beginning = `the database cannot be written; writes are answered 503 until it can: ${reason}`;
  const end = 'the database can be written again';

  it('turns bad with any failed write, and is probed every five seconds until a write succeeds', async () => {
    expect(health.failure()).toBeUndefined();
    await forbidWrites();
    await expect(insertOne('a')).rejects.toThrow(StoreUnavailable);
    expect(health.failure()).toBe(reason);
    time.advance(5_000);
    await waitUntilIdle();
    expect(health.failure()).toBe(reason);
    await allowWrites();
    time.advance(4_999);
    await waitUntilIdle();
    expect(health.failure()).toBe(reason);
    let recoveries = 0;
    health.onRecovery(() => {
      recoveries += 1;
    });
    time.advance(1);
    await waitUntilIdle();
    expect([health.failure(), recoveries]).toEqual([undefined, 1]);
    expect(lines).toEqual([beginning, end]);
  });

  it('is probed on request, at most every five seconds', async () => {
    expect(await health.probe()).toBeUndefined();
    await forbidWrites();
    expect(await health.probe()).toBeUndefined();
    time.advance(5_000);
    expect(await health.probe()).toBe(reason);
    await allowWrites();
    expect(await health.probe()).toBe(reason);
    time.advance(5_000);
    expect(await health.probe()).toBeUndefined();
  });

  it('is logged at most once a minute', async () => {
    for (let second = 0; second < 120; second += 5) {
      await forbidWrites();
      for (let count = 0; count < 10; count += 1) await expect(insertOne('a')).rejects.toThrow();
      await allowWrites();
      time.advance(5_000);
      await waitUntilIdle();
      expect(health.failure()).toBeUndefined();
    }
    expect(lines).toEqual([beginning, end, beginning, end]);
  });
});
