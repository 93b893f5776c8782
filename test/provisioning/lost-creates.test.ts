import { nextCheckAt } from '../../src/model/identity.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import type { TravelFault } from '../fixtures/fake-travel.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  rolesOf,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const notCarriedOut = { kind: 'unavailable', text: '502' } as const;
const first = person('Ada', {
  externalId: 'E1',
  title: 'Engines and looms',
  phoneNumbers: [{ value: '+33123456789', type: 'work' }],
  ...rolesOf('organizer'),
  addresses: [{ type: 'work', primary: true, locality: 'Lyon' }],
});
const second = person('Ada', { externalId: 'E1', ...rolesOf('guest') });
const third = person('Ada', { externalId: 'E1' });

/** A custom field, and the mapping in which the title fills it. */
const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };
const mapping = { scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'cf-1' }] };

/** Creates a user, or changes the last one, while creates have this fault. Returns the SCIM id. */
type Create = (user: ScimResource, fault?: TravelFault) => Promise<string>;

/** Runs a test with a custom field for the title. */
function withUsers(
  test: (fixture: ProvisioningFixture, create: Create) => Promise<void>,
  policies: { deprovision?: 'delete' } = {},
): Promise<void> {
  return withFixture(
    async (fixture) => {
      const { travel, bridge } = fixture;
      travel.lookupData.customFields.push(project);
      await test(fixture, async (user, fault) => {
        travel.faultFor = ({ verb }) => (verb === 'create' ? fault : undefined);
        const { id } = await bridge.users.create(users, user);
        travel.faultFor = () => undefined;
        return id;
      });
    },
    { mapping, policies },
  );
}

/** The travelers except the one of the credential. */
function travelers({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

/** Reconciles until no call can be carried out late any more. */
async function settle(fixture: ProvisioningFixture): Promise<void> {
  for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(51_000);
}

/** Makes the travel API cut texts. */
function cutTexts({ travel }: ProvisioningFixture): void {
  const { create } = travel.users;
  travel.users.create = (user, key) =>
    create(
      { ...user, ...(typeof user.lastName === 'string' ? { lastName: user.lastName.slice(0, 4) } : {}) },
      key,
    );
}

/** Makes `createdAt` differ from the clock of the `Date` header, in milliseconds. */
function setBackCreatedAt({ travel, clock }: ProvisioningFixture, ms: number): void {
  const set = travel.travelers.set.bind(travel.travelers);
  travel.travelers.set = (id, traveler) => {
    const createdAt = new Date(clock.now() - ms).toISOString();
    return set(id, travel.travelers.has(id) ? traveler : { ...traveler, createdAt });
  };
}

const faults: [string, TravelFault, TravelFault][] = [
  ['was carried out, and so was the second', 'lose', 'lose'],
  ['was not carried out, and the second was', notCarriedOut, 'lose'],
  ['is carried out late, and the second was carried out', 'late', 'lose'],
  ['is carried out late, and the second was not', 'late', notCarriedOut],
];

describe.each(faults)('if the first of two lost creates %s', (_, firstFault, secondFault) => {
  test.each(['before the second user', 'before the third user', 'at the end'])(
    'the third user of a person who was deleted twice has no value of the others (late call: %s)',
    (time) =>
      withUsers(async (fixture, create) => {
        const { travel, bridge } = fixture;
        const ada = await create(first, firstFault);
        await bridge.users.remove(users, ada);
        if (time === 'before the second user') travel.carryOutLateCalls();
        const again = await create(second, secondFault);
        await bridge.users.remove(users, again);
        if (time === 'before the third user') travel.carryOutLateCalls();
        const last = await create(third);
        travel.carryOutLateCalls();
        await settle(fixture);
        const [own, ...others] = travelers(fixture);
        expect(others).toEqual([]);
        expect(own).toMatchObject({ archived: false, firstName: 'Ada' });
        expect([own?.roles ?? [], own?.customFields ?? []]).toEqual([[], []]);
        expect([own?.phoneNumber, own?.address?.city]).toEqual([undefined, undefined]);
        expect(await fixture.identity(last)).toMatchObject({ state: 'synced', travelId: own?.id });
      }),
  );
});

/** Makes the travel API add members that were not sent. */
function addMembers({ travel }: ProvisioningFixture): void {
  const set = travel.travelers.set.bind(travel.travelers);
  travel.travelers.set = (id, traveler) =>
    set(id, { ...traveler, separateIcsEmails: false, otherFields: ['seatPreference'] });
}

const differences: [string, (fixture: ProvisioningFixture) => void][] = [
  ['whose texts were cut', cutTexts],
  ['whose createdAt is by a clock that is 45 seconds behind', (fixture) => setBackCreatedAt(fixture, 45_000)],
  [
    'to which the travel API has added members, by a clock that is 45 seconds behind',
    (fixture) => {
      addMembers(fixture);
      setBackCreatedAt(fixture, 45_000);
    },
  ],
  [
    'of a travel API that does not send its time',
    ({ travel }) => {
      travel.now = undefined;
    },
  ],
];

describe.each(differences)('a traveler of a lost create %s', (_, differ) => {
  test('is archived if the user is deleted', () =>
    withUsers(async (fixture, create) => {
      differ(fixture);
      const ada = await create(first, 'lose');
      await fixture.bridge.users.remove(users, ada);
      await settle(fixture);
      expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    }));

  test('gets an address that was corrected meanwhile', () =>
    withUsers(async (fixture, create) => {
      differ(fixture);
      const ada = await create(first, 'lose');
      await fixture.patch(ada, emailsOf('ada.king@corp.example'));
      await settle(fixture);
      const [own, ...others] = travelers(fixture);
      expect(others).toEqual([]);
      expect(own).toMatchObject({ email: 'ada.king@corp.example' });
      expect(await fixture.identity(ada)).toMatchObject({ state: 'synced', travelId: own?.id });
    }));
});

test('a traveler with equal values made by hand more than a minute before is not archived by a DELETE', () =>
  withUsers(async (fixture, create) => {
    setBackCreatedAt(fixture, 61_000);
    const ada = await create(third, notCarriedOut);
    const stranger = { email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith' };
    fixture.travel.addTraveler(stranger);
    await fixture.bridge.users.remove(users, ada);
    await settle(fixture);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ ...stranger, archived: false })]);
  }));

