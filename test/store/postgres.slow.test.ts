import { connect, createServer, type Server, type Socket } from 'node:net';
import { sql } from 'kysely';
import { StoreUnavailable } from '../../src/model/unavailable.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { UnknownSchema } from '../../src/store/sql/migrate.ts';
import { openPostgres } from '../../src/store/sql/postgres.ts';
import {
  type PostgresAdministration,
  startAdministeredPostgres,
} from '../fixtures/postgres-administration.ts';
import { importedIdentity, NOW } from '../fixtures/store.ts';

let server: PostgresAdministration;
beforeAll(async () => {
  server = await startAdministeredPostgres();
});
afterAll(() => server.close());

let closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function open(url: string, options?: Parameters<typeof openPostgres>[1]): Promise<Database> {
  const database = await openPostgres(url, options);
  closing.push(() => database.close());
  return database;
}

test.each([
  ['a newer version of Jetbridge', "insert into kysely_migration (name, timestamp) values ('0002-next', '')"],
  [
    'a build of Jetbridge before its first release',
    "update kysely_migration set name = '0001-bridge' where name like '0001%'",
  ],
])('the schema of %s is refused and stays as it is', async (version, statement) => {
  const name = await server.newDatabase();
  await (await openPostgres(server.url(name))).close();
  await server.administer(name, statement);
  const before = await server.tablesOf(name);
  const opening = openPostgres(server.url(name));
  await expect(opening).rejects.toThrow(UnknownSchema);
  await expect(opening).rejects.toThrow(`was written by ${version}`);
  await expect(opening).rejects.toThrow('DATABASE_URL');
  await expect(opening).rejects.not.toThrow('the-password');
  expect(await server.tablesOf(name)).toEqual(before);
});

test('processes that start together migrate the database once', async () => {
  const url = server.url(await server.newDatabase());
  const all = await Promise.all(Array.from({ length: 8 }, () => open(url, { connections: 2 })));
  for (const { ping } of all) await ping();
});

test('a migration that fails leaves nothing behind but the tables of the migrator', async () => {
  const name = await server.newDatabase();
  // A type with the name of the last table that the migration creates makes it fail.
  await server.administer(name, 'create type audit_entry as (seq integer)');
  await expect(openPostgres(server.url(name))).rejects.toThrow(
    'relation "audit_entry" already exists. Point DATABASE_URL at an empty database.',
  );
  expect(await server.tablesOf(name)).toEqual(['kysely_migration', 'kysely_migration_lock']);
  await server.administer(name, 'drop type audit_entry');
  await (await open(server.url(name))).ping();
});

async function withConnections(...accounts: string[]): Promise<Database> {
  const database = await open(server.url(await server.newDatabase()));
  for (const id of accounts)
    await sql`insert into connection (id, account) values (${id}, 'none')`.execute(database.db);
  return database;
}

/** A promise that another part of a test resolves. */
function signal() {
  let give: () => void = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { give, given };
}

test('transactions that wait for each other are run again, and all of them take effect', async () => {
  const database = await withConnections('a', 'b');
  const both = [signal(), signal()];
  let runs = 0;
  const change = (order: string[], mine: number) =>
    database.transaction(async (tx) => {
      runs += 1;
      for (const id of order) {
        await sql`update connection set account = account || ${mine}::text where id = ${id}`.execute(tx);
        both[mine]?.give();
        await both[1 - mine]?.given;
      }
    });
  await Promise.all([change(['a', 'b'], 0), change(['b', 'a'], 1)]);
  expect(runs).toBeGreaterThan(2);
  const rows = await database.db.selectFrom('connection').select('account').execute();
  expect(rows.map(({ account }) => account)).toEqual([rows[0]?.account, rows[0]?.account]);
  expect(rows[0]?.account).toMatch(/^none(01|10)$/);
});

test('a transaction that ignores the failure of a statement is not committed', async () => {
  const database = await withConnections('a');
  const ignoring = database.transaction(async (tx) => {
    await sql`insert into connection (id, account) values ('b', 'none')`.execute(tx);
    await sql`insert into connection (id, account) values ('a', 'none')`.execute(tx).catch(() => {});
  });
  await expect(ignoring).rejects.toThrow('The transaction was rolled back');
  expect(await database.db.selectFrom('connection').select('id').execute()).toEqual([{ id: 'a' }]);
});

test('statements leave nothing prepared on a connection, which a pooler may give to another client', async () => {
  const database = await open(server.url(await server.newDatabase()), { connections: 1 });
  const read = (id: string) =>
    database.db.selectFrom('connection').selectAll().where('id', '=', id).execute();
  for (let uses = 0; uses < 20; uses += 1) await read(`a${uses}`);
  await sql`alter table connection add column note text`.execute(database.db);
  await database.transaction((tx) => tx.selectFrom('connection').selectAll().execute());
  expect(await read('a')).toEqual([]);
  expect((await sql`select name from pg_prepared_statements`.execute(database.db)).rows).toEqual([]);
});

