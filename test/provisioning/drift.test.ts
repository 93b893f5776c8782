import type { TravelUser } from '../../src/model/traveler.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const HOUR_MS = 3_600_000;
const phoneNumbersOf = (value: string): ScimResource => ({ phoneNumbers: [{ value, type: 'work' }] });
const nameOf = (givenName: string): ScimResource => ({ name: { givenName, familyName: 'Smith' } });
const correcting = { policies: { drift: 'correct' as const } };

/** Changes the traveler of a user by hand and runs an import. */
async function editByHand(
  fixture: ProvisioningFixture,
  id: string,
  values: Partial<TravelUser>,
): Promise<void> {
  const traveler = await fixture.traveler(id);
  if (!traveler) throw new Error('there is no traveler');
  fixture.travel.travelers.set(traveler.id, { ...traveler, ...values });
  await fixture.importTravelers();
}

test('drift gives a finding, which ends when the IdP sends a value or the old value returns', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.calls.length = 0;
    await editByHand(fixture, ada.id, { firstName: 'Adele' });
    expect(await fixture.findings(ada.id)).toEqual(['firstName: drift']);
    expect(fixture.travel.writes()).toEqual([]);
    await editByHand(fixture, ada.id, { firstName: 'Ada' });
    expect(await fixture.findings(ada.id)).toEqual([]);
    await editByHand(fixture, ada.id, { firstName: 'Adele' });
    await fixture.patch(ada.id, nameOf('Anna'));
    expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Anna' });
    expect(await fixture.findings(ada.id)).toEqual([]);
  }));

test('a change of another field does not correct reported drift', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await editByHand(fixture, ada.id, { firstName: 'Adele' });
    await fixture.patch(ada.id, { name: { givenName: 'Ada', familyName: 'Jones' } });
    expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Adele', lastName: 'Jones' });
    expect(await fixture.findings(ada.id)).toEqual(['firstName: drift']);
  }));

test.each([
  { drift: 'report', lang: 'en', codes: ['lang: drift'] },
  { drift: 'correct', lang: 'fr', codes: [] },
] as const)(
  'a value that is changed by hand between the read of a traveler and the PATCH that adopts it is drift (policy $drift)',
  ({ drift, lang, codes }) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel } = fixture;
        const existing = travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada', lang: 'fr' });
        travel.faultFor = ({ verb }) => {
          if (verb !== 'patch') return undefined;
          travel.travelers.set(existing.id, { ...existing, lang: 'en' });
          travel.faultFor = () => undefined;
          return undefined;
        };
        const ada = await bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
        expect(await fixture.traveler(ada.id)).toMatchObject({ lastName: 'Smith', lang });
        expect(await fixture.findings(ada.id)).toEqual(codes);
      },
      { policies: { drift } },
    ),
);

test('reported drift stays a finding when the IdP states the same value in another way', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    await editByHand(fixture, ada.id, { lang: 'en' });
    await fixture.patch(ada.id, { preferredLanguage: 'fr-FR' });
    expect(await fixture.traveler(ada.id)).toMatchObject({ lang: 'en' });
    expect(await fixture.findings(ada.id)).toEqual(['lang: drift']);
  }));

test('drift of one field is corrected at most three times an hour, even if the process restarts', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    for (let times = 0; times < 3; times += 1) {
      await editByHand(fixture, ada.id, { firstName: `Adele ${times}` });
      expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Ada' });
      await fixture.restart();
      fixture.clock.advance(60_000);
    }
    await editByHand(fixture, ada.id, { firstName: 'Adele' });
    expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Adele' });
    expect(await fixture.findings(ada.id)).toEqual(['firstName: drift']);
    await editByHand(fixture, ada.id, { lastName: 'Jones' });
    expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Adele', lastName: 'Smith' });
    fixture.clock.advance(HOUR_MS);
    await editByHand(fixture, ada.id, { lastName: 'Jones' });
    expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Ada', lastName: 'Smith' });
  }, correcting));

test('a failed correction is retried and counts once', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.faultFor = ({ verb }) =>
      verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined;
    await editByHand(fixture, ada.id, { firstName: 'Adele' });
    for (let times = 0; times < 5; times += 1) await fixture.reconcileAfter(90_000);
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(120_000);
    expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Ada' });
    const { corrections } = (await fixture.identity(ada.id)).progress;
    expect(corrections?.firstName).toHaveLength(1);
  }, correcting));

test.each(['lose', 'die', 'hang'] as const)(
  'a correction whose outcome is not known ("%s") is carried through',
  (end) =>
    withFixture(async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      const traveler = await fixture.traveler(ada.id);
      if (traveler) fixture.travel.travelers.set(traveler.id, { ...traveler, firstName: 'Adele' });
      await fixture.bridge.importer.run(fixture.connection);
      const call = fixture.travel.holdCall('patch');
      const reconciling = fixture.bridge.reconcileDue();
      await call.reached;
      call.release(end);
      if (end === 'lose') await reconciling;
      await fixture.restart();
      await fixture.reconcileAfter(120_000);
      expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Ada' });
      expect(await fixture.findings(ada.id)).toEqual([]);
    }, correcting),
);

