import type { ScimResource } from '../../src/schema/resource.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { addressOf, type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';

const users = 'default';
const HOUR_MS = 3_600_000;
const phones = (value: string): ScimResource => ({ phoneNumbers: [{ value, type: 'work' }] });
const named = (givenName: string): ScimResource => ({ name: { givenName, familyName: 'Smith' } });
const correcting = { policies: { drift: 'correct' as const } };

/** Changes the traveler by hand, and lets an import see it. */
async function byHand(house: BridgeHouse, id: string, values: Partial<TravelUser>): Promise<void> {
  const traveler = await house.traveler(id);
  if (!traveler) throw new Error('there is no traveler');
  house.travel.people.set(traveler.id, { ...traveler, ...values });
  await house.imported();
}

test('drift is reported as a finding, and goes with the next value of the IdP or the old one', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    house.travel.calls.length = 0;
    await byHand(house, ada.id, { firstName: 'Adele' });
    expect(await house.findings(ada.id)).toEqual(['firstName: drift']);
    expect(house.travel.writes()).toEqual([]);
    await byHand(house, ada.id, { firstName: 'Ada' });
    expect(await house.findings(ada.id)).toEqual([]);
    await byHand(house, ada.id, { firstName: 'Adele' });
    await house.patch(ada.id, named('Anna'));
    expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Anna' });
    expect(await house.findings(ada.id)).toEqual([]);
  }));

test('another change of the IdP leaves reported drift as it is', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await byHand(house, ada.id, { firstName: 'Adele' });
    await house.patch(ada.id, { name: { givenName: 'Ada', familyName: 'Jones' } });
    expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Adele', lastName: 'Jones' });
    expect(await house.findings(ada.id)).toEqual(['firstName: drift']);
  }));

test('drift is corrected at most three times an hour, for each field, though the process ends in between', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    for (let times = 0; times < 3; times += 1) {
      await byHand(house, ada.id, { firstName: `Adele ${times}` });
      expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Ada' });
      await house.restart();
      house.clock.advance(60_000);
    }
    await byHand(house, ada.id, { firstName: 'Adele' });
    expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Adele' });
    expect(await house.findings(ada.id)).toEqual(['firstName: drift']);
    await byHand(house, ada.id, { lastName: 'Jones' });
    expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Adele', lastName: 'Smith' });
    house.clock.advance(HOUR_MS);
    await byHand(house, ada.id, { lastName: 'Jones' });
    expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Ada', lastName: 'Smith' });
  }, correcting));

test('a correction that fails is tried again and counts once', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    house.travel.trouble = ({ verb }) =>
      verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined;
    await byHand(house, ada.id, { firstName: 'Adele' });
    for (let times = 0; times < 5; times += 1) await house.pass(90_000);
    house.travel.trouble = () => undefined;
    await house.pass(120_000);
    expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Ada' });
    const { corrections } = (await house.identity(ada.id)).progress;
    expect(corrections?.firstName).toHaveLength(1);
  }, correcting));

test.each(['lose', 'die', 'hang'] as const)(
  'a correction whose outcome is not known ("%s") is carried through',
  (end) =>
    inHouse(async (house) => {
      const ada = await house.bridge.users.create(users, person('Ada'));
      const traveler = await house.traveler(ada.id);
      if (traveler) house.travel.people.set(traveler.id, { ...traveler, firstName: 'Adele' });
      await house.bridge.importer.run(house.connection);
      const call = house.travel.hold('patch');
      const due = house.bridge.settleDue();
      await call.reached;
      call.release(end);
      if (end === 'lose') await due;
      await house.restart();
      await house.pass(120_000);
      expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Ada' });
      expect(await house.findings(ada.id)).toEqual([]);
    }, correcting),
);

