import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, Migrator, SqliteDialect, sql } from 'kysely';
import { apiKeys } from '../../src/store/credentials.ts';
import { openEmbedded, openSqlite } from '../../src/store/database.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Tables } from '../../src/store/tables.ts';
import { fieldEquals, listQuery, NOW, person, plainScan, team } from '../fixtures/store.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'jetbridge-migration-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Old {
  id: string;
  incomplete?: 0 | 1;
  createdAt?: number;
  deletedAt?: number;
  desired?: object;
}

/** A database in the state before lists had stable positions. */
async function before(people: Old[], groups: { id: string; createdAt: number }[]): Promise<void> {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: await openSqlite(join(directory, 'jetbridge.db')) }),
  });
  await sql`pragma synchronous = off`.execute(db);
  const provider = { getMigrations: async () => migrations({ json: 'text', time: 'integer' }) };
  const { error } = await new Migrator({ db, provider }).migrateTo('0002-travel');
  expect(error).toBeUndefined();
  await sql`insert into connection (id, account) values ('okta', 'acme')`.execute(db);
  const dead = people.filter(({ deletedAt }) => deletedAt !== undefined).length;
  for (const [kind, count] of [
    ['live', people.length - dead],
    ['dead', dead],
    ['group', groups.length],
  ]) {
    await sql`insert into tally (connection_id, kind, count) values ('okta', ${kind}, ${count})`.execute(db);
  }
  for (const { id, incomplete = 0, createdAt = NOW, deletedAt = null, desired = {} } of people) {
    await sql`
      insert into identity (connection_id, id, account, desired, user_name_key, incomplete, claimed, state, version,
        revision, rules_version, applied, refused, findings, trace, attempts, next_attempt_at, created_at, last_modified,
        deleted_at, seen_at)
      values ('okta', ${id}, 'acme', ${JSON.stringify({ userName: id, ...desired })}, ${id}, ${incomplete}, 1, 'synced', 1,
        1, '', '{}', '{}', '[]', '[]', 0, 0, ${createdAt}, ${createdAt}, ${deletedAt}, 0)`.execute(db);
  }
  for (const { id, createdAt } of groups) {
    await sql`
      insert into scim_group (connection_id, id, attributes, display_name_key, version, created_at, last_modified)
      values ('okta', ${id}, ${JSON.stringify({ displayName: id })}, ${id}, 1, ${createdAt}, ${createdAt})`.execute(
      db,
    );
  }
  await db.destroy();
}

test('identities from before the list columns keep their positions, and are found by every column', async () => {
  const urn = 'urn:x:y:2.0:User';
  await before(
    [
      { id: 'bare', incomplete: 1, createdAt: NOW - 9, desired: { active: true } },
      { id: 'late', createdAt: NOW + 1, desired: { active: false, displayName: 'ÉLAN', [urn]: { z: 1 } } },
      { id: 'b', desired: { active: true } },
      { id: 'a', desired: { active: true } },
      { id: 'dead', createdAt: NOW - 5, deletedAt: NOW, desired: { active: true } },
    ],
    [
      { id: 'young', createdAt: NOW + 1 },
      { id: 'old', createdAt: NOW },
    ],
  );
  const database = await openEmbedded(directory, true);
  try {
    const { identities, groups } = provisioningStore(database);
    const ids = async (where: Parameters<typeof listQuery<'active' | 'displayName'>>[0]) => {
      const { total, rows } = await identities.list('okta', listQuery(where), plainScan);
      expect(total).toBe(rows.length);
      return rows.map(({ id }) => id);
    };
    expect(await ids({ all: [] })).toEqual(['a', 'b', 'late', 'bare']);
    expect(await ids(fieldEquals('active', true))).toEqual(['a', 'b', 'bare']);
    expect(await ids(fieldEquals('active', false))).toEqual(['late']);
    expect(await ids(fieldEquals('displayName', 'élan'))).toEqual(['late']);
    expect((await identities.findView('okta', 'late'))?.extensions).toBe(JSON.stringify([urn]));
    // New identities come after the existing ones of their kind, and are counted.
    for (const identity of [person('new'), person('newBare', { desired: { userName: 'x', active: true } })]) {
      expect(await identities.commit('okta', [{ kind: 'insert', identity }])).toBe('done');
    }
    expect(await ids({ all: [] })).toEqual(['a', 'b', 'late', 'new', 'bare', 'newBare']);
    await groups.insert(team('newest'), []);
    const { rows } = await groups.list('okta', listQuery({ all: [] }), plainScan);
    expect(rows.map(({ id }) => id)).toEqual(['old', 'young', 'newest']);
  } finally {
    await database.close();
  }
});

test('more identities than one batch get their columns filled', async () => {
  const people = Array.from({ length: 1203 }, (_, at) => ({
    id: `p${at}`,
    desired: { active: at % 2 === 0 },
  }));
  await before(people, []);
  const database = await openEmbedded(directory, true);
  try {
    const { identities } = provisioningStore(database);
    const page = await identities.list('okta', listQuery(fieldEquals('active', true), 600, 10), plainScan);
    expect(page).toMatchObject({ total: 602, next: undefined });
    expect(page.rows).toHaveLength(2);
  } finally {
    await database.close();
  }
});

test('an interrupted migration leaves the database unchanged, and runs again at the next start', async () => {
  await before([{ id: 'a' }, { id: 'b' }], []);
  const raw = await openSqlite(join(directory, 'jetbridge.db'));
  // An index with the name of the last one that the migration creates makes it fail.
  raw.exec('create index scim_group_last_modified on scim_group (last_modified)');
  await expect(openEmbedded(directory, true)).rejects.toThrow('scim_group_last_modified');
  raw.exec('drop index scim_group_last_modified');
  raw.close();
  const database = await openEmbedded(directory, true);
  const { total } = await provisioningStore(database).identities.findPage('okta', 0, 10);
  expect(total).toBe(2);
  await database.close();
});

test('API keys from before they had ids get one each, and stay valid', async () => {
  await before([], []);
  const raw = await openSqlite(join(directory, 'jetbridge.db'));
  raw.exec(`
    insert into travel_resource (type, id, parent_id, created_at, seq, archived, doc) values ('user', 'u', '', 0, 1, 0, '{}');
    insert into travel_api_key (hash, name, user_type, user_id, created_at)
      values ('h1', 'first', 'user', 'u', ${NOW}), ('h2', 'second', 'user', 'u', ${NOW + 1})`);
  raw.close();
  const database = await openEmbedded(directory, true);
  try {
    const keys = apiKeys(database);
    const listed = await keys.list();
    expect(listed).toMatchObject([
      { name: 'first', userId: 'u', createdAt: NOW, lastUsedAt: undefined, revokedAt: undefined },
      { name: 'second', userId: 'u' },
    ]);
    const [first, second] = listed.map(({ id }) => id);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
    expect(await keys.findActive('h1')).toMatchObject({ id: first, userId: 'u' });
    expect(await keys.revoke(String(second), NOW)).toBe(true);
    expect([await keys.findActive('h1'), await keys.findActive('h2')]).toMatchObject([
      { id: first },
      undefined,
    ]);
  } finally {
    await database.close();
  }
});