test('a traveler that was not there when it was looked for is archived, even if the travel API does not send its time', () =>
  withUsers(async (fixture, create) => {
    const { travel, bridge } = fixture;
    travel.now = undefined;
    const ada = await create(first, 'late');
    await bridge.users.remove(users, ada);
    travel.carryOutLateCalls();
    await settle(fixture);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
  }));

test.each(['deleted', 'deactivated'])(
  'the traveler of a lost create is archived if the user is %s, even if the travel API does not send its time',
  (fate) =>
    withUsers(async (fixture, create) => {
      fixture.travel.now = undefined;
      const ada = await create(first, 'lose');
      if (fate === 'deleted') await fixture.bridge.users.remove(users, ada);
      else await fixture.patch(ada, { active: false });
      await settle(fixture);
      expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    }),
);

test.each([
  ['the same', {}],
  ['another', { preferredLanguage: 'fr' }],
] as const)(
  'a create without an answer is repeated as it was sent, when %s user is wanted',
  (_title, change) =>
    withUsers(async (fixture, create) => {
      const sent: unknown[] = [];
      const { create: send } = fixture.travel.users;
      fixture.travel.users.create = (traveler, key) => {
        sent.push([traveler, key]);
        return send(traveler, key);
      };
      const ada = await create(first, notCarriedOut);
      await fixture.patch(ada, change);
      await fixture.reconcileAfter(2_000);
      expect(sent).toHaveLength(2);
      expect(sent[1]).toEqual(sent[0]);
      await settle(fixture);
      const lang = 'preferredLanguage' in change ? 'fr' : undefined;
      expect(travelers(fixture)).toMatchObject([{ firstName: 'Ada', ...(lang ? { lang } : {}) }]);
    }),
);

test('the time of a failed create is that of its reservation if it is the first answer', () =>
  withUsers(async (fixture, create) => {
    const { travel, clock, bridge } = fixture;
    travel.now = undefined;
    const { create: send } = travel.users;
    travel.users.create = async (user, key) => {
      travel.now = clock.now;
      clock.advance(3_000);
      return send(user, key);
    };
    const ada = await create(first, 'lose');
    await bridge.users.remove(users, ada);
    await settle(fixture);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
  }));