test('only the commit of a transaction that is not durable does not wait for the disk', async () => {
  const database = await open(server.url(await server.newDatabase()), { connections: 1 });
  const show = sql<{ synchronous_commit: string }>`show synchronous_commit`;
  const modeOf = (rows: { synchronous_commit: string }[] = []) => rows[0]?.synchronous_commit;
  for (const durable of [true, false, true]) {
    const mode = durable ? 'on' : 'off';
    const { rows } = await database.transaction((tx) => show.execute(tx), { durable });
    expect(modeOf(rows)).toBe(mode);
    expect(modeOf((await show.execute(database.db)).rows)).toBe('on');
  }
});

/** Forwards connections to the server. `cutAt` closes a connection once the client has sent this text. */
async function cuttingProxy(): Promise<{
  url(database: string): string;
  cutAt(text: string | undefined): void;
}> {
  const port = Number(new URL(server.url('postgres')).port);
  const sockets = new Set<Socket>();
  let cut: string | undefined;
  const proxy: Server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
    client.on('data', (chunk) => {
      upstream.write(chunk);
      if (cut !== undefined && chunk.includes(cut)) client.destroy();
    });
    upstream.on('data', (chunk) => client.write(chunk));
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.end());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  const proxyPort = typeof address === 'object' && address ? address.port : 0;
  return {
    url: (database) => Object.assign(new URL(server.url(database)), { port: String(proxyPort) }).href,
    cutAt: (text) => {
      cut = text;
    },
  };
}

test.each(['begin', 'insert', 'commit'])(
  'a connection that is lost at "%s" is an unavailable store',
  async (at) => {
    const proxy = await cuttingProxy();
    const database = await open(proxy.url(await server.newDatabase()));
    const faults: string[] = [];
    database.onUnavailable(({ reason }) => faults.push(reason));
    const insert = () =>
      database.transaction(async (tx) => {
        await sql`insert into connection (id, account) values ('a', 'b') on conflict do nothing`.execute(tx);
      });
    proxy.cutAt(at);
    await expect(insert()).rejects.toThrow(StoreUnavailable);
    expect(new Set(faults)).toEqual(new Set(['the connection to the database was lost']));
    proxy.cutAt(undefined);
    await insert();
    expect(await database.db.selectFrom('connection').select('id').execute()).toEqual([{ id: 'a' }]);
  },
);

test.each(['SIGINT', 'SIGQUIT'] as const)(
  'a server that is stopped by %s and started again is used again',
  async (how) => {
    const database = await withConnections('a');
    await server.stop(how);
    await expect(database.ping()).rejects.toThrow(StoreUnavailable);
    await expect(database.probeWrite()).rejects.toThrow(StoreUnavailable);
    await server.start();
    await database.ping();
    await database.probeWrite();
    expect(await database.db.selectFrom('connection').select('id').execute()).toEqual([{ id: 'a' }]);
  },
);

test('a search for a text with a NUL character, which PostgreSQL refuses, finds nothing', async () => {
  const { db } = await withConnections('a');
  const found = db.selectFrom('connection').select('id').where('id', '=', 'a\0');
  expect(await found.execute()).toEqual([]);
});

test('a statement waits for a free connection, and is refused when none becomes free', async () => {
  const database = await open(server.url(await server.newDatabase()), { connections: 1 });
  const blocked = signal();
  const holding = database.transaction(async () => blocked.given);
  await expect(database.ping()).rejects.toThrow('timeout exceeded when trying to connect');
  const waiting = database.ping();
  blocked.give();
  await Promise.all([holding, waiting]);
});

test('an import of many travelers updates the statistics of the tables once', async () => {
  const name = await server.newDatabase();
  const database = await open(server.url(name));
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const store = provisioningStore(database);
  const rowsOf = async () => {
    const { rows } = await sql<{ rows: number }>`
      select reltuples::int as rows from pg_class where relname = 'identity'`.execute(database.db);
    return rows[0]?.rows;
  };
  const save = (first: number, count: number) =>
    store.imports.saveUnclaimed(
      Array.from({ length: count }, (_, index) => importedIdentity(`p${first + index}`, `t${first + index}`)),
      NOW,
    );
  await sql`alter table identity set (autovacuum_enabled = false)`.execute(database.db);
  await save(0, 400);
  expect(await rowsOf()).toBe(-1);
  await save(400, 100);
  expect(await rowsOf()).toBe(500);
  await save(500, 1_000);
  expect(await rowsOf()).toBe(500);
});
