import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, Migrator, SqliteDialect, sql } from 'kysely';
import { type Database, openEmbedded, openSqlite } from '../../src/store/database.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Tables } from '../../src/store/tables.ts';
import { travelStore } from '../../src/store/travel-writes.ts';
import { fieldEquals, listQuery, NOW, person, plainScan, traveler } from '../fixtures/store.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'jetbridge-migration-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** The case folding before the migration. */
const former = (text: string) => text.normalize('NFKC').toLowerCase();

interface Old {
  id: string;
  userName: string;
  displayName?: string;
  /** The email address of the desired state and of the traveler. */
  email?: string;
  creating?: string;
  /** The email address that a finding calls taken. */
  waitingFor?: string;
  manager?: string;
  createdAt?: number;
  deletedAt?: number;
}

const toText = JSON.stringify;

/** A database in the state before the migration. */
async function before(fill: (db: Kysely<Tables>) => Promise<void>): Promise<void> {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: await openSqlite(join(directory, 'jetbridge.db')) }),
  });
  await sql`pragma synchronous = off`.execute(db);
  const provider = { getMigrations: async () => migrations({ json: 'text', time: 'integer' }) };
  const { error } = await new Migrator({ db, provider }).migrateTo('0009-order-of-events');
  expect(error).toBeUndefined();
  await sql`insert into connection (id, account) values ('okta', 'acme')`.execute(db);
  for (const kind of ['live', 'dead', 'group'])
    await sql`insert into tally (connection_id, kind, count) values ('okta', ${kind}, 0)`.execute(db);
  await fill(db);
  await db.destroy();
}

async function addPerson(db: Kysely<Tables>, old: Old): Promise<void> {
  const { id, userName, displayName = null, email = `${id}@x`, creating = null, waitingFor, manager } = old;
  const desired = toText({ userName, displayName, active: true, emails: [{ value: email }] });
  const findings = toText(waitingFor === undefined ? [] : [{ code: 'emailTaken', value: waitingFor }]);
  const { createdAt = NOW, deletedAt = null } = old;
  const waiting = waitingFor === undefined ? null : former(former(waitingFor));
  await sql`
    insert into identity (connection_id, id, account, desired, user_name_key, display_name_key, incomplete, claimed, state,
      version, revision, rules_version, travel_id, applied, refused, observed, travel_email_key, creating, creating_key,
      waiting_for, findings, trace, attempts, next_attempt_at, created_at, last_modified, deleted_at, seen_at, position, active)
    values ('okta', ${id}, 'acme', ${desired}, ${former(userName)}, ${displayName && former(displayName)}, 0, 1, 'synced',
      1, 1, '', ${`t-${id}`}, '{}', '{}', ${toText(traveler(`t-${id}`, email))}, ${former(email)}, ${creating},
      ${creating && former(creating)}, ${waiting}, ${findings}, '[]', 0, 0, ${createdAt}, ${createdAt}, ${deletedAt}, 0,
      ${Math.floor(Math.random() * 1e9)}, 1)`.execute(db);
  await sql`insert into identity_email (connection_id, identity_id, email_key) values ('okta', ${id}, ${former(email)})`.execute(
    db,
  );
  if (manager !== undefined)
    await sql`
      insert into identity_reference (connection_id, identity_id, position, raw, raw_key)
      values ('okta', ${id}, 0, ${manager}, ${former(manager)})`.execute(db);
}

const addPeople = (people: Old[]) => async (db: Kysely<Tables>) => {
  for (const one of people) await addPerson(db, one);
};

async function addUser(db: Kysely<Tables>, { id, email, seq }: { id: string; email: string; seq: number }) {
  await sql`
    insert into travel_resource (type, id, parent_id, created_at, seq, archived, doc)
    values ('user', ${id}, '', ${NOW + seq}, ${seq}, 0, ${toText({ email, firstName: 'Zoë' })})`.execute(db);
  await sql`
    insert into travel_index (type, id, name, value, archived, seq, list)
    values ('user', ${id}, 'email', ${former(email)}, 0, ${seq}, 'sorted')`.execute(db);
  await sql`
    insert into travel_unique (type, name, value, id) values ('user', 'email', ${former(email)}, ${id})`.execute(
    db,
  );
}

