import { eventually } from '../fixtures/eventually.ts';
import type { FaultyProxy, ProxyAction } from '../fixtures/faulty-proxy.ts';
import { withProcessFixture } from '../fixtures/process.ts';
import { type IdpUser, newIdpUser, type RememberingIdp, userStateOf } from '../fixtures/remembering-idp.ts';

/** The functions that begin and end an outage at the proxy. */
interface Outage {
  begin(proxy: FaultyProxy): unknown;
  end(proxy: FaultyProxy): unknown;
}

function every(action: ProxyAction): Outage {
  return { begin: (proxy) => proxy.decide(() => action), end: (proxy) => proxy.decide(() => 'pass') };
}

const hanging: Outage = {
  begin: (proxy) => proxy.decide(() => 'hang'),
  end: (proxy) => {
    // The responses arrived while this call was still held, so they did not wait for it.
    expect(proxy.held()).toBeGreaterThan(0);
    proxy.decide(() => 'pass');
    proxy.release();
  },
};

/** Outages that end alike share a fixture, since starting processes takes most of the time. */
const outages: [string, Outage[]][] = [
  [
    'is down, resets connections or hangs',
    [{ begin: (proxy) => proxy.shut(), end: (proxy) => proxy.open() }, every('reset'), hanging],
  ],
  [
    'answers 503 or 429, with or without Retry-After,',
    [every({ status: 503 }), every({ status: 429 }), every({ status: 429, headers: { 'retry-after': '1' } })],
  ],
  [
    'carries out everything and loses its answers, or breaks off in them,',
    [every('loseAnswer'), every('halfAnswer')],
  ],
];

describe('a travel API that', () => {
  it.each(outages)('%s delays writes, and loses and duplicates nothing', (_, several) =>
    withProcessFixture('split', async (fixture) => {
      const bridge = await fixture.startBridge();
      const people: IdpUser[] = [];
      for (const [index, outage] of several.entries()) {
        const newcomers = [
          newIdpUser(`ada${index}`),
          newIdpUser(`bob${index}`),
          newIdpUser(`eve${index}`),
        ] as const;
        people.push(...newcomers);
        await writeDuringOutage(fixture.proxy, bridge.idp, { outage, newcomers });
        await fixture.expectAgreement(bridge, people);
      }
    }),
  );

  it('hangs delays none of 25 concurrent writers', () =>
    withProcessFixture('split', async (fixture) => {
      const people = Array.from({ length: 25 }, (_, index) => newIdpUser(`p${index}`));
      const bridge = await fixture.startBridge();
      fixture.proxy.decide(() => 'hang');
      const answers = await Promise.all(
        people.map((person) => bridge.idp.send({ verb: 'hire', person, wish: userStateOf(person) })),
      );
      expect(new Set(answers)).toEqual(new Set(['acknowledged']));
      await hanging.end(fixture.proxy);
      await fixture.expectAgreement(bridge, people);
    }));

  it('is killed during writes and restarts has every traveler once', () =>
    withProcessFixture('split', async (fixture) => {
      const people = Array.from({ length: 12 }, (_, index) => newIdpUser(`p${index}`));
      const bridge = await fixture.startBridge();
      let creates = 0;
      const halfWay = new Promise<void>((resolve) => {
        fixture.proxy.decide(() => {
          creates += 1;
          if (creates === people.length) resolve();
          return 'pass';
        });
      });
      const writes = people.map((person) =>
        bridge.idp.send({ verb: 'hire', person, wish: userStateOf(person) }),
      );
      await halfWay;
      const { startAgain } = await fixture.killTravel();
      expect(new Set(await Promise.all(writes))).toEqual(new Set(['acknowledged']));
      await startAgain();
      await fixture.expectAgreement(bridge, people);
    }));
});

it('on SIGTERM a running request is answered, the process exits with 0, and the next one has all data', () =>
  withProcessFixture('split', async (fixture) => {
    const ada = newIdpUser('ada');
    const bridge = await fixture.startBridge();
    fixture.proxy.decide(({ method }) => (method === 'GET' ? 'pass' : 'hang'));
    const answer = bridge.idp.send({ verb: 'hire', person: ada, wish: userStateOf(ada) });
    await eventually(async () => expect(fixture.proxy.held()).toBe(1));
    bridge.kill('SIGTERM');
    expect(await answer).toBe('acknowledged');
    expect(await bridge.exited).toMatchObject({ code: 0, signal: null });
    fixture.proxy.decide(() => 'pass');
    await fixture.expectAgreement(await fixture.startBridge(), [ada]);
  }));

/** Changes one user, deactivates one and creates one during the outage; all writes are acknowledged. */
async function writeDuringOutage(
  proxy: FaultyProxy,
  idp: RememberingIdp,
  { outage, newcomers: [ada, bob, eve] }: { outage: Outage; newcomers: readonly [IdpUser, IdpUser, IdpUser] },
): Promise<void> {
  await idp.send({ verb: 'hire', person: ada, wish: userStateOf(ada) });
  await idp.send({ verb: 'hire', person: bob, wish: userStateOf(bob) });
  await outage.begin(proxy);
  const answers = await Promise.all([
    idp.send({ verb: 'patch', person: ada, wish: userStateOf(ada, { department: 'Sales', active: false }) }),
    idp.send({ verb: 'dismiss', person: bob, wish: 'gone' }),
    idp.send({ verb: 'hire', person: eve, wish: userStateOf(eve, { department: 'Legal' }) }),
  ]);
  expect(answers).toEqual(['acknowledged', 'acknowledged', 'acknowledged']);
  await outage.end(proxy);
}
