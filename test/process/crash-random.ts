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
const ROUND_MS = 20_000;

/**
 * The bridge is killed at random instants under many writes at once, over and over on the same data
 * (docs/architecture.md, Promises).
 */
export function describeRandomCrashes(arrangement: Arrangement, rounds = ROUNDS): void {
  it(
    `killed at ${rounds} random instants (seed ${SEED}), it loses nothing and makes nobody twice`,
    () =>
      withoutSafetyValve((environment) =>
        withProcessFixture(
          arrangement,
          async (fixture) => {
            const random = seededRandom(SEED);
            const people = Array.from({ length: PEOPLE }, (_, index) => newIdpUser(`p${index}`));
            for (let round = 0; round < rounds; round += 1) {
              const bridge = await survivor(fixture, random);
              for (const person of people) await bridge.idp.recall(person);
              await dieAmongWrites(bridge, random, people);
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
async function withoutSafetyValve(story: (environment: Record<string, string>) => Promise<void>) {
  const settings = writeSettingsFile({}, { default: { policies: { safetyValve: false } } });
  try {
    await story({ JETBRIDGE_CONFIG: settings.path });
  } finally {
    settings.remove();
  }
}

/** Starts a bridge; sometimes an earlier process dies first while it resumes pending work. */
async function survivor(fixture: ProcessFixture, random: Random): Promise<RunningBridge> {
  if (random.below(4) > 0) return fixture.startBridge();
  const doomed = await fixture.startBridge({ point: 'any', passings: 1 + random.below(10) });
  await waitUntilSyncedOrDead(doomed);
  await kill(doomed);
  return fixture.startBridge();
}

/** The process kills itself at a crash point, or is killed after a number of answered writes. */
async function dieAmongWrites(bridge: RunningBridge, random: Random, people: IdpUser[]): Promise<void> {
  const writers = random.some(people, 10 + random.below(21));
  if (random.below(2) === 0)
    await bridge.crashAt({ point: 'any', passings: 1 + random.below(4 * writers.length) });
  let left = random.below(writers.length);
  const answered = () => {
    if (left === 0) bridge.kill('SIGKILL');
    left -= 1;
  };
  await Promise.all(writers.map((person) => bridge.idp.send(writeFor(person, random)).then(answered)));
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
