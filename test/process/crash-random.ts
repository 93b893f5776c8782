import {
  type Arrangement,
  kill,
  type ProcessFixture,
  type RunningBridge,
  waitUntilSyncedOrDead,
  withProcessFixture,
} from '../fixtures/process.ts';
import {
  type IdpUser,
  newIdpUser,
  type UserState,
  userStateOf,
  type Write,
} from '../fixtures/remembering-idp.ts';
import { type Random, seededRandom } from '../fixtures/seeded.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

/** JETBRIDGE_CRASH_ROUNDS sets the number of rounds, and JETBRIDGE_CRASH_SEED another seed. */
const ROUNDS = Number(process.env['JETBRIDGE_CRASH_ROUNDS'] ?? 12);
const SEED = Number(process.env['JETBRIDGE_CRASH_SEED'] ?? 1);
const PEOPLE = 40;
const ROUND_MS = 60_000;

/** Kills the bridge again and again at random times during many writes, on the same data (docs/architecture.md, Promises). */
export function describeRandomCrashes(arrangement: Arrangement, rounds = ROUNDS): void {
  it(
    `killed at ${rounds} random times (seed ${SEED}), it loses no write and creates no traveler twice`,
    () =>
      withoutSafetyValve((environment) =>
        withProcessFixture(
          arrangement,
          async (fixture) => {
            const random = seededRandom(SEED);
            const people = Array.from({ length: PEOPLE }, (_, index) => newIdpUser(`p${index}`));
            for (let round = 0; round < rounds; round += 1) {
              const bridge = await startBridge(fixture, random);
              for (const person of people) await bridge.idp.recall(person);
              await crashDuringWrites(bridge, random, people);
            }
            await fixture.expectAgreement(await fixture.startBridge(), people);
          },
          environment,
        ),
      ),
    60_000 + rounds * ROUND_MS,
  );
}

/** Disables the safety valve, since more than half of the people leave at some time. */
async function withoutSafetyValve(run: (environment: Record<string, string>) => Promise<void>) {
  const settings = writeSettingsFile({}, { default: { policies: { safetyValve: false } } });
  try {
    await run({ JETBRIDGE_CONFIG: settings.path });
  } finally {
    settings.remove();
  }
}

/** Starts a bridge; sometimes an earlier process dies first while it resumes pending work. */
async function startBridge(fixture: ProcessFixture, random: Random): Promise<RunningBridge> {
  if (random.below(4) > 0) return fixture.startBridge();
  const killed = await fixture.startBridge({ point: 'any', passings: 1 + random.below(10) });
  await waitUntilSyncedOrDead(killed);
  await kill(killed);
  return fixture.startBridge();
}

/** Sends writes until the process kills itself at a crash point, or kills it after a random number of responses. */
async function crashDuringWrites(bridge: RunningBridge, random: Random, people: IdpUser[]): Promise<void> {
  const writers = random.some(people, 10 + random.below(21));
  if (random.below(2) === 0)
    await bridge.crashAt({ point: 'any', passings: 1 + random.below(4 * writers.length) });
  let answersLeft = random.below(writers.length);
  const countAnswer = () => {
    if (answersLeft === 0) bridge.kill('SIGKILL');
    answersLeft -= 1;
  };
  await Promise.all(writers.map((person) => bridge.idp.send(writeFor(person, random)).then(countAnswer)));
  await kill(bridge);
}

function writeFor(person: IdpUser, random: Random): Write {
  const wish = randomWish(person, random);
  if (person.acknowledged === 'gone') return { verb: 'hire', person, wish };
  if (random.below(4) === 0) return { verb: 'dismiss', person, wish: 'gone' };
  return { verb: random.pick(['patch', 'put']), person, wish };
}

function randomWish(person: IdpUser, random: Random): UserState {
  return userStateOf(person, {
    givenName: random.pick(['Ada', 'Grace', 'Edsger']),
    email: `${person.name}@${random.pick(['example.com', 'example.org'])}`,
    department: random.pick(['Sales', 'Legal', undefined]),
    active: random.below(4) > 0,
  });
}
