import { setTimeout as delay } from 'node:timers/promises';
import { hashSecret } from '../../src/http/authentication.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import { scimTokens } from '../../src/store/credentials/credentials.ts';
import { openPostgres } from '../../src/store/sql/postgres.ts';
import { eventually } from '../fixtures/eventually.ts';
import {
  type IdpUser,
  newIdpUser,
  rememberingIdp,
  userStateOf,
  type Write,
} from '../fixtures/remembering-idp.ts';
import { type Replicas, type RoundRobinIdp, replicasFixture, roundRobinIdp } from '../fixtures/replicas.ts';
import { type Random, seededRandom } from '../fixtures/seeded.ts';
import type { ServerProcess } from '../fixtures/server-process.ts';

/** JETBRIDGE_REPLICAS_SECONDS sets how long replicas are killed, and JETBRIDGE_REPLICAS_SEED another seed. */
const SECONDS = Number(process.env['JETBRIDGE_REPLICAS_SECONDS'] ?? 12);
const SEED = Number(process.env['JETBRIDGE_REPLICAS_SEED'] ?? 1);
const REPLICAS = 3;
const KILL_EVERY_MS = 3_000;
/** 100 writes a second, if the machine is fast enough. */
const WRITE_EVERY_MS = 10;
/** The number of writes that wait for an answer at the same time. */
const MAX_OPEN = 100;

let fixture: Replicas;
beforeAll(async () => {
  fixture = await replicasFixture({ perSecond: 1_000, concurrency: 32 });
});
afterAll(() => fixture.close(), 60_000);

test(
  `after ${SECONDS} s of random writes, with one of three replicas killed every three seconds and the database once, every traveler is as the IdP wants (seed ${SEED})`,
  async () => {
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => fixture.start()));
    const idp = roundRobinIdp(() => replicas.map(({ url }) => url), fixture.token);
    const end = Date.now() + SECONDS * 1_000;
    const random = seededRandom(SEED);
    const writing = writeUntil(end, idp, random);
    await Promise.all([killUntil(end, replicas, random), restartDatabase()]);
    const people = await writing;
    expect(idp.faults).toEqual([]);
    expect([...idp.answers.keys()].filter((status) => !allowed.includes(status))).toEqual([]);
    await eventually(async () => expect(await openStates(replicas)).toEqual([]), 120_000);
    for (const [index, person] of people.entries()) {
      const { url = '' } = replicas[index % REPLICAS] ?? {};
      await rememberingIdp(url, fixture.token).recall(person);
    }
    expect(findViolations(people)).toEqual([]);
  },
  SECONDS * 1_000 + 300_000,
);

test('a revoked token is refused by every replica at once', async () => {
  const replicas = await Promise.all([fixture.start(), fixture.start()]);
  const database = await openPostgres(fixture.database.url('jetbridge'));
  const tokens = scimTokens(database);
  const row = { id: 't-1', name: 'okta', connection: 'default', createdAt: Date.now(), expiresAt: undefined };
  await tokens.create({ ...row, hash: hashSecret('a-second-token-of-the-provider') });
  const headers = { authorization: 'Bearer a-second-token-of-the-provider' };
  const statuses = () =>
    Promise.all(replicas.map(async ({ url }) => (await fetch(`${url}/scim/v2/Users`, { headers })).status));
  expect(await statuses()).toEqual([200, 200]);
  await tokens.revoke('t-1', Date.now());
  expect(await statuses()).toEqual([401, 401]);
  await database.close();
});

const allowed: (number | 'cut')[] = [200, 201, 204, 404, 409, 412, 503, 'cut'];

/** Sends writes at an even rate, one at a time for each person, and returns the people when all are acknowledged. */
async function writeUntil(end: number, idp: RoundRobinIdp, random: Random): Promise<IdpUser[]> {
  const people: IdpUser[] = [];
  const free: IdpUser[] = [];
  const open = new Set<Promise<void>>();
  while (Date.now() < end) {
    await delay(WRITE_EVERY_MS);
    if (open.size >= MAX_OPEN) continue;
    const write = nextWrite(people, free, random);
    const sent = idp.send(write).then(() => {
      open.delete(sent);
      free.push(write.person);
    });
    open.add(sent);
  }
  await Promise.all(open);
  return people;
}

/** Half of the writes create a person; the others change, delete or create again one who is not being written. */
function nextWrite(people: IdpUser[], free: IdpUser[], random: Random): Write {
  const person = random.below(2) === 0 ? free.splice(random.below(free.length), 1)[0] : undefined;
  if (!person) {
    const newcomer = newIdpUser(`p${people.length}`);
    people.push(newcomer);
    return { verb: 'hire', person: newcomer, wish: userStateOf(newcomer) };
  }
  const wish = userStateOf(person, {
    givenName: random.pick(['Ada', 'Grace', 'Edsger']),
    email: `${person.name}@${random.pick(['example.com', 'example.org'])}`,
    active: random.below(4) > 0,
  });
  if (person.acknowledged === 'gone') return { verb: 'hire', person, wish };
  if (random.below(4) === 0) return { verb: 'dismiss', person, wish: 'gone' };
  return { verb: random.pick(['patch', 'put']), person, wish };
}

/** Kills one replica after the other, and starts it again at once. */
async function killUntil(end: number, replicas: ServerProcess[], random: Random): Promise<void> {
  while (Date.now() + KILL_EVERY_MS < end) {
    await delay(KILL_EVERY_MS);
    const index = random.below(replicas.length);
    replicas[index]?.kill('SIGKILL');
    await replicas[index]?.exited;
    replicas[index] = await fixture.start();
  }
}

/** Ends the database as a crash does, in the middle of the test. */
async function restartDatabase(): Promise<void> {
  await delay((SECONDS * 1_000) / 2);
  await fixture.database.stop('SIGQUIT');
  await delay(500);
  await fixture.database.start();
}

/** Returns the metrics of identities that are not reconciled, from any replica: they count in the database. */
async function openStates([replica]: ServerProcess[]): Promise<string[]> {
  const metrics = await (await fetch(`${replica?.url}/metrics`)).text();
  const states = [...metrics.matchAll(/^jetbridge_identities\{.*state="(\w+)"\} (\d+)$/gm)];
  return states.filter(([, state, count]) => state !== 'synced' && count !== '0').map(([line]) => line);
}

/** Describes the people whose travelers are not as they want, and travelers of nobody. */
function findViolations(people: IdpUser[]): string[] {
  const byName = new Map<string, TravelUser[]>();
  for (const traveler of fixture.travel.travelers()) {
    const name = traveler.email.slice(0, traveler.email.indexOf('@'));
    byName.set(name, [...(byName.get(name) ?? []), traveler]);
  }
  const wrong = people.filter((person) => !areAsWanted(byName.get(person.name) ?? [], person.acknowledged));
  const names = new Set(people.map(({ name }) => name));
  return [
    ...wrong.map(({ name, acknowledged }) => JSON.stringify({ name, acknowledged, has: byName.get(name) })),
    // The traveler of the credential is nobody's.
    ...[...byName.keys()].filter((name) => !names.has(name)).slice(1),
  ];
}

/** One who left before the traveler was created has none. */
function areAsWanted(travelers: TravelUser[], wanted: IdpUser['acknowledged']): boolean {
  const [traveler, ...others] = travelers;
  if (others.length > 0) return false;
  if (wanted === 'gone') return traveler?.archived !== false;
  const { email, givenName, active } = wanted;
  return traveler?.email === email && traveler.firstName === givenName && traveler.archived === !active;
}
