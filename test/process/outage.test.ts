import { eventually } from '../support/eventually.ts';
import type { Fate, FaultyProxy } from '../support/faulty-proxy.ts';
import { inProcessHouse, kill } from '../support/process-house.ts';
import { type Person, type RememberingIdp, stranger, wishFor } from '../support/remembering-idp.ts';

/** Starting processes takes long on a busy machine; what goes wrong is told by what was waited for, long before. */
jest.setTimeout(120_000);

/** How it begins, and how it ends. */
interface Trouble {
  begin(proxy: FaultyProxy): unknown;
  end(proxy: FaultyProxy): unknown;
}

function every(fate: Fate): Trouble {
  return { begin: (proxy) => proxy.decide(() => fate), end: (proxy) => proxy.decide(() => 'pass') };
}

const hanging: Trouble = {
  begin: (proxy) => proxy.decide(() => 'hang'),
  end: (proxy) => {
    // An answer that came while this was held did not wait for it.
    expect(proxy.held()).toBeGreaterThan(0);
    proxy.decide(() => 'pass');
    proxy.release();
  },
};

/** Those that end alike share a house, one after the other: starting processes is what takes the time. */
const troubles: [string, Trouble[]][] = [
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
  it.each(troubles)('%s delays what is written, and loses and doubles nothing', (_, several) =>
    inProcessHouse('split', async (house) => {
      const bridge = await house.startBridge();
      const people: Person[] = [];
      for (const [index, trouble] of several.entries()) {
        const newcomers = [
          stranger(`ada${index}`),
          stranger(`bob${index}`),
          stranger(`eve${index}`),
        ] as const;
        people.push(...newcomers);
        await live(house.proxy, bridge.idp, { trouble, newcomers });
        await house.agree(bridge, people);
      }
    }),
  );

  it('is of another kind, and fails in several ways, delays what is written, and loses and doubles nothing', () =>
    inProcessHouse('other', async (house) => {
      const bridge = await house.startBridge();
      const people: Person[] = [];
      for (const [index, trouble] of [every('loseAnswer'), every({ status: 503 })].entries()) {
        const newcomers = [
          stranger(`ada${index}`),
          stranger(`bob${index}`),
          stranger(`eve${index}`),
        ] as const;
        people.push(...newcomers);
        await live(house.proxy, bridge.idp, { trouble, newcomers });
        await house.agree(bridge, people);
      }
      const { startAgain } = await house.killTravel();
      const late = stranger('late');
      people.push(late);
      await bridge.idp.send({ verb: 'hire', person: late, wish: wishFor(late, { department: 'Sales' }) });
      await startAgain();
      await house.agree(bridge, people);
    }));

  it('loses the answer to a create is asked who has the address, and gets no second create', () =>
    inProcessHouse('split', async (house) => {
      const ada = stranger('ada');
      const bridge = await house.startBridge();
      let creates = 0;
      house.proxy.decide(({ method, path }) => {
        if (method !== 'POST' || path !== '/api/users') return 'pass';
        creates += 1;
        return 'loseAnswer';
      });
      await bridge.idp.send({ verb: 'hire', person: ada, wish: wishFor(ada) });
      await house.agree(bridge, [ada]);
      expect(creates).toBe(1);
    }));

  it('hangs keeps none of 25 writers waiting', () =>
    inProcessHouse('split', async (house) => {
      const people = Array.from({ length: 25 }, (_, index) => stranger(`p${index}`));
      const bridge = await house.startBridge();
      house.proxy.decide(() => 'hang');
      const answers = await Promise.all(
        people.map((person) => bridge.idp.send({ verb: 'hire', person, wish: wishFor(person) })),
      );
      expect(new Set(answers)).toEqual(new Set(['acknowledged']));
      await hanging.end(house.proxy);
      await house.agree(bridge, people);
    }));

  it('is killed under writes, and comes back, has everybody once', () =>
    inProcessHouse('split', async (house) => {
      const people = Array.from({ length: 12 }, (_, index) => stranger(`p${index}`));
      const bridge = await house.startBridge();
      let creates = 0;
      const halfWay = new Promise<void>((resolve) => {
        house.proxy.decide(() => {
          creates += 1;
          if (creates === people.length) resolve();
          return 'pass';
        });
      });
      const writes = people.map((person) => bridge.idp.send({ verb: 'hire', person, wish: wishFor(person) }));
      await halfWay;
      const { startAgain } = await house.killTravel();
      expect(new Set(await Promise.all(writes))).toEqual(new Set(['acknowledged']));
      await startAgain();
      await house.agree(bridge, people);
    }));
});

it('a bridge that starts, is killed and starts again, all in an outage, has every write and delivers it once', () =>
  inProcessHouse('split', async (house) => {
    const people = [stranger('ada'), stranger('bob'), stranger('eve')] as const;
    const [ada, bob, eve] = people;
    await house.proxy.shut();
    const first = await house.startBridge();
    await first.idp.send({ verb: 'hire', person: ada, wish: wishFor(ada, { department: 'Sales' }) });
    await first.idp.send({ verb: 'hire', person: bob, wish: wishFor(bob) });
    await kill(first);
    const second = await house.startBridge();
    for (const person of people) await second.idp.recall(person);
    await second.idp.send({ verb: 'dismiss', person: bob, wish: 'gone' });
    await second.idp.send({ verb: 'hire', person: eve, wish: wishFor(eve) });
    await house.proxy.open();
    await house.agree(second, people);
  }));

it('on SIGTERM a running request is answered, the process ends with 0, and the next finds everything', () =>
  inProcessHouse('split', async (house) => {
    const ada = stranger('ada');
    const bridge = await house.serveBridge();
    house.proxy.decide(({ method }) => (method === 'GET' ? 'pass' : 'hang'));
    const answer = bridge.idp.send({ verb: 'hire', person: ada, wish: wishFor(ada) });
    await eventually(async () => expect(house.proxy.held()).toBe(1));
    bridge.kill('SIGTERM');
    expect(await answer).toBe('acknowledged');
    expect(await bridge.exited).toMatchObject({ code: 0, signal: null });
    house.proxy.decide(() => 'pass');
    await house.agree(await house.serveBridge(), [ada]);
  }));

/** Somebody is changed, somebody leaves and somebody joins while there is trouble; all of it is acknowledged. */
async function live(
  proxy: FaultyProxy,
  idp: RememberingIdp,
  { trouble, newcomers: [ada, bob, eve] }: { trouble: Trouble; newcomers: readonly [Person, Person, Person] },
): Promise<void> {
  await idp.send({ verb: 'hire', person: ada, wish: wishFor(ada) });
  await idp.send({ verb: 'hire', person: bob, wish: wishFor(bob) });
  await trouble.begin(proxy);
  const answers = await Promise.all([
    idp.send({ verb: 'patch', person: ada, wish: wishFor(ada, { department: 'Sales', active: false }) }),
    idp.send({ verb: 'dismiss', person: bob, wish: 'gone' }),
    idp.send({ verb: 'hire', person: eve, wish: wishFor(eve, { department: 'Legal' }) }),
  ]);
  expect(answers).toEqual(['acknowledged', 'acknowledged', 'acknowledged']);
  await trouble.end(proxy);
}
