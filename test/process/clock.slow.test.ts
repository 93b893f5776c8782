import { eventually } from '../fixtures/eventually.ts';
import { kill, type ProcessFixture, type RunningBridge, withProcessFixture } from '../fixtures/process.ts';
import { type IdpUser, newIdpUser, userStateOf } from '../fixtures/remembering-idp.ts';
import { createShiftedClock, type ShiftedClock } from '../fixtures/shifted-clock.ts';

/** Starting processes takes long on a busy machine. Failed expectations are reported earlier, because each wait has its own limit. */
const DAY_MS = 24 * 60 * 60_000;
/** Exceeds every back-off after a few failures, also on a busy machine. Work that waited for the shifted clock would take a day. */
const SOON_MS = 25_000;

let clock: ShiftedClock;
beforeEach(() => {
  clock = createShiftedClock();
});
afterEach(() => clock.remove());

const shifts = [
  ['forward', DAY_MS],
  ['back', -DAY_MS],
] as const;

describe.each(shifts)('when the wall clock jumps %s by a day', (_, byMs) => {
  it('during an outage of the travel API, people are provisioned soon after it ends', () =>
    withProcessFixture(
      'split',
      async (fixture) => {
        const people = ['ada', 'bob', 'eve', 'joe'].map(newIdpUser);
        const [ada, bob, eve, joe] = people as [IdpUser, IdpUser, IdpUser, IdpUser];
        const bridge = await fixture.startBridge();
        await hire(bridge, ada, bob);
        await fixture.expectAgreement(bridge, [ada, bob]);
        await fixture.proxy.shut();
        await bridge.idp.send({
          verb: 'patch',
          person: ada,
          wish: userStateOf(ada, { givenName: 'Augusta' }),
        });
        await bridge.idp.send({ verb: 'dismiss', person: bob, wish: 'gone' });
        await hire(bridge, eve);
        clock.shift(byMs);
        await hire(bridge, joe);
        await fixture.proxy.open();
        await expectAgreementSoon(fixture, bridge, people);
        clock.shift(0);
        await bridge.idp.send({
          verb: 'patch',
          person: joe,
          wish: userStateOf(joe, { department: 'Legal' }),
        });
        await expectAgreementSoon(fixture, bridge, people);
      },
      clock.environment,
    ));

  it('between two runs of the bridge, what was delayed in the first run is done soon in the second', () =>
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
    ));
});

it('times that IdPs read follow the wall clock', () =>
  withProcessFixture(
    'embedded',
    async (fixture) => {
      const [ada, bob] = [newIdpUser('ada'), newIdpUser('bob')];
      const bridge = await fixture.startBridge();
      await hire(bridge, ada);
      clock.shift(DAY_MS);
      await hire(bridge, bob);
      const [before = 0, after = 0] = [await createdAt(bridge, ada), await createdAt(bridge, bob)];
      expect(after - before).toBeGreaterThanOrEqual(DAY_MS);
      expect(after - before).toBeLessThan(DAY_MS + SOON_MS);
    },
    clock.environment,
  ));

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