test('corrected: roles, custom fields, parts of an address, and a traveler that was un-archived or archived by hand', () =>
  inHouse(async (house) => {
    const field = { id: 'cf-1', name: 'Title', dataType: 'text', disabled: false, options: [] } as const;
    const scimUserMappings = [{ scimAttribute: 'title', customFieldId: 'cf-1' }];
    house.travel.known = {
      ...house.travel.known,
      customFields: [{ ...field, options: [] }],
      scimUserMappings,
    };
    const work = { type: 'work', locality: 'Bern', streetAddress: 'Main 1' };
    const ada = await house.bridge.users.create(
      users,
      person('Ada', { title: 'Boss', roles: [{ value: 'organizer' }], addresses: [work] }),
    );
    const made = await house.traveler(ada.id);
    const mine = { customFieldId: 'cf-2', values: [{ data: 'mine' }] };
    await byHand(house, ada.id, {
      ...{ roles: ['guest'], customFields: [mine], archived: true },
      address: { ...made?.address, city: 'Basel', state: 'BS' },
    } as Partial<TravelUser>);
    expect(await house.traveler(ada.id)).toMatchObject({
      archived: false,
      address: { city: 'Bern', state: 'BS' },
      customFields: [mine, expect.objectContaining({ customFieldId: 'cf-1' })],
    });
    expect((await house.traveler(ada.id))?.roles?.toSorted()).toEqual(['guest', 'organizer']);
    expect(await house.findings(ada.id)).toEqual([]);
    await house.patch(ada.id, { active: false });
    await byHand(house, ada.id, { archived: false });
    expect(await house.traveler(ada.id)).toMatchObject({ archived: true });
  }, correcting));

test('a deleted person whom somebody makes active again is archived again where drift is corrected, else reported', async () => {
  for (const drift of ['correct', 'report'] as const)
    await inHouse(
      async (house) => {
        const ada = await house.bridge.users.create(users, person('Ada'));
        await house.bridge.users.remove(users, ada.id);
        await byHand(house, ada.id, { archived: false });
        expect((await house.traveler(ada.id))?.archived).toBe(drift === 'correct');
        if (drift === 'report') expect(await house.findings(ada.id)).toEqual(['archived: drift']);
      },
      { policies: { drift } },
    );
});

test('hand edits of fields that the IdP never wrote are neither drift nor overwritten', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await byHand(house, ada.id, { phoneNumber: '+41443334455', roles: ['guest'] });
    expect(await house.findings(ada.id)).toEqual([]);
    await house.patch(ada.id, named('Anna'));
    expect(await house.traveler(ada.id)).toMatchObject({ roles: ['guest'] });
    expect(await house.findings(ada.id)).toEqual([]);
  }, correcting));

test('a value that the travel API spells its own way is no drift', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ verb, body }) => {
      if (verb === 'create' && body) body.firstName = String(body.firstName).toUpperCase();
      return undefined;
    };
    const ada = await house.bridge.users.create(users, person('Ada', phones('+41 44 333 44 55')));
    house.travel.calls.length = 0;
    await house.imported();
    expect(await house.findings(ada.id)).toEqual([]);
    expect(house.travel.writes()).toEqual([]);
  }, correcting));

test('an imported person whom no IdP has written never drifts', () =>
  inHouse(async (house) => {
    const traveler = house.travel.add({ email: addressOf('Ada'), firstName: 'Ada' });
    await house.imported();
    house.travel.people.set(traveler.id, { ...traveler, firstName: 'Adele' });
    await house.imported();
    expect(house.travel.writes()).toEqual([]);
    const [ada] = await house.store.identities.find(users, { by: 'travelId', value: traveler.id });
    expect(ada).toMatchObject({ claimed: false, findings: [], desired: { name: { givenName: 'Adele' } } });
  }, correcting));

test.each([
  ['the answer to another change', named('Anna'), { firstName: 'Anna', lastName: 'Smith' }],
  ['the read before another change', { active: false }, { archived: true, lastName: 'Smith' }],
])('drift that only %s tells of is corrected at once', (_, change, expected) =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    const traveler = await house.traveler(ada.id);
    if (traveler) house.travel.people.set(traveler.id, { ...traveler, lastName: 'Jones' });
    await house.patch(ada.id, change as ScimResource);
    expect(await house.traveler(ada.id)).toMatchObject(expected);
    expect(await house.findings(ada.id)).toEqual([]);
    house.travel.calls.length = 0;
    await house.imported();
    expect(house.travel.writes()).toEqual([]);
  }, correcting),
);

test('a correction keeps away from email and roles of somebody who became an administrator', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    const traveler = await house.traveler(ada.id);
    const mine = { email: 'root@corp.example', lastName: 'Root', roles: ['admin'] };
    if (traveler) house.travel.people.set(traveler.id, { ...traveler, ...mine });
    await house.patch(ada.id, named('Anna'));
    expect(await house.traveler(ada.id)).toMatchObject({ ...mine, firstName: 'Anna', lastName: 'Smith' });
    expect(await house.findings(ada.id)).toContain('roles: guarded');
  }, correcting));
