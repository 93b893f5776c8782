import type { ScimResource } from '../../src/schema/resource.ts';
import { type EveryCallContext, type EveryCallScenario, failEveryCall } from '../fixtures/every-call.ts';
import { addressOf, emailsOf, person } from '../fixtures/provisioning.ts';

const names = ['Ada', 'Bob', 'Cy', 'Di'];

/** The kinds of userName: the old address itself, no address at all, or a separate address. */
const userNames: Record<string, (name: string) => ScimResource> = {
  'their old addresses': () => ({}),
  'no addresses': (name) => ({ userName: name.toLowerCase() }),
  'free addresses': (name) => ({ userName: `${name.toLowerCase()}@login.example` }),
};

/** Each of the people takes the address of the next one. */
function rotation(count: number, naming: string): EveryCallScenario {
  const people = names.slice(0, count);
  return {
    run: async (stage) => {
      const { fixture } = stage;
      const { id: connection } = fixture.connection;
      const ids: string[] = [];
      for (const name of people)
        ids.push((await fixture.bridge.users.create(connection, person(name, userNames[naming]?.(name)))).id);
      stage.begin();
      for (const [index, id] of ids.entries()) {
        const next = addressOf(people[(index + 1) % count] ?? '');
        await stage.write(() => fixture.patch(id, emailsOf(next)));
      }
      await stage.rest();
      await expectAllAsWanted(stage, ids);
    },
  };
}

async function expectAllAsWanted({ fixture }: EveryCallContext, ids: string[]): Promise<void> {
  const ends = await Promise.all(
    ids.map(async (id) => {
      const { state, findings, desired } = await fixture.identity(id);
      const traveler = await fixture.traveler(id);
      return { state, findings, email: traveler?.email, wanted: desired.emails };
    }),
  );
  expect(ends).toEqual(
    ends.map(({ wanted }) => ({
      state: 'synced',
      findings: [],
      wanted,
      email: (wanted as { value: string }[])[0]?.value, // As `emailsOf` makes them.
    })),
  );
}

/** The runs for four people take as long as the others together: they belong to `npm run test:all`. */
const counts = process.env['JETBRIDGE_TEST_RING'] === 'all' ? [2, 3, 4] : [2, 3];

describe.each(Object.keys(userNames))('with userNames that are %s', (naming) => {
  test.each(counts)(
    'the addresses of %d people rotate, whichever call fails',
    async (count) => {
      expect(await failEveryCall(rotation(count, naming))).toBeGreaterThan(8 * count);
    },
    120_000,
  );
});
