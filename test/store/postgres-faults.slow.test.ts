import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { openPostgres } from '../../src/store/sql/postgres.ts';
import { DatabaseFault } from '../../src/store/sql/postgres-faults.ts';
import { runJetbridge } from '../fixtures/jetbridge.ts';
import {
  type PostgresAdministration,
  startAdministeredPostgres,
} from '../fixtures/postgres-administration.ts';
import { KEY } from '../fixtures/test-database.ts';

let server: PostgresAdministration;
beforeAll(async () => {
  server = await startAdministeredPostgres();
});
afterAll(() => server.close());

let closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing) close();
  closing = [];
});

/** Runs the server of the built program on a database until it ends. */
const serve = (url: string) => runJetbridge(['serve'], { DATABASE_URL: url, JETBRIDGE_KEY: KEY, PORT: '0' });

const withoutPassword = (url: string) => Object.assign(new URL(url), { password: '' }).href;

const PLACE = /postgres:\/\/\w+@127\.0\.0\.1:\d+\/\w+/;

test.each([
  [
    'a password that the server refuses',
    (name: string) => server.urlFor('postgres', name),
    /password authentication failed for user "postgres"\. Correct the user and the password in DATABASE_URL\.$/,
  ],
  [
    'a user that the server does not know',
    (name: string) => server.urlFor('nobody', name),
    /password authentication failed for user "nobody"\. Correct the user and the password in DATABASE_URL\.$/,
  ],
  [
    'a database that does not exist',
    () => server.url('missing'),
    /database "missing" does not exist\. Create the database, or correct DATABASE_URL\.$/,
  ],
  [
    'a server that does not run',
    () => Object.assign(new URL(server.url('postgres')), { port: '1' }).href,
    /connect ECONNREFUSED 127\.0\.0\.1:1\. Start its server, or correct DATABASE_URL\.$/,
  ],
  [
    'a server without TLS',
    (name: string) => `${server.url(name)}?sslmode=verify-full`,
    /The server does not support SSL connections\. Turn TLS on at the server, or give sslmode=disable in DATABASE_URL if the network itself is safe\.$/,
  ],
  [
    'a user who may not create tables',
    async (name: string) => {
      await server.administer(name, "create role guest login password 'secret'");
      return server.urlFor('guest', name);
    },
    /permission denied for schema public\. Give the user the right to create tables in the schema, or let it own the database\.$/,
  ],
  [
    'a user who may not connect to the database',
    async (name: string) => {
      await server.administer(name, "create role stranger login password 'secret'");
      await server.administer(name, `revoke connect on database ${name} from public`);
      return server.urlFor('stranger', name);
    },
    /permission denied for database "\w+"\. Give the user the right to connect to the database, or correct DATABASE_URL\.$/,
  ],
  [
    'a database that cannot store the names of all people',
    async (name: string) => {
      await server.administer('postgres', `drop database ${name}`);
      const latin = "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0";
      await server.administer('postgres', `create database ${name} ${latin}`);
      return server.url(name);
    },
    /its encoding is LATIN1\. Create it with the encoding UTF8, or correct DATABASE_URL\.$/,
  ],
  [
    'a server that may only be read',
    async (name: string) => {
      await server.administer('postgres', `alter database ${name} set default_transaction_read_only = on`);
      return server.url(name);
    },
    /cannot execute CREATE TABLE in a read-only transaction\. Let DATABASE_URL lead to the primary server\.$/,
  ],
])('%s is one line without the password, and nothing is created', async (_title, urlOf, text) => {
  const name = await server.newDatabase();
  const error = await openPostgres(await urlOf(name)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DatabaseFault);
  const { message } = error as DatabaseFault;
  expect(message).toMatch(text);
  expect(message).toMatch(PLACE);
  expect(message).toMatch(/^The database [^\n]*$/);
  expect(message).not.toMatch(/secret|the-password/);
  expect(await server.tablesOf(name)).toEqual([]);
});

test('a URL without a password, on a server that asks for one, ends the start at once with a line that shows a right URL', async () => {
  const url = withoutPassword(server.url('postgres'));
  const began = performance.now();
  const { code, out, err } = await serve(url);
  const { host } = new URL(url);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toBe(
    `The database postgres://postgres@${host}/postgres cannot be used: the server asks for a password, and DATABASE_URL has none. ` +
      `Give e.g. postgres://postgres:password@${host}/postgres.\n`,
  );
  // The server itself would close the connection after 60 s.
  expect(performance.now() - began).toBeLessThan(30_000);
});

/** The messages of a server that asks for a password: by SCRAM, as MD5 and in plain text (PostgreSQL, "Message Formats"). */
const passwordRequests = {
  scram: authentication(10, 'SCRAM-SHA-256\0\0'),
  md5: authentication(5, 'salt'),
  plain: authentication(3, ''),
};

function authentication(kind: number, rest: string): Buffer {
  const message = Buffer.alloc(9);
  message.write('R');
  message.writeInt32BE(8 + rest.length, 1);
  message.writeInt32BE(kind, 5);
  return Buffer.concat([message, Buffer.from(rest)]);
}

