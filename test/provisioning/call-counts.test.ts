import type { ScimResource } from '../../src/schema/resource.ts';
import { emailsOf, type ProvisioningFixture, withFixture } from '../fixtures/provisioning.ts';
import {
  cityOf,
  fullUser,
  minimalUser,
  rolesOf,
  sendUser,
  startSyncedUser,
  titleMapping,
} from '../fixtures/unknown-calls.ts';

/** Returns the verbs of the calls during `work`, except for reads of pages. */
async function callsOf(fixture: ProvisioningFixture, work: () => Promise<unknown>): Promise<string[]> {
  fixture.travel.calls.length = 0;
  await work();
  return fixture.travel.calls.map(({ verb }) => verb).filter((verb) => verb !== 'readPage');
}

function fullUserWithout(name: string): ScimResource {
  return Object.fromEntries(Object.entries(fullUser).filter(([key]) => key !== name));
}

const inactive = { ...fullUser, active: false };

const changes: [string, ScimResource, ScimResource | null, string[]][] = [
  ['a PUT without a change', fullUser, { ...fullUser }, []],
  ['an attribute that no rule reads', fullUser, { ...fullUser, nickName: 'P' }, []],
  ['a name', fullUser, { ...fullUser, name: { givenName: 'P', familyName: 'Q' } }, ['patch']],
  ['a language', fullUser, { ...fullUser, preferredLanguage: 'fr' }, ['patch']],
  ['the removal of a language', fullUser, fullUserWithout('preferredLanguage'), ['patch']],
  ['the removal of a phone number', fullUser, fullUserWithout('phoneNumbers'), ['patch']],
  ['a city', fullUser, { ...fullUser, ...cityOf('Nice') }, ['patch']],
  ['the removal of a city', fullUser, fullUserWithout('addresses'), ['read', 'patch']],
  ['an email', fullUser, { ...fullUser, ...emailsOf('p@corp.example') }, ['read', 'patch']],
  ['a role', fullUser, { ...fullUser, ...rolesOf('guest') }, ['read', 'patch']],
  ['the removal of a role', fullUser, { ...fullUser, ...rolesOf() }, ['read', 'patch']],
  ['a custom field', fullUser, { ...fullUser, title: 'Looms' }, ['read', 'patch']],
  ['the removal of a custom field', fullUser, fullUserWithout('title'), ['read', 'patch']],
  ['the removal of everything', fullUser, minimalUser(fullUser), ['read', 'patch']],
  ['an archive', fullUser, inactive, ['read', 'patch']],
  ['an un-archive', inactive, fullUser, ['read', 'patch']],
  ['a DELETE', fullUser, null, ['read', 'patch']],
  ['a DELETE of a leaver', inactive, null, ['read']],
];

test.each(changes)('%s causes only the expected calls', (_, from, to, calls) =>
  withFixture(
    async (fixture) => {
      const syncedUser = await startSyncedUser(fixture, from);
      expect(await callsOf(fixture, () => sendUser(syncedUser, to))).toEqual(calls);
      expect(await callsOf(fixture, () => fixture.reconcileAfter(120_000))).toEqual([]);
    },
    { mapping: titleMapping },
  ),
);

const manualEdits: [string, object][] = [
  ['archived', { archived: true }],
  ['renamed', { firstName: 'Hand', lastName: 'Made' }],
];

test.each(manualEdits)('a traveler %s by hand after the import is read when a user claims it', (_, edit) =>
  withFixture(
    async (fixture) => {
      const pia = fixture.travel.addTraveler({
        email: 'pia@corp.example',
        firstName: 'Pia',
        lastName: 'Smith',
      });
      await fixture.importTravelers();
      fixture.travel.travelers.set(pia.id, { ...pia, ...edit });
      const syncedUser = { fixture, id: '', desired: null };
      expect(await callsOf(fixture, () => sendUser(syncedUser, minimalUser(fullUser)))).toEqual([
        'read',
        'patch',
      ]);
      expect(fixture.travel.travelers.get(pia.id)).toMatchObject({
        archived: false,
        firstName: 'Pia',
        lastName: 'Smith',
      });
    },
    { mapping: titleMapping },
  ),
);

test('parts of an address that were added by hand stay when the city is removed', () =>
  withFixture(
    async (fixture) => {
      const syncedUser = await startSyncedUser(fixture, fullUser);
      await sendUser(syncedUser, fullUserWithout('addresses'));
      expect((await fixture.traveler(syncedUser.id))?.address).toEqual({ region: 'Quebec' });
      expect(fixture.travel.writes().at(-1)?.body).toEqual({ address: { city: null } });
    },
    { mapping: titleMapping },
  ));

test('an address without remaining parts is removed as a whole, also if a part was removed by hand', () =>
  withFixture(
    async (fixture) => {
      const syncedUser = await startSyncedUser(fixture, fullUser);
      const traveler = await fixture.traveler(syncedUser.id);
      if (!traveler) throw new Error('no traveler');
      fixture.travel.travelers.set(traveler.id, { ...traveler, address: { city: 'Lyon' } });
      await sendUser(syncedUser, fullUserWithout('addresses'));
      expect(fixture.travel.writes().at(-1)?.body).toEqual({ address: null });
    },
    { mapping: titleMapping },
  ));