test.each([{}, { currency: 'EUR' }])(
  'a second traveler that a late create has made is archived (%j)',
  (more) =>
    withUsers(async (fixture, create) => {
      const { travel } = fixture;
      const ada = await create(third, 'late');
      // The create is repeated, an admin changes the address, and the late create then finds its address free.
      await fixture.reconcileAfter(2_000);
      const made = await fixture.traveler(ada);
      if (made) travel.travelers.set(made.id, { ...made, email: 'ada.king@corp.example' });
      travel.carryOutLateCalls();
      const late = travelers(fixture).find(({ email }) => email === addressOf('Ada'));
      if (late) travel.travelers.set(late.id, { ...late, ...more });
      expect(travelers(fixture)).toHaveLength(2);
      await settle(fixture);
      const own = await fixture.traveler(ada);
      expect(own).toMatchObject({ archived: false });
      expect(travelers(fixture).filter(({ id }) => id !== own?.id)).toMatchObject([
        { ...more, archived: true },
      ]);
    }),
);

/** Makes a gateway send each create twice. The bridge gets the second answer. */
function sendCreatesTwice({ travel: { users: api } }: ProvisioningFixture): void {
  const { create } = api;
  api.create = async (traveler, key) => {
    await create(traveler, key);
    return create(traveler, key);
  };
}

describe('the traveler of a create that a gateway has sent twice', () => {
  test('loses a role that the IdP takes away', () =>
    withUsers(async (fixture, create) => {
      sendCreatesTwice(fixture);
      const ada = await create(first);
      await fixture.patch(ada, rolesOf());
      expect(travelers(fixture)).toEqual([expect.objectContaining({ firstName: 'Ada', roles: [] })]);
      expect(await fixture.findings(ada)).toEqual([]);
    }));

  test('gets an address that was corrected before it could be looked up', () =>
    withUsers(async (fixture) => {
      const { travel, bridge } = fixture;
      sendCreatesTwice(fixture);
      travel.faultFor = ({ verb }) => (verb === 'findByEmails' ? notCarriedOut : undefined);
      const { id } = await bridge.users.create(users, first);
      travel.faultFor = () => undefined;
      await fixture.patch(id, emailsOf('ada.king@corp.example'));
      await settle(fixture);
      const [own, ...others] = travelers(fixture);
      expect(others).toEqual([]);
      expect(own).toMatchObject({ email: 'ada.king@corp.example' });
      expect(await fixture.identity(id)).toMatchObject({ state: 'synced', travelId: own?.id });
    }));
});

test('a deleted user whose traveler of a lost create was deleted leaves the traveler alone that another leaver has under its address', () =>
  withUsers(
    async (fixture, create) => {
      const bob = await create(person('Bob'));
      const ada = await create(third, notCarriedOut);
      fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
      await fixture.reconcileAfter(5_000);
      fixture.travel.faultFor = () => undefined;
      await fixture.bridge.users.remove(users, ada);
      expect(travelers(fixture)).toHaveLength(1);
      await fixture.patch(bob, emailsOf(addressOf('Ada')));
      await fixture.patch(bob, { active: false });
      await settle(fixture);
      expect(await fixture.identity(ada)).toMatchObject({
        ...{ state: 'synced', attempts: 0, travelId: undefined },
      });
      expect(await fixture.traveler(bob)).toMatchObject({ firstName: 'Bob', archived: true });
    },
    { deprovision: 'delete' },
  ));

test('an inactive user whose lost create was carried out without the archive gets the traveler, which is archived', () =>
  withUsers(async (fixture) => {
    const { travel, bridge } = fixture;
    // A travel API with a call of its own for the archive has not got that call.
    travel.faultFor = ({ verb, body }) => {
      if (verb !== 'create' || travelers(fixture).length > 0) return undefined;
      travel.addTraveler({ ...body, email: addressOf('Ada'), archived: false });
      return notCarriedOut;
    };
    const { id } = await bridge.users.create(users, person('Ada', { active: false }));
    await settle(fixture);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    expect(await fixture.identity(id)).toMatchObject({
      state: 'synced',
      travelId: travelers(fixture)[0]?.id,
    });
  }));

test.each([true, false])(
  'a newcomer with the userName of one leaver, and the address that is reserved for another, gets a traveler (the latter after a DELETE: %s)',
  (isDeleted) =>
    withUsers(async (fixture, create) => {
      const { bridge } = fixture;
      const former = await create(person('Lou', { userName: 'pat', externalId: 'E2' }));
      await bridge.users.remove(users, former);
      const other = await create(third, notCarriedOut);
      if (isDeleted) await bridge.users.remove(users, other);
      else await fixture.patch(other, { active: false });
      const newcomer = person('Eve', { userName: 'pat', externalId: 'E3', ...emailsOf(addressOf('Ada')) });
      const id = await create(newcomer);
      await settle(fixture);
      const { travelId } = await fixture.identity(id);
      expect(travelId).toBeDefined();
      expect(travelers(fixture).filter(({ archived }) => !archived)).toMatchObject([
        { id: travelId, email: addressOf('Ada'), firstName: 'Eve' },
      ]);
    }),
);

