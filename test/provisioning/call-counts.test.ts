import { type ScimResource, urns } from '../../src/schema/resource.ts';
import {
  emailsOf,
  type ProvisioningFixture,
  person,
  rolesOf,
  withFixture,
} from '../fixtures/provisioning.ts';

/** A custom field, and the mapping in which the title fills it. */
const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };
const mapping = { scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'cf-1' }] };

/** A user with a value in every kind of field. */
const fullUser = person('Pia', {
  externalId: 'E1',
  preferredLanguage: 'en',
  title: 'Engines',
  phoneNumbers: [{ value: '+33123456789', type: 'work' }],
  ...rolesOf('organizer'),
  ...cityOf('Lyon'),
});

const optional = ['preferredLanguage', 'title', 'phoneNumbers', urns.travel, 'addresses'];
const minimalUser = fullUserWithout(...optional);

function fullUserWithout(...names: string[]): ScimResource {
  return Object.fromEntries(Object.entries(fullUser).filter(([name]) => !names.includes(name)));
}

function cityOf(locality: string): ScimResource {
  return { addresses: [{ type: 'work', primary: true, locality }] };
}

/** Creates a user, to whose traveler an admin then adds values. Returns the SCIM id. */
async function createUser(fixture: ProvisioningFixture, user: ScimResource): Promise<string> {
  const { travel, bridge } = fixture;
  travel.lookupData.customFields.push(project);
  const { id } = await bridge.users.create(fixture.connection.id, user);
  const traveler = await fixture.traveler(id);
  if (!traveler) throw new Error('no traveler was made');
  travel.travelers.set(traveler.id, {
    ...traveler,
    currency: 'EUR',
    roles: [...(traveler.roles ?? []), 'premium'],
    customFields: [
      ...(traveler.customFields ?? []),
      { customFieldId: 'cf-9', values: [{ data: 'by hand' }] },
    ],
    address: { ...traveler.address, region: 'Quebec' },
  });
  await fixture.importTravelers();
  return id;
}

/** Sends a PUT, or a DELETE for null. */
async function send(
  { bridge, connection }: ProvisioningFixture,
  id: string,
  user: ScimResource | null,
): Promise<void> {
  if (user) await bridge.users.change(connection.id, id, () => user, 'replace');
  else await bridge.users.remove(connection.id, id);
}

/** Returns the verbs of the calls during `work`, except for reads of pages. */
async function callsOf(fixture: ProvisioningFixture, work: () => Promise<unknown>): Promise<string[]> {
  fixture.travel.calls.length = 0;
  await work();
  return fixture.travel.calls.map(({ verb }) => verb).filter((verb) => verb !== 'readPage');
}

const inactive = { ...fullUser, active: false };

const changes: [string, ScimResource, ScimResource | null, string[]][] = [
  ['a PUT without a change', fullUser, { ...fullUser }, []],
  ['an attribute that no rule reads', fullUser, { ...fullUser, nickName: 'P' }, []],
  ['a name', fullUser, { ...fullUser, name: { givenName: 'P', familyName: 'Q' } }, ['patch']],
  ['a language', fullUser, { ...fullUser, preferredLanguage: 'fr' }, ['patch']],
  ['the removal of a language', fullUser, fullUserWithout('preferredLanguage'), ['patch']],
  ['the removal of a phone number', fullUser, fullUserWithout('phoneNumbers'), ['patch']],
  ['a city', fullUser, { ...fullUser, ...cityOf('Nice') }, ['read', 'patch']],
  ['the removal of a city', fullUser, fullUserWithout('addresses'), ['read', 'patch']],
  ['an email', fullUser, { ...fullUser, ...emailsOf('p@corp.example') }, ['read', 'patch']],
  ['a role', fullUser, { ...fullUser, ...rolesOf('guest') }, ['read', 'patch']],
  ['the removal of a role', fullUser, { ...fullUser, ...rolesOf() }, ['read', 'patch']],
  ['a custom field', fullUser, { ...fullUser, title: 'Looms' }, ['read', 'patch']],
  ['the removal of a custom field', fullUser, fullUserWithout('title'), ['read', 'patch']],
  ['the removal of everything', fullUser, minimalUser, ['read', 'patch']],
  ['an archive', fullUser, inactive, ['read', 'patch']],
  ['an un-archive', inactive, fullUser, ['read', 'patch']],
  ['a DELETE', fullUser, null, ['read', 'patch']],
  ['a DELETE of a leaver', inactive, null, ['read']],
];

test.each(changes)('%s causes only the expected calls', (_, from, to, calls) =>
  withFixture(
    async (fixture) => {
      const id = await createUser(fixture, from);
      expect(await callsOf(fixture, () => send(fixture, id, to))).toEqual(calls);
      expect(await callsOf(fixture, () => fixture.reconcileAfter(120_000))).toEqual([]);
    },
    { mapping },
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
      const create = () => fixture.bridge.users.create(fixture.connection.id, minimalUser);
      expect(await callsOf(fixture, create)).toEqual(['read', 'patch']);
      expect(fixture.travel.travelers.get(pia.id)).toMatchObject({
        archived: false,
        firstName: 'Pia',
        lastName: 'Smith',
      });
    },
    { mapping },
  ),
);

test('parts of an address that were added by hand stay when the city is removed', () =>
  withFixture(
    async (fixture) => {
      const id = await createUser(fixture, fullUser);
      await send(fixture, id, fullUserWithout('addresses'));
      expect((await fixture.traveler(id))?.address).toEqual({ region: 'Quebec' });
      expect(fixture.travel.writes().at(-1)?.body).toEqual({ address: { city: null } });
    },
    { mapping },
  ));

test('an address without remaining parts is removed as a whole, also if a part was removed by hand', () =>
  withFixture(
    async (fixture) => {
      const id = await createUser(fixture, fullUser);
      const traveler = await fixture.traveler(id);
      if (!traveler) throw new Error('no traveler');
      fixture.travel.travelers.set(traveler.id, { ...traveler, address: { city: 'Lyon' } });
      await send(fixture, id, fullUserWithout('addresses'));
      expect(fixture.travel.writes().at(-1)?.body).toEqual({ address: null });
    },
    { mapping },
  ));
