import type { ScimResource } from '../../src/schema/resource.ts';
import { type BridgeHouse, emailsOf, inHouse } from '../support/bridge-house.ts';
import { bare, begun, cityOf, everything, rolesOf, titleMapping, write } from '../support/unknown-calls.ts';

/** The calls that a write makes, without the reading of pages. */
async function callsOf(house: BridgeHouse, work: () => Promise<unknown>): Promise<string[]> {
  house.travel.calls.length = 0;
  await work();
  return house.travel.calls.map(({ verb }) => verb).filter((verb) => verb !== 'page');
}

function without(name: string): ScimResource {
  return Object.fromEntries(Object.entries(everything).filter(([key]) => key !== name));
}

const inactive = { ...everything, active: false };

const changes: [string, ScimResource, ScimResource | null, string[]][] = [
  ['nothing', everything, { ...everything }, []],
  ['what no rule reads', everything, { ...everything, nickName: 'P' }, []],
  ['a name', everything, { ...everything, name: { givenName: 'P', familyName: 'Q' } }, ['patch']],
  ['a language', everything, { ...everything, preferredLanguage: 'fr' }, ['patch']],
  ['the removal of a language', everything, without('preferredLanguage'), ['patch']],
  ['the removal of a phone number', everything, without('phoneNumbers'), ['patch']],
  ['a city', everything, { ...everything, ...cityOf('Nice') }, ['patch']],
  ['the removal of a city', everything, without('addresses'), ['read', 'patch']],
  ['an email', everything, { ...everything, ...emailsOf('p@corp.example') }, ['read', 'patch']],
  ['a role', everything, { ...everything, ...rolesOf('guest') }, ['read', 'patch']],
  ['the removal of a role', everything, { ...everything, ...rolesOf() }, ['read', 'patch']],
  ['a custom field', everything, { ...everything, title: 'Looms' }, ['read', 'patch']],
  ['the removal of a custom field', everything, without('title'), ['read', 'patch']],
  ['the removal of everything', everything, bare(everything), ['read', 'patch']],
  ['an archive', everything, inactive, ['read', 'patch']],
  ['an un-archive', inactive, everything, ['read', 'patch']],
  ['a DELETE', everything, null, ['read', 'patch']],
  ['a DELETE of a leaver', inactive, null, ['read']],
];

test.each(changes)('%s makes exactly the calls that it must', (_, from, to, calls) =>
  inHouse(
    async (house) => {
      const story = await begun(house, from);
      expect(await callsOf(house, () => write(story, to))).toEqual(calls);
      expect(await callsOf(house, () => house.pass(120_000))).toEqual([]);
    },
    { mapping: titleMapping },
  ),
);

const hand: [string, object][] = [
  ['archived', { archived: true }],
  ['renamed', { firstName: 'Hand', lastName: 'Made' }],
];

test.each(hand)('a traveler %s by hand after the import is read at the first claim', (_, edit) =>
  inHouse(
    async (house) => {
      const pia = house.travel.add({ email: 'pia@corp.example', firstName: 'Pia', lastName: 'Smith' });
      await house.imported();
      house.travel.people.set(pia.id, { ...pia, ...edit });
      const story = { house, id: '', wish: null };
      expect(await callsOf(house, () => write(story, bare(everything)))).toEqual(['read', 'patch']);
      expect(house.travel.people.get(pia.id)).toMatchObject({
        archived: false,
        firstName: 'Pia',
        lastName: 'Smith',
      });
    },
    { mapping: titleMapping },
  ),
);

test('parts of an address that were added by hand stay when the city goes', () =>
  inHouse(
    async (house) => {
      const story = await begun(house, everything);
      await write(story, without('addresses'));
      expect((await house.traveler(story.id))?.address).toEqual({ region: 'Quebec' });
      expect(house.travel.writes().at(-1)?.body).toEqual({ address: { city: null } });
    },
    { mapping: titleMapping },
  ));

test('an address of which nothing is left goes as a whole, also where a part was removed by hand', () =>
  inHouse(
    async (house) => {
      const story = await begun(house, everything);
      const now = await house.traveler(story.id);
      if (!now) throw new Error('no traveler');
      house.travel.people.set(now.id, { ...now, address: { city: 'Lyon' } });
      await write(story, without('addresses'));
      expect(house.travel.writes().at(-1)?.body).toEqual({ address: null });
    },
    { mapping: titleMapping },
  ));