function errorMessage(code: string, text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${text}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

/** Starts a TCP server that never closes a connection itself. `answer` gets each piece that a client sends. */
async function startListener(answer: (socket: Socket, piece: number) => void) {
  const clients: Socket[] = [];
  const listener = createServer({ allowHalfOpen: true }, (socket) => {
    clients.push(socket.on('error', () => {}));
    let pieces = 0;
    socket.on('data', () => {
      pieces += 1;
      answer(socket, pieces);
    });
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    for (const client of clients) client.destroy();
    listener.close();
  });
  const address = listener.address();
  return { port: typeof address === 'object' && address ? address.port : 0, clients };
}

test.each([
  ['a password by SCRAM', '', passwordRequests.scram],
  ['a password as MD5', '', passwordRequests.md5],
  ['a password in plain text', '', passwordRequests.plain],
  ['nothing, because it has no TLS', '?sslmode=verify-full', Buffer.from('N')],
  ['nothing, because it is no PostgreSQL', '?sslmode=verify-full', Buffer.from('HTTP/1.1 400\r\n\r\n')],
])(
  'the connection to a server that asks for %s is closed, though the server keeps it open',
  async (_title, parameters, first) => {
    const listener = await startListener((socket, piece) => {
      // SCRAM: the nonce and the salt follow the first message of the client.
      if (piece === 1) socket.write(first);
      else if (first === passwordRequests.scram) socket.write(authentication(11, 'r=none,s=c2FsdA==,i=4096'));
      else socket.write(errorMessage('28P01', 'password authentication failed for user "jb"'));
    });
    const place = `127.0.0.1:${listener.port}/jb`;
    const opening = openPostgres(`postgres://jb@${place}${parameters}`);
    await expect(opening).rejects.toThrow(DatabaseFault);
    if (parameters === '') {
      await expect(opening).rejects.toThrow('the server asks for a password, and DATABASE_URL has none.');
      await expect(opening).rejects.toThrow(`Give e.g. postgres://jb:password@${place}.`);
    }
    for (const client of listener.clients) if (!client.readableEnded) await once(client, 'end');
    expect(listener.clients).toHaveLength(1);
  },
);

const foreign: [title: string, statements: string[]][] = [
  ['a table that Jetbridge would have too', ['create table connection (id integer)']],
  ['any other table', ['create table trips (id integer)']],
  ['a view', ['create view trips as select 1']],
  [
    'a list of migrations of its own',
    ['create table kysely_migration (name text)', "insert into kysely_migration values ('2026_trips')"],
  ],
  [
    'a table, beside the tables of the migrator that an earlier start has left behind',
    [
      'create table kysely_migration (name text)',
      'create table kysely_migration_lock (id text, is_locked integer)',
      'create table connection (id integer)',
    ],
  ],
];

test.each(foreign)(
  'a database in which another program has made %s ends the start with one line, and nothing is created',
  async (_title, statements) => {
    const name = await server.newDatabase();
    await server.administer(name, ...statements);
    const before = await server.tablesOf(name);
    const { code, out, err } = await serve(server.url(name));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^postgres:\/\/postgres@127\.0\.0\.1:\d+\/\w+ contains tables that are not of Jetbridge\. Point DATABASE_URL at an empty database\.\n$/,
    );
    expect(await server.tablesOf(name)).toEqual(before);
  },
);

test('tables of an extension or of another schema do not matter', async () => {
  const name = await server.newDatabase();
  await server.administer(
    name,
    'create extension pg_stat_statements',
    'create schema other',
    'create table other.connection (id integer)',
    'create table other.kysely_migration (name text)',
    'create table other.kysely_migration_lock (id text)',
  );
  await (await openPostgres(server.url(name))).close();
  expect(await server.tablesOf(name)).toContain('write_probe');
});

test('a database that becomes read-only, as after a failover, ends the start and fails the doctor with its URL and what to do', async () => {
  const name = await server.newDatabase();
  await (await openPostgres(server.url(name))).close();
  await server.administer('postgres', `alter database ${name} set default_transaction_read_only = on`);
  const text =
    /The database postgres:\/\/postgres@127\.0\.0\.1:\d+\/\w+ cannot be used: cannot execute \w+ in a read-only transaction\. Let DATABASE_URL lead to the primary server\./;
  const started = await serve(server.url(name));
  // Standard output has the line of the log about failed writes.
  expect(started.code).toBe(1);
  expect(started.err).toMatch(new RegExp(`^${text.source}\\n$`));
  const examined = await runJetbridge(['doctor'], { DATABASE_URL: server.url(name), JETBRIDGE_KEY: KEY });
  expect(examined.code).toBe(1);
  const again = 'Then run this again: checks that need it were left out\\.';
  expect(examined.out).toMatch(new RegExp(`^fault {4}database: ${text.source} ${again}\\n`));
});

test('a user without rights on the tables of another user is told so', async () => {
  const name = await server.newDatabase();
  await (await openPostgres(server.url(name))).close();
  await server.administer(name, "create role reader login password 'secret'");
  await expect(openPostgres(server.urlFor('reader', name))).rejects.toThrow(
    'permission denied for table kysely_migration. Let DATABASE_URL name the user that owns the tables, or give this one all rights on them.',
  );
});

test('a database that accepts no connections is told with what to do', async () => {
  const name = await server.newDatabase();
  await server.administer('postgres', `alter database ${name} allow_connections false`);
  await expect(openPostgres(server.url(name))).rejects.toThrow(
    `database "${name}" is not currently accepting connections. Let the database accept connections, or correct DATABASE_URL.`,
  );
});

test('a port with the digits of an error code does not choose the remedy', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:53300'), { code: 'ECONNREFUSED' });
  expect(new DatabaseFault('postgres://127.0.0.1:53300/jb', refused).message).toMatch(
    /53300\. Start its server, or correct DATABASE_URL\.$/,
  );
});
