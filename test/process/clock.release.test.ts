import { eventually } from '../fixtures/eventually.ts';
import { kill, type ProcessFixture, type RunningBridge, withProcessFixture } from '../fixtures/process.ts';
import { type IdpUser, newIdpUser, userStateOf } from '../fixtures/remembering-idp.ts';
import { createShiftedClock, type ShiftedClock } from '../fixtures/shifted-clock.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Exceeds every back-off after a few failures, also on a busy machine. Work that waited for the shifted clock would take a day. */
const SOON_MS = 25_000;

let clock: ShiftedClock;
beforeEach(() => {
  clock = createShiftedClock();
});
afterEach(() => clock.remove());

it('a wall clock that jumps by a day, forward and back, delays nobody, and is what IdPs read', () =>
  withProcessFixture(
    'split',
    async (fixture) => {
      const people: IdpUser[] = [];
      const bridge = await fixture.startBridge();
      for (const [round, byMs] of [DAY_MS, -DAY_MS].entries()) {
        const newcomers = ['ada', 'bob', 'eve', 'joe'].map((name) => newIdpUser(`${name}${round}`));
        const [ada, bob, eve, joe] = newcomers as [IdpUser, IdpUser, IdpUser, IdpUser];
        people.push(...newcomers);
        await hire(bridge, ada, bob);
        await fixture.expectAgreement(bridge, people);
        await fixture.proxy.shut();
        const renamed = userStateOf(ada, { givenName: 'Augusta' });
        await bridge.idp.send({ verb: 'patch', person: ada, wish: renamed });
        await bridge.idp.send({ verb: 'dismiss', person: bob, wish: 'gone' });
        await hire(bridge, eve);
        clock.shift(byMs);
        await hire(bridge, joe);
        await fixture.proxy.open();
        await expectAgreementSoon(fixture, bridge, people);
        const apart = (await createdAt(bridge, joe)) - (await createdAt(bridge, eve));
        expect(Math.abs(apart - byMs)).toBeLessThan(SOON_MS);
        clock.shift(0);
      }
    },
    clock.environment,
  ));

it.each([
  ['forward', DAY_MS],
  ['back', -DAY_MS],
])(
  'when the wall clock jumps %s by a day between two runs of the bridge, what was delayed in the first is done soon in the second',
  (_, byMs) =>
    withProcessFixture(
      'split',
      async (fixture) => {
        const people = ['ada', 'bob'].map(newIdpUser);
        const [ada, bob] = people as [IdpUser, IdpUser];
        const first = await fixture.startBridge();
        await hire(first, ada);
        await fixture.expectAgreement(first, [ada]);
        await fixture.proxy.shut();
        await first.idp.send({ verb: 'patch', person: ada, wish: userStateOf(ada, { active: false }) });
        await hire(first, bob);
        await waitForDirty(first, 2);
        await kill(first);
        clock.shift(byMs);
        await fixture.proxy.open();
        const second = await fixture.startBridge();
        await expectAgreementSoon(fixture, second, people);
      },
      clock.environment,
    ),
);

async function hire(bridge: RunningBridge, ...people: IdpUser[]): Promise<void> {
  for (const person of people) {
    expect(await bridge.idp.send({ verb: 'hire', person, wish: userStateOf(person) })).toBe('acknowledged');
  }
}

async function expectAgreementSoon(
  fixture: ProcessFixture,
  bridge: RunningBridge,
  people: IdpUser[],
): Promise<void> {
  const startedAt = performance.now();
  await fixture.expectAgreement(bridge, people);
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
}

/** Waits until this many people are dirty. */
async function waitForDirty({ url }: RunningBridge, count: number): Promise<void> {
  await eventually(async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`^jetbridge_identities\\{.*state="dirty"\\} ${count}$`, 'm'));
  });
}

async function createdAt({ url }: RunningBridge, { id }: IdpUser): Promise<number> {
  const headers = { authorization: 'Bearer the-token-of-the-identity-provider' };
  const user: unknown = await (await fetch(`${url}/scim/v2/Users/${id}`, { headers })).json();
  return Date.parse((user as { meta: { created: string } }).meta.created); // A SCIM user has a meta.
}