async function opened(work: (database: Database) => Promise<void>): Promise<void> {
  const database = await openEmbedded(directory, true);
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

test('every case-insensitive value is found under the current case folding', async () => {
  const ligature = '\ufb01ona@corp.example';
  await before(
    addPeople([
      {
        ...{ id: 'a', userName: ligature, email: ligature, displayName: '\ufb01ona' },
        ...{ creating: ligature, manager: ligature },
      },
      { id: 'b', userName: 'E\u0301VA@corp.example', email: 'E\u0301VA@corp.example' },
    ]),
  );
  await opened(async (database) => {
    const { identities, references } = provisioningStore(database);
    const ids = async (by: 'userName' | 'email' | 'travelEmail', value: string) =>
      (await identities.find('okta', { by, value })).map(({ id }) => id);
    for (const by of ['userName', 'email', 'travelEmail'] as const) {
      expect(await ids(by, '\ufb01ONA@corp.example')).toEqual(['a']);
      expect(await ids(by, 'fiona@corp.example')).toEqual([]);
      expect(await ids(by, '\u00e9va@CORP.example')).toEqual(['b']);
    }
    const named = async (value: string) =>
      (await identities.list('okta', listQuery(fieldEquals('displayName', value)), plainScan)).rows.map(
        ({ id }) => id,
      );
    expect([await named('\ufb01ona'), await named('fiona')]).toEqual([['a'], []]);
    expect((await identities.findHolder('acme', { creating: ligature }))?.id).toBe('a');
    expect(await identities.findHolder('acme', { creating: 'fiona@corp.example' })).toBeUndefined();
    expect(await references.findReferrers('okta', 'x', [ligature])).toEqual(['a']);
    expect(await references.findReferrers('okta', 'x', ['fiona@corp.example'])).toEqual([]);
    const fiona = person('c', { desired: { userName: 'fiona@corp.example', active: true } });
    expect(await identities.commit('okta', [{ kind: 'insert', identity: fiona }])).toBe('done');
    const same = person('e', { desired: { userName: '\ufb01Ona@CORP.example', active: true } });
    expect(await identities.commit('okta', [{ kind: 'insert', identity: same }])).toBe('duplicate');
  });
});

test('an identity that waits for an address waits for its new key, and becomes dirty', async () => {
  await before(
    addPeople([
      { id: 'held', userName: 'held', email: 'fiona@corp.example' },
      { id: 'a', userName: 'a', waitingFor: '\ufb01ona@corp.example' },
      { id: 'b', userName: 'b', waitingFor: 'fiona@corp.example' },
      { id: 'c', userName: '\u00e9', waitingFor: 'fiona@corp.example' },
    ]),
  );
  await opened(async (database) => {
    const { identities } = provisioningStore(database);
    const states = [];
    for (const id of ['a', 'b', 'c']) {
      const { state, waitingFor, revision } = (await identities.findById('okta', id)) ?? {};
      states.push([state, waitingFor, revision]);
    }
    expect(states).toEqual([
      ['dirty', '\ufb01ona@corp.example', 2],
      ['synced', 'fiona@corp.example', 1],
      ['synced', 'fiona@corp.example', 1],
    ]);
  });
});

test('groups are found by their names, and a name that only the old folding made equal is free', async () => {
  await before(async (db) => {
    await sql`
      insert into scim_group (connection_id, id, attributes, display_name_key, version, created_at, last_modified, position)
      values ('okta', 'g', ${toText({ displayName: 'O\ufb03ce' })}, 'office', 1, ${NOW}, ${NOW}, 1)`.execute(
      db,
    );
  });
  await opened(async (database) => {
    const { groups } = provisioningStore(database);
    const named = async (value: string) =>
      (await groups.list('okta', listQuery(fieldEquals('displayName', value)), plainScan)).rows.map(
        ({ id }) => id,
      );
    expect([await named('o\ufb03CE'), await named('office')]).toEqual([['g'], []]);
  });
});

test('travel users are found and unique under the current case folding, and their lists keep exact totals', async () => {
  // In the old order between eve and guy, in the new one after zoe.
  const emails = ['ada', 'eve', '\ufb01ona', 'guy', 'zoe'].map((name) => `${name}@corp.example`);
  await before(async (db) => {
    for (const [index, email] of emails.entries())
      await addUser(db, { id: `u${index}`, email, seq: index + 1 });
    for (const [value, others] of [
      ['', 2],
      ['fiona@corp.example', 2],
      ['zoe@corp.example', 1],
    ])
      await sql`
        insert into travel_block (type, list, value, seq, others, archived)
        values ('user', 'email', ${value}, ${value === '' ? 0 : value === 'zoe@corp.example' ? 5 : 3}, ${others}, 0)`.execute(
        db,
      );
  });
  await opened(async (database) => {
    const reading = travelStore(database);
    const found = async (value: string) =>
      (await reading.find({ type: 'user', name: 'email', values: [value] })).map(({ id }) => id);
    expect([await found('\ufb01ona@corp.example'), await found('fiona@corp.example')]).toEqual([['u2'], []]);
    const taken = await database.db
      .selectFrom('travel_unique')
      .select(['id', 'value'])
      .orderBy('id')
      .execute();
    expect(taken).toEqual(emails.map((value, index) => ({ id: `u${index}`, value })));
    const blocks = await database.db
      .selectFrom('travel_block')
      .select(['value', 'others'])
      .orderBy('value')
      .execute();
    expect(blocks).toEqual([
      { value: '', others: 2 },
      // A block does not begin with a value that has left it.
      { value: 'guy@corp.example', others: 1 },
      { value: 'zoe@corp.example', others: 2 },
    ]);
  });
});

test('of two rows with the same new key, the older one gets the key, and both rows stay', async () => {
  // Equal after compatibility folding only: J with combining caron, and the precomposed letter.
  const [younger, elder] = ['\uff2a\u030can@corp.example', '\uff4a\u030can@corp.example'];
  expect(former(younger)).not.toBe(former(elder));
  await before(async (db) => {
    await addPerson(db, { id: 'younger', userName: younger, email: younger, createdAt: NOW + 1 });
    await addPerson(db, { id: 'elder', userName: elder, email: elder });
    await addPerson(db, { id: 'dead', userName: elder, email: 'd@x', deletedAt: NOW });
    await addUser(db, { id: 'u2', email: younger, seq: 2 });
    await addUser(db, { id: 'u1', email: elder, seq: 1 });
  });
  await opened(async (database) => {
    const { identities } = provisioningStore(database);
    const ids = (await identities.find('okta', { by: 'userName', value: younger })).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(['dead', 'elder']);
    expect((await identities.findById('okta', 'younger'))?.desired.userName).toBe(younger);
    const unique = await database.db
      .selectFrom('travel_unique')
      .select('id')
      .where('value', '=', elder)
      .execute();
    expect(unique).toEqual([{ id: 'u1' }]);
    const both = await travelStore(database).find({ type: 'user', name: 'email', values: [elder] });
    expect(both.map(({ id }) => id)).toEqual(['u1', 'u2']);
  });
});

test('more identities than one batch get their new keys', async () => {
  const people = Array.from({ length: 1203 }, (_, at) => ({ id: `p${at}`, userName: `\uff21${at}` }));
  await before(addPeople(people));
  await opened(async (database) => {
    const { identities } = provisioningStore(database);
    for (const at of [0, 499, 500, 1202])
      expect(await identities.find('okta', { by: 'userName', value: `\uff41${at}` })).toHaveLength(1);
  });
});
