import { Client } from 'pg';
import { eventually } from '../fixtures/eventually.ts';
import { type Replicas, replicasFixture } from '../fixtures/replicas.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const PEOPLE = 24;
const MINUTE_MS = 60_000;
/** The longest lease lasts 20 s, and a heartbeat finds the new clock within 5 s. Without that, people wait for ten minutes. */
const SOON_MS = 60_000;

let replicas: Replicas;
beforeAll(async () => {
  replicas = await replicasFixture();
});
afterAll(() => replicas.close());

/** Shadows the clock of the database for later connections. Returns a function that shifts it. */
async function shadowDatabaseClock(connectionString: string): Promise<(ms: number) => Promise<void>> {
  const run = async (text: string) => {
    const client = new Client({ connectionString });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  await run(`
    create schema clock;
    create table clock.shift as select 0::bigint as ms;
    create function clock.clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + (select ms from clock.shift) * interval ''1 millisecond''';
    alter database jetbridge set search_path = public, clock, pg_catalog`);
  return (ms) => run(`update clock.shift set ms = ${ms}`);
}

test('people whose replica dies are provisioned soon after a failover to a database whose clock is ten minutes behind', async () => {
  const { travel, token, database, start } = replicas;
  const shiftClock = await shadowDatabaseClock(database.url('jetbridge'));
  const [dying, living] = [await start(), await start()];
  travel.failCall = ({ method }) => (method === 'POST' ? { answer: 'hang' } : undefined);
  const { send } = scimClient(dying.url, token);
  const names = Array.from({ length: PEOPLE }, (_, n) => `p${n}@corp.example`);
  const created = names.map((userName) => send('POST', '/Users', { userName, name: { givenName: 'Ada' } }));
  expect((await Promise.all(created)).map(({ status }) => status)).toEqual(names.map(() => 201));
  dying.kill('SIGKILL');
  await dying.exited;
  await shiftClock(-10 * MINUTE_MS);
  travel.failCall = () => undefined;
  const provisioned = async () => {
    const emails = new Set(travel.travelers().map(({ email }) => email));
    const missing = names.filter((name) => !emails.has(name));
    const metrics = await (await fetch(`${living.url}/metrics`)).text();
    expect(metrics).not.toMatch(/^jetbridge_identities\{.*state="dirty"\} [1-9]/m);
    expect(missing).toEqual([]);
  };
  await eventually(provisioned, SOON_MS);
});