test('a leaver whose traveler of a lost create became an administrator stays held, whatever the IdP writes next', () =>
  withUsers(async (fixture, create) => {
    const ada = await create(third, 'lose');
    for (const traveler of travelers(fixture))
      fixture.travel.travelers.set(traveler.id, { ...traveler, roles: ['admin'] });
    await fixture.patch(ada, { active: false });
    await settle(fixture);
    await fixture.patch(ada, { title: 'Dr.' });
    await settle(fixture);
    expect(await fixture.identity(ada)).toMatchObject({ state: 'held', hold: { cause: 'guarded' } });
  }));

test('a user whose traveler of a lost create became an administrator waits for the decision without further attempts', () =>
  withUsers(async (fixture, create) => {
    const id = await create(third, 'lose');
    const [made] = travelers(fixture);
    if (!made) throw new Error('The lost create made no traveler.');
    fixture.travel.travelers.set(made.id, { ...made, roles: ['admin'] });
    await settle(fixture);
    const held = await fixture.identity(id);
    expect(held).toMatchObject({ state: 'held', hold: { cause: 'guarded' }, travelId: undefined });
    expect(nextCheckAt(held)).toBeUndefined();
    fixture.travel.travelers.set(made.id, made);
    await fixture.importTravelers();
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', travelId: made.id });
  }));

test('a lost create under an address that was just found free makes the only traveler, even if another address is free by then', () =>
  withUsers(async (fixture, create) => {
    // The travel API does not send its time. The bridge has searched for the address just before the create.
    fixture.travel.now = undefined;
    const bob = await create(person('Bob', emailsOf(addressOf('Shared'))));
    const cyd = await create(person('Cyd', emailsOf(addressOf('Ada'))));
    const ada = await create({ ...third, ...emailsOf(addressOf('Shared')) });
    await fixture.patch(cyd, emailsOf(addressOf('Cyd')));
    fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
    await fixture.patch(ada, { title: 'Dr.' });
    fixture.travel.faultFor = () => undefined;
    await fixture.patch(bob, emailsOf(addressOf('Bob')));
    await settle(fixture);
    expect(travelers(fixture)).toHaveLength(3);
    expect(await fixture.traveler(ada)).toMatchObject({ email: addressOf('Shared'), archived: false });
  }));

test('a create that is carried out after its repetition was deleted with the person makes a traveler that is deleted, too', () =>
  withUsers(
    async (fixture, create) => {
      const { travel, bridge } = fixture;
      const ada = await create(first, 'late');
      await fixture.reconcileAfter(3_000);
      expect(travelers(fixture)).toHaveLength(1);
      await bridge.users.remove(users, ada);
      expect(travelers(fixture)).toEqual([]);
      travel.carryOutLateCalls();
      expect(travelers(fixture)).toHaveLength(1);
      await settle(fixture);
      expect(travelers(fixture)).toEqual([]);
    },
    { deprovision: 'delete' },
  ));

test('who waits for the address of a lost create of an inactive user is not tried again before the create is settled', () =>
  withUsers(async (fixture, create) => {
    const { bridge, travel, clock } = fixture;
    await create(person('Ada', { active: false }), 'lose');
    const zoe = await create(person('Zoe'));
    clock.advance(5_000);
    const search = travel.holdCall('findByEmails');
    const attempts = bridge.reconcileDue();
    await search.reached;
    await fixture.patch(zoe, emailsOf(addressOf('Ada')));
    travel.calls.length = 0;
    // Each read of Ada's traveler lasts longer than an attempt at Zoe, and none may follow the other without end.
    travel.faultFor = async ({ verb }) => {
      for (let turn = 0; verb === 'read' && turn < 10; turn += 1) await new Promise(setImmediate);
      return travel.calls.length > 20 ? 'hang' : undefined;
    };
    search.release();
    await attempts;
    expect(travel.calls.length).toBeLessThan(5);
    expect(await fixture.findings(zoe)).toEqual(['email: emailHeldByLeaver']);
    await settle(fixture);
    expect((await fixture.traveler(zoe))?.email).toBe(addressOf('Ada'));
  }));
