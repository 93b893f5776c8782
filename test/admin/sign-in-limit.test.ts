import { setMaxListeners } from 'node:events';
import { hashPassword } from '../../src/admin/sign-in/passwords.ts';
import { createSignInLimit } from '../../src/admin/sign-in/sign-in-limit.ts';
import { signInFailures } from '../../src/store/credentials/sign-in-failures.ts';
import { clock } from '../fixtures/clock.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-sign-in-');
/** Hashes that take no time. */
const passwordCosts = { N: 2, r: 1, p: 1 };

/** Processes that share a database, and the waits of their refusals, which end at once. */
async function processes(count: number) {
  const database = await databases.open();
  const time = clock();
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(ms / 1000);
  };
  const start = () =>
    createSignInLimit({
      failures: signInFailures(database),
      passwordCosts,
      clock: { now: time.now, wait },
      signal: new AbortController().signal,
    });
  return { database, time, waits, limits: Array.from({ length: count }, start) };
}

test('each refusal for a name waits twice as long as the one before, at most thirty seconds, wherever it comes from', async () => {
  const { limits, waits } = await processes(2);
  for (let attempt = 0; attempt < 8; attempt += 1)
    await limits[attempt % 2]?.delayRefusal({
      name: attempt < 4 ? 'Ada' : 'ADA',
      address: `10.0.0.${attempt}`,
    });
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
});

test('the count of a name begins again after a quarter of an hour without a refusal', async () => {
  const { limits, waits, time } = await processes(1);
  for (const minutes of [0, 15, 16]) {
    time.advance(minutes * 60_000);
    await limits[0]?.delayRefusal({ name: 'ada', address: '10.0.0.1' });
  }
  expect(waits).toEqual([1, 2, 1]);
});

test('names that no account has are counted too, in a table that does not grow with them', async () => {
  const { limits, waits, database } = await processes(1);
  for (let number = 0; number < 1_100; number += 1)
    await limits[0]?.delayRefusal({ name: `stranger ${number}`, address: '10.0.0.1' });
  const { rows } = await database.db
    .selectFrom('sign_in_failure')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  expect(Number(rows)).toBeLessThanOrEqual(1_024);
  expect(Math.max(...waits)).toBeGreaterThan(1);
});

test('beyond twenty answers to one network, and two hundred in all, a refusal is answered 429 at once', async () => {
  const time = clock();
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  const limit = createSignInLimit({
    failures: { count: async () => 1 },
    passwordCosts,
    clock: time,
    signal: end.signal,
  });
  const refuse = (address: string) => limit.delayRefusal({ name: 'ada', address });
  const waiting = Array.from({ length: 20 }, (_, host) => refuse(`2001:db8::${host + 1}`));
  await expect(refuse('2001:db8::ffff')).rejects.toMatchObject({ code: 'tooManyAttempts', retryAfterS: 1 });
  for (let host = 1; host <= 180; host += 1) waiting.push(refuse(`10.0.0.${host}`));
  await expect(refuse('10.0.1.1')).rejects.toMatchObject({ code: 'tooManyAttempts' });
  end.abort();
  await Promise.all(waiting);
});

test('a flood from hundreds of networks does not refuse a right password from a network that has sent one before', async () => {
  const { limits } = await processes(1);
  const [limit] = limits;
  const right = await hashPassword('the password of Ada', passwordCosts);
  const ada = () =>
    limit?.verify({ name: 'ada', address: '10.0.0.1' }, 'the password of Ada', right).catch(String);
  expect(await ada()).toBe(true);
  // Checked in no time, but not before all of them wait.
  const cheap = 'scrypt$2$1$1$AAAA$AAAA';
  const flood = (company: number) =>
    Array.from({ length: 300 }, (_, network) => {
      const address = `2001:db8:${company}:${network}::1`;
      return limit?.verify({ name: 'ada', address }, 'a guess', cheap).catch(String);
    });
  const before = flood(1);
  const answer = ada();
  await Promise.all([...before, ...flood(2)]);
  expect(await answer).toBe(true);
});
