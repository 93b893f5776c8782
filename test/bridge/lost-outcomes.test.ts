import type { ScimResource } from '../../src/schema/resource.ts';
import { addressOf, type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';
import type { Call } from '../support/fake-travel.ts';
import {
  bare,
  begun,
  everything,
  faultsOf,
  project,
  rest,
  rolesOf,
  type Story,
  titleMapping,
  write,
  writeUnder,
} from '../support/unknown-calls.ts';

/** The process is killed at the next call, which is carried out or not; resolves when it is dead. */
async function killedAt(house: BridgeHouse, isIt: (call: Call) => boolean, work: () => Promise<unknown>) {
  let dying = () => {};
  const death = new Promise<void>((resolve) => {
    dying = resolve;
  });
  house.travel.trouble = async (call) => {
    if (!isIt(call)) return undefined;
    await house.restart();
    dying();
    return undefined;
  };
  await Promise.race([work(), death]);
  house.travel.trouble = () => undefined;
}

const changes: [string, ScimResource | undefined, ScimResource][] = [
  ['a create', undefined, everything],
  ['a change', bare(everything), everything],
  ['a role more', everything, { ...everything, ...rolesOf('organizer', 'guest') }],
];

const verbs = ['read', 'byEmail', 'patch', 'create'] as const;

test.each(
  changes.flatMap(([name, from, to]) =>
    [true, false].flatMap((isDone) => verbs.map((verb) => ({ name, from, to, isDone, verb }))),
  ),
)(
  '$name (carried out: $isDone) whose process is killed, and again at a $verb, is removed entirely',
  (given) =>
    inHouse(
      async (house) => {
        house.travel.known.customFields.push(project);
        const { from, to, isDone, verb } = given;
        const story: Story = from ? await begun(house, from) : { house, id: '', wish: null };
        const trouble = isDone ? 'lose' : ({ kind: 'unavailable', text: 'down' } as const);
        await writeUnder(story, { trouble, isKilled: true }, to);
        await killedAt(
          house,
          (call) => call.verb === verb,
          () => house.bridge.settleDue(),
        );
        await write(story, bare(everything));
        await rest(story);
        expect(await faultsOf(story)).toEqual([]);
      },
      { mapping: titleMapping },
    ),
);

test('what a tombstone had is removed though the process is killed while its traveler is taken over', () =>
  inHouse(
    async (house) => {
      const gone = await begun(house, everything);
      await write(gone, null);
      const story: Story = { house, id: '', wish: null };
      // Created under an address of their own, and then given the leaver's.
      const other = { ...bare(everything), userName: 'pia2', ...person('Pia2'), externalId: 'E1' };
      house.travel.trouble = ({ verb }) => (verb === 'create' ? { kind: 'forbidden' } : undefined);
      await write(story, { ...other, userName: 'pia2', externalId: 'E2' });
      house.travel.trouble = () => undefined;
      const isLinked = ({ verb }: Call) => verb === 'patch';
      const wish = { ...bare(everything), userName: 'pia2', externalId: 'E1' };
      let isAnswered = false;
      await killedAt(house, isLinked, async () => {
        await write(story, wish);
        isAnswered = true;
      });
      if (!isAnswered) house.clock.advance(800);
      await rest(story);
      expect(await faultsOf(story)).toEqual([]);
      expect((await house.traveler(story.id))?.email).toBe(addressOf('Pia'));
    },
    { mapping: titleMapping },
  ));