test('drift of roles, custom fields, parts of an address and of `archived` is corrected', () =>
  withFixture(async (fixture) => {
    const field = { id: 'cf-1', name: 'Title', dataType: 'text', disabled: false, options: [] } as const;
    const scimUserMappings = [{ scimAttribute: 'title', customFieldId: 'cf-1' }];
    fixture.travel.lookupData = {
      ...fixture.travel.lookupData,
      customFields: [{ ...field, options: [] }],
      scimUserMappings,
    };
    const work = { type: 'work', locality: 'Bern', streetAddress: 'Main 1' };
    const ada = await fixture.bridge.users.create(
      users,
      person('Ada', { title: 'Boss', roles: [{ value: 'organizer' }], addresses: [work] }),
    );
    const traveler = await fixture.traveler(ada.id);
    const mine = { customFieldId: 'cf-2', values: [{ data: 'mine' }] };
    await editByHand(fixture, ada.id, {
      ...{ roles: ['guest'], customFields: [mine], archived: true },
      address: { ...traveler?.address, city: 'Basel', state: 'BS' },
    } as Partial<TravelUser>);
    expect(await fixture.traveler(ada.id)).toMatchObject({
      archived: false,
      address: { city: 'Bern', state: 'BS' },
      customFields: [mine, expect.objectContaining({ customFieldId: 'cf-1' })],
    });
    expect((await fixture.traveler(ada.id))?.roles?.toSorted()).toEqual(['guest', 'organizer']);
    expect(await fixture.findings(ada.id)).toEqual([]);
    await fixture.patch(ada.id, { active: false });
    await editByHand(fixture, ada.id, { archived: false });
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: true });
  }, correcting));

test('a deleted user’s traveler that is un-archived by hand is archived again with drift: correct, else reported', async () => {
  for (const drift of ['correct', 'report'] as const)
    await withFixture(
      async (fixture) => {
        const ada = await fixture.bridge.users.create(users, person('Ada'));
        await fixture.bridge.users.remove(users, ada.id);
        await editByHand(fixture, ada.id, { archived: false });
        expect((await fixture.traveler(ada.id))?.archived).toBe(drift === 'correct');
        if (drift === 'report') expect(await fixture.findings(ada.id)).toEqual(['archived: drift']);
      },
      { policies: { drift } },
    );
});

test('edits by hand of fields that the IdP never wrote are neither drift nor overwritten', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await editByHand(fixture, ada.id, { phoneNumber: '+41443334455', roles: ['guest'] });
    expect(await fixture.findings(ada.id)).toEqual([]);
    await fixture.patch(ada.id, nameOf('Anna'));
    expect(await fixture.traveler(ada.id)).toMatchObject({ roles: ['guest'] });
    expect(await fixture.findings(ada.id)).toEqual([]);
  }, correcting));

test('a value that the travel API spells differently is no drift', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb, body }) => {
      if (verb === 'create' && body) body.firstName = String(body.firstName).toUpperCase();
      return undefined;
    };
    const ada = await fixture.bridge.users.create(users, person('Ada', phoneNumbersOf('+41 44 333 44 55')));
    fixture.travel.calls.length = 0;
    await fixture.importTravelers();
    expect(await fixture.findings(ada.id)).toEqual([]);
    expect(fixture.travel.writes()).toEqual([]);
  }, correcting));

test('an imported user whom no IdP has written never drifts', () =>
  withFixture(async (fixture) => {
    const traveler = fixture.travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada' });
    await fixture.importTravelers();
    fixture.travel.travelers.set(traveler.id, { ...traveler, firstName: 'Adele' });
    await fixture.importTravelers();
    expect(fixture.travel.writes()).toEqual([]);
    const [ada] = await fixture.store.identities.find(users, { by: 'travelId', value: traveler.id });
    expect(ada).toMatchObject({ claimed: false, findings: [], desired: { name: { givenName: 'Adele' } } });
  }, correcting));

test.each([
  ['the answer to another change', nameOf('Anna'), { firstName: 'Anna', lastName: 'Smith' }],
  ['the read before another change', { active: false }, { archived: true, lastName: 'Smith' }],
])('drift that appears only in %s is corrected at once', (_, change, expected) =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const traveler = await fixture.traveler(ada.id);
    if (traveler) fixture.travel.travelers.set(traveler.id, { ...traveler, lastName: 'Jones' });
    await fixture.patch(ada.id, change as ScimResource);
    expect(await fixture.traveler(ada.id)).toMatchObject(expected);
    expect(await fixture.findings(ada.id)).toEqual([]);
    fixture.travel.calls.length = 0;
    await fixture.importTravelers();
    expect(fixture.travel.writes()).toEqual([]);
  }, correcting),
);

test('a correction changes neither email nor roles of a traveler that became an administrator', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const traveler = await fixture.traveler(ada.id);
    const mine = { email: 'root@corp.example', lastName: 'Root', roles: ['admin'] };
    if (traveler) fixture.travel.travelers.set(traveler.id, { ...traveler, ...mine });
    await fixture.patch(ada.id, nameOf('Anna'));
    expect(await fixture.traveler(ada.id)).toMatchObject({ ...mine, firstName: 'Anna', lastName: 'Smith' });
    expect(await fixture.findings(ada.id)).toContain('roles: guarded');
  }, correcting));
