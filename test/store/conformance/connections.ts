import { sql } from 'kysely';
import { exchangeStore } from '../../../src/log/exchange-store.ts';
import type { StoredExchange } from '../../../src/model/exchange.ts';
import { deleteConnection, ensureConnection, readStoredConnections } from '../../../src/store/connections.ts';
import { oauthAccessTokens, oauthClients, scimTokens } from '../../../src/store/credentials/credentials.ts';
import { replicas } from '../../../src/store/queues/replicas.ts';
import { reportedConditions } from '../../../src/store/queues/reported-conditions.ts';
import {
  createOf,
  fixture,
  importedIdentity,
  linkedOutcome,
  listQuery,
  NOW,
  type OpenDatabase,
  person,
  plainScan,
  team,
} from '../../fixtures/store.ts';

/** Conformance tests of connections, for any database. */
export function describeConnections(open: OpenDatabase): void {
  const exchange: StoredExchange = {
    direction: 'scim',
    connection: undefined,
    at: NOW,
    ms: 1,
    method: 'GET',
    path: '/scim/v2/Users',
    status: 200,
    requestHeaders: {},
    responseHeaders: {},
    person: undefined,
    requestId: undefined,
    error: undefined,
  };

  const okta = { connection: 'okta', now: NOW };

  /** A connection with users of every kind and all dependent records, and a second connection of the same account. */
  async function filled() {
    const one = await fixture(open);
    const { database, add, groups, holds, references, rules, tasks } = one;
    await add(
      person('ada', linkedOutcome('t1', 'ada@x')),
      person('bob', { state: 'pending', creating: createOf('bob@x') }),
      person('dead', { ...linkedOutcome('t2', 'dead@x'), deletedAt: NOW }),
      importedIdentity('unclaimed', 't3'),
      person('waiting', { connection: 'entra', state: 'synced', waitingFor: 'ada@x' }),
      person('other', { connection: 'entra', state: 'synced', waitingFor: 'else@x' }),
    );
    await references.save('okta', 'ada', [{ raw: 'bob', target: 'bob', travelId: undefined }]);
    const valve = { share: 0, minimum: 9, windowMs: 9 };
    await holds.admitDeparture('okta', 'ada', valve, NOW);
    const mapping = { generation: 1, edition: 1, digest: 'd', mapping: {}, lookups: undefined } as const;
    await rules.replace('okta', { ...mapping, source: 'file' }, NOW);
    await rules.propose('okta', {
      ...{ digest: 'p', edition: 1, mapping: {}, mappingDigest: 'm', collection: undefined },
      ...{ source: 'file', author: undefined, since: NOW, people: undefined },
    });
    await tasks.saveState('okta', 'import', {});
    const told = { connection: 'okta', kind: 'hold', subject: 'guarded', people: 1, since: NOW } as const;
    const reported = reportedConditions(database);
    await reported.open(told, NOW);
    const outage = { connection: 'okta', kind: 'travelOutage', since: NOW } as const;
    await reported.see(outage, NOW);
    await reported.clear({ ...outage, subject: '' }, NOW);
    await groups.insert(team('g'), [{ value: 'ada' }]);
    const ended = { group_id: 'g', user_id: 'dead', type: null, display: null };
    const { db } = database;
    await db
      .insertInto('deleted_member')
      .values({ account: 'acme', connection_id: 'okta', ...ended })
      .execute();
    const many = Array.from({ length: 1_001 }, (_, index) => ({ value: `m${index}` }));
    const named = {
      ...{ generation: 1, now: NOW },
      test: () => true,
      isNamed: () => true,
      isInScope: () => true,
    };
    await groups.insert(team('large'), many, named);
    await groups.insert(team('emptied'), [{ value: 'ada' }], named);
    await groups.change(team('emptied'), 1, 'delete', named);
    await groups.insert(team('h', { connection: 'entra' }), []);
    await exchangeStore(database).append([
      { ...exchange, connection: 'okta' },
      { ...exchange, connection: 'entra' },
    ]);
    const token = { name: 'n', createdAt: NOW, expiresAt: undefined };
    await scimTokens(database).create({ ...token, id: '1', hash: 'h1', connection: 'okta' });
    await scimTokens(database).create({ ...token, id: '2', hash: 'h2', connection: 'entra' });
    const client = { name: 'n', proof: { kind: 'secret', hash: 's' }, createdAt: NOW } as const;
    await oauthClients(database).add({ ...client, id: 'c1', grant: { kind: 'scim', connection: 'okta' } });
    await oauthAccessTokens(database).save(
      { hash: 'a1', holder: { clientId: 'c1' }, expiresAt: NOW + 9 },
      NOW,
    );
    const federated = { connection: 'okta', federation: 'f' };
    await oauthAccessTokens(database).save({ hash: 'a2', holder: federated, expiresAt: NOW + 9 }, NOW);
    return one;
  }

  /** The number of rows of a connection in each table that refers to connections. */
  async function rowsOf({ database: { db } }: Awaited<ReturnType<typeof fixture>>, connection: string) {
    const rows: Record<string, number> = {};
    for (const { name, columns } of await db.introspection.getTables()) {
      if (!columns.some((column) => column.name === 'connection_id')) continue;
      const { rows: found } = await sql<{ count: number }>`
        select count(*) as count from ${sql.table(name)} where connection_id = ${connection}`.execute(db);
      rows[name] = Number(found[0]?.count);
    }
    return rows;
  }

  /** The accounts under which the rows of a connection are stored. */
  async function accountsOf({ database: { db } }: Awaited<ReturnType<typeof fixture>>, connection: string) {
    const accounts = new Set<string>();
    for (const { name, columns } of await db.introspection.getTables()) {
      if (!['account', 'connection_id'].every((part) => columns.some(({ name }) => name === part))) continue;
      const { rows } = await sql<{ account: string }>`
        select account from ${sql.table(name)} where connection_id = ${connection}`.execute(db);
      for (const { account } of rows) accounts.add(account);
    }
    return [...accounts];
  }

  describe('connections', () => {
    it('are listed with the counts of their records', async () => {
      const { database } = await filled();
      const idle = { servers: 0, isInUse: false };
      expect(await readStoredConnections(database, NOW)).toEqual([
        { id: 'entra', account: 'acme', people: 2, tombstones: 0, groups: 1, linked: 0, ...idle },
        { id: 'okta', account: 'acme', people: 3, tombstones: 1, groups: 2, linked: 2, ...idle },
        { id: 'other', account: 'globex', people: 0, tombstones: 0, groups: 0, linked: 0, ...idle },
      ]);
    });

    it('are in use while a reconciler holds a lease', async () => {
      const { database, leases } = await filled();
      await leases.acquire('okta', 'ada', { token: 'k', ms: 9, now: NOW });
      const inUse = async (now: number) =>
        (await readStoredConnections(database, now)).flatMap(({ id, isInUse }) => (isInUse ? [id] : []));
      expect(await inUse(NOW)).toEqual(['okta']);
      expect(await inUse(NOW + 9)).toEqual([]);
    });

    it('that a live server serves are in use, and nothing of them is deleted', async () => {
      const store = await filled();
      const { database } = store;
      const before = await rowsOf(store, 'okta');
      const live = replicas(database);
      await live.heartbeat('a', { connections: ['entra', 'okta'], now: NOW });
      await live.heartbeat('b', { connections: ['okta'], now: NOW });
      const stored = async () =>
        (await readStoredConnections(database, NOW)).map(({ id, servers, isInUse }) => [
          id,
          servers,
          isInUse,
        ]);
      expect(await stored()).toEqual([
        ['entra', 1, true],
        ['okta', 2, true],
        ['other', 0, false],
      ]);
      expect(await deleteConnection(database, okta)).toBe('inUse');
      expect(await rowsOf(store, 'okta')).toEqual(before);
      await live.leave('a');
      expect(await deleteConnection(database, okta)).toBe('inUse');
      await live.leave('b');
      expect(await deleteConnection(database, okta)).toBe('done');
    });

    it('stay when a server begins to serve them meanwhile', async () => {
      const { database } = await filled();
      const end = await deleteConnection(database, okta, () =>
        replicas(database).heartbeat('a', { connections: ['okta'], now: NOW }),
      );
      expect(end).toBe('inUse');
      expect((await readStoredConnections(database, NOW)).map(({ id }) => id)).toContain('okta');
    });

    it('that are deleted leave no records, and the other connections are unchanged', async () => {
      const store = await filled();
      const { database, identities } = store;
      const before = await rowsOf(store, 'entra');
      expect(Object.entries(await rowsOf(store, 'okta')).filter(([, count]) => count === 0)).toEqual([]);
      const gone: number[] = [];
      expect(await deleteConnection(database, okta, (count) => gone.push(count))).toBe('done');
      expect(() => database.scopeOf('okta')).toThrow('There is no connection okta.');
      expect(gone).toEqual([4]);
      expect(Object.values(await rowsOf(store, 'okta')).every((count) => count === 0)).toBe(true);
      expect(await rowsOf(store, 'entra')).toEqual(before);
      expect((await readStoredConnections(database, NOW)).map(({ id }) => id)).toEqual(['entra', 'other']);
      expect(await scimTokens(database).findActive('h1', NOW)).toBeUndefined();
      expect(await scimTokens(database).findActive('h2', NOW)).toMatchObject({ connection: 'entra' });
      expect(await oauthAccessTokens(database).findActive('a1', NOW)).toBeUndefined();
      expect(await identities.findHolder('acme', { travelId: 't1' })).toBeUndefined();
    });

    it('that are deleted free their travelers for other connections of the account, and mark identities dirty that wait for an address', async () => {
      const { database, add, reconcileQueue, read } = await filled();
      const named = { state: 'pending', desired: { userName: 'ada@x' }, waitingFor: 'else@x' } as const;
      await add(person('named', { ...named, connection: 'entra' }));
      await deleteConnection(database, okta);
      await add(person('ada', { ...linkedOutcome('t1', 'ada@x'), connection: 'entra' }));
      const due = await reconcileQueue.findDue(NOW, 10, ['entra']);
      expect(due.map(({ id }) => id).sort()).toEqual(['named', 'waiting']);
      expect((await read('other', 'entra')).state).toBe('synced');
    });

    it('that move to another travel account take all their records with them', async () => {
      const store = await filled();
      const { database, identities, references, groups } = store;
      const before = { okta: await rowsOf(store, 'okta'), entra: await rowsOf(store, 'entra') };
      await ensureConnection(database, { id: 'okta', account: 'initech' });
      expect(await accountsOf(store, 'okta')).toEqual(['initech']);
      expect(await accountsOf(store, 'entra')).toEqual(['acme']);
      expect({ okta: await rowsOf(store, 'okta'), entra: await rowsOf(store, 'entra') }).toEqual(before);
      expect(database.scopeOf('okta')).toEqual({ account: 'initech', connection: 'okta' });
      expect(await identities.findById('okta', 'ada')).toMatchObject({ id: 'ada', travelId: 't1' });
      expect(await references.findReferrers('okta', 'bob', [])).toEqual(['ada']);
      expect((await groups.groupsOf('okta', ['ada'])).get('ada')).toMatchObject([{ value: 'g' }]);
      expect(await scimTokens(database).findActive('h1', NOW)).toMatchObject({ connection: 'okta' });
      expect(await oauthAccessTokens(database).findActive('a1', NOW)).toMatchObject({
        holder: { clientId: 'c1' },
      });
    });

    it('that are deleted can be created again, empty', async () => {
      const { database, add, identities } = await filled();
      await deleteConnection(database, okta);
      await ensureConnection(database, { id: 'okta', account: 'acme' });
      expect((await identities.list('okta', listQuery({ all: [] }), plainScan)).total).toBe(0);
      await add(person('ada'));
      expect((await identities.list('okta', listQuery({ all: [] }), plainScan)).total).toBe(1);
    });

    it('stay when a user is created in them meanwhile', async () => {
      const { database, add } = await filled();
      let late: Promise<void> | undefined;
      const end = await deleteConnection(database, okta, () => {
        late ??= add(person('late'));
        return late;
      });
      expect(end).toBe('inUse');
      expect((await readStoredConnections(database, NOW)).find(({ id }) => id === 'okta')).toMatchObject({
        people: 1,
        tombstones: 0,
        groups: 0,
      });
    });
  });
}

/** Conformance tests of connections with more users than one statement deletes, for any database. */
export function describeManyUsers(open: OpenDatabase): void {
  it('a connection of many users is deleted in batches', async () => {
    const { database, identities, groups } = await fixture(open);
    const people = Array.from({ length: 1_100 }, (_, at) => person(`p${at}`));
    const changes = people.map((identity) => ({ kind: 'insert', identity }) as const);
    expect(await identities.commit('okta', changes)).toBe('done');
    await groups.insert(
      team('g'),
      people.map(({ id }) => ({ value: id })),
    );
    const steps: number[] = [];
    await deleteConnection(database, { connection: 'okta', now: NOW }, (count) => steps.push(count));
    expect(steps).toEqual([500, 1_000, 1_100]);
    expect((await readStoredConnections(database, NOW)).map(({ id }) => id)).toEqual(['entra', 'other']);
  });
}
