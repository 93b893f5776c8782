import type { Identity } from '../../src/model/identity.ts';
import { type ScimResource, urns } from '../../src/schema/resource.ts';
import type { FakeTravel } from '../fixtures/fake-travel.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const DAY_MS = 86_400_000;

/** The fields of the leaver's traveler that were changed by hand. */
const manualFields = {
  gender: 'female',
  dateOfBirth: '1980-05-05',
  roles: ['premium'],
};

function numbered(employeeNumber: string): ScimResource {
  return { [urns.enterprise]: { employeeNumber } };
}

function named(givenName: string, familyName = 'Smith'): ScimResource {
  return { name: { givenName, familyName } };
}

interface LeaverOptions {
  attributes?: ScimResource;
  isDeleted?: boolean;
  connection?: string;
}

/** Creates a user, changes the traveler by hand, and lets the user leave. */
async function leaver(
  fixture: ProvisioningFixture,
  { attributes = {}, isDeleted = false, connection = users }: LeaverOptions = {},
): Promise<{ id: string; travelId: string }> {
  const { bridge, travel } = fixture;
  const ada = await bridge.users.create(connection, person('Ada', attributes));
  const traveler = await fixture.traveler(ada.id, connection);
  if (!traveler) throw new Error('there is no traveler');
  travel.travelers.set(traveler.id, { ...traveler, ...manualFields });
  if (isDeleted) await bridge.users.remove(connection, ada.id);
  else await fixture.patch(ada.id, { active: false }, connection);
  await fixture.reconcileAfter(1_000);
  return { id: ada.id, travelId: traveler.id };
}

async function settle(fixture: ProvisioningFixture): Promise<void> {
  for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
  expect(await fixture.bridge.reconcileDue()).toBe(0);
}

function codes({ findings }: Identity): string[] {
  return findings.map(({ code }) => code);
}

describe.each([true, false])('after a DELETE (%s) or a deactivation', (isDeleted) => {
  const post = async (fixture: ProvisioningFixture, attributes: ScimResource, before: ScimResource = {}) => {
    const old = await leaver(fixture, { attributes: { userName: 'ada.one', ...before }, isDeleted });
    const user = await fixture.bridge.users.create(
      users,
      person('Ada', { userName: 'ada.two', ...attributes }),
    );
    const answered = user.travelUserId;
    await settle(fixture);
    return { old, id: user.id, answered, identity: await fixture.identity(user.id) };
  };

  test.each<[string, ScimResource, ScimResource]>([
    [
      'the same externalId, another name and address',
      { externalId: 'e1' },
      { externalId: 'e1', ...named('Ada', 'Meyer'), ...emailsOf('ada.meyer@corp.example') },
    ],
    ['the same externalId and address', { externalId: 'e1' }, { externalId: 'e1' }],
    ['the names and the address alone', {}, {}],
  ])('a new user with %s has the traveler as it was', (_, before, attributes) =>
    withFixture(async (fixture) => {
      const { old, answered, identity, id } = await post(fixture, attributes, before);
      expect(answered).toBe(old.travelId);
      expect(identity).toMatchObject({ state: 'synced', travelId: old.travelId, findings: [] });
      expect(await fixture.traveler(id)).toMatchObject({ archived: false, ...manualFields });
      expect((await fixture.identity(old.id)).travelId).toBeUndefined();
      expect(fixture.travel.travelers.size).toBe(2);
    }),
  );

  test('another person with the address has a traveler of their own in the answer, and inherits nothing', () =>
    withFixture(async (fixture) => {
      const { old, answered, identity, id } = await post(fixture, named('Bert'));
      expect(answered).toBe(identity.travelId);
      expect(answered).not.toBe(old.travelId);
      const traveler = await fixture.traveler(id);
      expect(traveler).toMatchObject({ firstName: 'Bert', email: addressOf('Ada'), archived: false });
      for (const name of Object.keys(manualFields)) expect(traveler).not.toHaveProperty(name);
      expect(await fixture.traveler(old.id)).toMatchObject({
        ...manualFields,
        archived: true,
        email: expect.stringMatching(/^parked-.*@jetbridge\.invalid$/),
      });
      const before = await fixture.identity(old.id);
      expect([codes(identity), codes(before)]).toEqual([['otherPerson'], ['otherPerson']]);
      for (const { findings } of [identity, before]) expect(findings[0]?.reason).toContain('row 3');
      expect([identity.state, before.state]).toEqual(['synced', 'synced']);
    }));

  test('a namesake after a year has a traveler of their own, with a finding that tells how to join the two', () =>
    withFixture(async (fixture) => {
      const old = await leaver(fixture, { attributes: { userName: 'ada.one', externalId: 'e1' }, isDeleted });
      fixture.clock.advance(365 * DAY_MS);
      const user = await fixture.bridge.users.create(
        users,
        person('Ada', { userName: 'ada.two', externalId: 'e2' }),
      );
      await settle(fixture);
      const identity = await fixture.identity(user.id);
      expect(identity.travelId).not.toBe(old.travelId);
      expect(codes(identity)).toEqual(['otherPerson']);
      expect(identity.findings[0]).toMatchObject({
        reason: expect.stringContaining('row 3'),
        remedy: expect.stringContaining(`people join ${old.id}`),
      });
      expect(codes(await fixture.identity(old.id))).toEqual(['otherPerson']);
    }));

  test.each<[string, string | null | undefined, FakeTravel['faultFor'] | undefined]>([
    ['there is no parking domain', null, undefined],
    [
      'the travel API refuses the parking address',
      undefined,
      ({ verb, body }) =>
        verb === 'patch' && String(body?.email).startsWith('parked-')
          ? { kind: 'invalid', fields: [{ field: 'email', code: 'invalid', message: 'no' }] }
          : undefined,
    ],
  ])('another person waits for the address if %s', (_, parkingDomain, faultFor) =>
    withFixture(
      async (fixture) => {
        if (faultFor) fixture.travel.faultFor = faultFor;
        const { old, identity } = await post(fixture, named('Bert'));
        expect(identity).toMatchObject({ state: 'pending', travelId: undefined });
        expect(codes(identity)).toEqual(['otherPerson', 'emailTaken']);
        expect(codes(await fixture.identity(old.id))).toContain('otherPerson');
        expect(fixture.travel.travelers.get(old.travelId)).toMatchObject({
          archived: true,
          firstName: 'Ada',
          email: addressOf('Ada'),
        });
      },
      parkingDomain === undefined ? {} : { parkingDomain },
    ),
  );

  test('another person waits for the address if the leaver administers the travel service', () =>
    withFixture(async (fixture) => {
      const old = await leaver(fixture, { isDeleted, attributes: { userName: 'ada.one' } });
      const traveler = fixture.travel.travelers.get(old.travelId);
      if (traveler) fixture.travel.travelers.set(old.travelId, { ...traveler, roles: ['admin'] });
      await fixture.importTravelers();
      const user = await fixture.bridge.users.create(
        users,
        person('Ada', { userName: 'ada.two', ...named('Bert') }),
      );
      await settle(fixture);
      expect(await fixture.identity(user.id)).toMatchObject({ state: 'pending', travelId: undefined });
      expect(fixture.travel.travelers.get(old.travelId)).toMatchObject({ archived: true, roles: ['admin'] });
    }));

  test('the same employee number makes nobody the leaver', () =>
    withFixture(async (fixture) => {
      const attributes = {
        ...numbered('77'),
        ...named('Ada', 'Meyer'),
        ...emailsOf('ada.meyer@corp.example'),
      };
      const { old, identity } = await post(fixture, attributes, numbered('77'));
      expect(identity.travelId).not.toBe(old.travelId);
      expect(codes(identity)).toEqual([]);
    }));
});

test('later writes to a user whose traveler was passed on never touch it, and a reactivation makes the user a joiner', () =>
  withFixture(async (fixture) => {
    const old = await leaver(fixture, { attributes: { userName: 'ada.one', externalId: 'e1' } });
    const back = await fixture.bridge.users.create(
      users,
      person('Ada', { userName: 'ada.two', externalId: 'e1' }),
    );
    await settle(fixture);
    const before = await fixture.identity(old.id);
    expect(before).toMatchObject({ state: 'synced', travelId: undefined });
    expect(codes(before)).toEqual(['passedOn']);
    fixture.travel.calls.length = 0;
    await fixture.patch(old.id, { displayName: 'Old', ...named('Someone') });
    await fixture.bridge.users.change(users, old.id, (current) => ({ ...current, active: false }), 'replace');
    await settle(fixture);
    expect(fixture.travel.writes()).toEqual([]);
    await fixture.patch(old.id, { active: true });
    await settle(fixture);
    expect(await fixture.identity(old.id)).toMatchObject({ state: 'pending', travelId: undefined });
    await fixture.patch(old.id, emailsOf('someone@corp.example'));
    await settle(fixture);
    expect(await fixture.traveler(old.id)).toMatchObject({
      firstName: 'Someone',
      email: 'someone@corp.example',
    });
    expect(await fixture.traveler(back.id)).toMatchObject({
      id: old.travelId,
      firstName: 'Ada',
      archived: false,
    });
  }));

test.each<[string, ScimResource]>([
  ['with the address', {}],
  ['with another address', emailsOf('ada.two@corp.example')],
])(
  'while the old user is active, a new user of the same person %s takes no traveler, and both are told',
  (_, address) =>
    withFixture(async (fixture) => {
      const { bridge } = fixture;
      const one = await bridge.users.create(users, person('Ada', { userName: 'ada.one', externalId: 'e1' }));
      const two = await bridge.users.create(
        users,
        person('Ada', { userName: 'ada.two', externalId: 'e1', ...address }),
      );
      await settle(fixture);
      const [first, second] = [await fixture.identity(one.id), await fixture.identity(two.id)];
      expect(codes(first)).toEqual(['secondUser']);
      expect(codes(second)).toContain('secondUser');
      expect(second.travelId).not.toBe(first.travelId);
      expect(await fixture.traveler(one.id)).toMatchObject({ archived: false, email: addressOf('Ada') });
    }),
);

describe('a reactivation', () => {
  test('under a new externalId alone keeps everything that was entered by hand', () =>
    withFixture(async (fixture) => {
      const old = await leaver(fixture, { attributes: { externalId: '00uOLD' } });
      await fixture.patch(old.id, { externalId: 'guid-1', active: true });
      await settle(fixture);
      expect(await fixture.traveler(old.id)).toMatchObject({ archived: false, ...manualFields });
      expect(await fixture.findings(old.id)).toEqual([]);
    }));

  test('is not judged again if the names follow', () =>
    withFixture(async (fixture) => {
      const old = await leaver(fixture);
      await fixture.patch(old.id, { active: true });
      await settle(fixture);
      await fixture.patch(old.id, named('Bert'));
      await settle(fixture);
      expect((await fixture.identity(old.id)).travelId).toBe(old.travelId);
    }));

  test('is compared with the values at the departure, not with later ones', () =>
    withFixture(async (fixture) => {
      const old = await leaver(fixture);
      await fixture.patch(old.id, named('Bert', 'Meyer'));
      await fixture.patch(old.id, { active: true });
      await settle(fixture);
      expect((await fixture.identity(old.id)).travelId).not.toBe(old.travelId);
    }));

  test('after a year under another externalId is that of another person', () =>
    withFixture(async (fixture) => {
      const old = await leaver(fixture, { attributes: { externalId: 'e1' } });
      fixture.clock.advance(365 * DAY_MS);
      await fixture.patch(old.id, { externalId: 'e2', active: true });
      await settle(fixture);
      const identity = await fixture.identity(old.id);
      expect(identity.travelId).not.toBe(old.travelId);
      expect(codes(identity)).toEqual(['otherPerson']);
      expect(fixture.travel.travelers.get(old.travelId)).toMatchObject({ ...manualFields, archived: true });
    }));
});

describe('an archived traveler without a user', () => {
  const archived = (fixture: ProvisioningFixture) =>
    fixture.travel.addTraveler({
      ...{ email: addressOf('Ada'), archived: true, firstName: 'Ada', lastName: 'Smith' },
      createdAt: '2020-01-01T00:00:00Z',
      ...manualFields,
    });

  test.each([
    ['of the same name', true, {}],
    ['of the same name', false, {}],
    ['of another name', true, named('Bert')],
    ['of another name', false, named('Bert')],
  ])('stays archived for a new user %s, who has an own one (imported before: %s)', (_, isImported, names) =>
    withFixture(async (fixture) => {
      const old = archived(fixture);
      if (isImported) await fixture.importTravelers();
      const user = await fixture.bridge.users.create(users, person('Ada', names));
      await settle(fixture);
      const identity = await fixture.identity(user.id);
      expect(identity.travelId).not.toBe(old.id);
      expect(codes(identity)).toEqual(['otherPerson']);
      expect(identity.findings[0]?.remedy).toContain(`people join ${old.id}`);
      expect(fixture.travel.travelers.get(old.id)).toMatchObject({
        ...manualFields,
        archived: true,
        email: expect.stringMatching(/^parked-/),
      });
      expect(await fixture.traveler(user.id)).toMatchObject({ archived: false, email: addressOf('Ada') });
    }),
  );
});

describe.each([true, false])(
  'a move to another connection after a DELETE (%s) or a deactivation',
  (isDeleted) => {
    const options = { more: ['entra'] };

    test('of the same person takes the traveler along', () =>
      withFixture(async (fixture) => {
        const old = await leaver(fixture, { isDeleted });
        const user = await fixture.bridge.users.create('entra', person('Ada'));
        await settle(fixture);
        expect(await fixture.traveler(user.id, 'entra')).toMatchObject({
          id: old.travelId,
          ...manualFields,
          archived: false,
        });
        expect(await fixture.findings(user.id, 'entra')).toEqual(['*: movedFrom']);
        expect(await fixture.findings(old.id)).toEqual(['*: movedTo']);
      }, options));

    test('of another person leaves the traveler with the leaver', () =>
      withFixture(async (fixture) => {
        const old = await leaver(fixture, { isDeleted });
        const user = await fixture.bridge.users.create('entra', person('Ada', named('Bert')));
        await settle(fixture);
        expect((await fixture.identity(user.id, 'entra')).travelId).not.toBe(old.travelId);
        expect(await fixture.findings(user.id, 'entra')).toEqual(['*: otherPerson']);
        expect(fixture.travel.travelers.get(old.travelId)).toMatchObject({ ...manualFields, archived: true });
      }, options));
  },
);

test('the same person gets the traveler also if the process died after it had saved a wait for the address', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { userName: 'ada.one' }));
    await bridge.users.remove(users, ada.id);
    clock.advance(DAY_MS);
    const back = await bridge.users.create(users, { userName: 'ada.two', ...named('Ada'), active: true });
    const killed = new Promise<void>((resolve) => {
      travel.faultFor = async ({ verb }) => {
        if (verb !== 'findByEmails') return undefined;
        await fixture.restart();
        resolve();
        return 'hang';
      };
    });
    void fixture.patch(back.id, emailsOf(addressOf('Ada')));
    await killed;
    await fixture.reconcileAfter(61_000);
    expect(await fixture.traveler(back.id)).toMatchObject({ id: ada.travelUserId, archived: false });
  }));

test('a leaver who has given the address up does not take it back while the newcomer waits for it', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const left = await leaver(fixture);
    let refused: string[] = [left.travelId];
    travel.faultFor = (call) =>
      call.verb === 'patch' && refused.includes(String(call.id))
        ? { kind: 'unavailable', text: '503' }
        : undefined;
    const other = { ...person('Zoe', named('Zoe', 'Quinn')), ...emailsOf(addressOf('Ada')), externalId: 'z' };
    const zoe = await bridge.users.create(users, other);
    const zoesTraveler = await fixture.traveler(zoe.id);
    expect(zoesTraveler?.email).toBe(addressOf('Zoe'));
    refused = [zoesTraveler?.id ?? ''];
    await fixture.reconcileAfter(61_000);
    await fixture.patch(left.id, { title: 'Weaver' });
    await fixture.reconcileAfter(1_000);
    expect(travel.travelers.get(left.travelId)?.email).toMatch(/@jetbridge\.invalid$/);
    refused = [];
    await settle(fixture);
    expect((await fixture.traveler(zoe.id))?.email).toBe(addressOf('Ada'));
  }));

test('a newcomer waits for the address of a leaver whose traveler must be read again, and gets it', () =>
  withFixture(async (fixture) => {
    const { bridge, store, clock } = fixture;
    const old = await leaver(fixture, { isDeleted: true });
    // As an import does that cannot read the traveler.
    await store.imports.saveObserved(users, [{ id: old.id, observed: undefined }], clock.now());
    const { id } = await bridge.users.create(
      users,
      person('Ada', { userName: 'grace', ...named('Grace', 'Hopper') }),
    );
    await settle(fixture);
    expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada'), firstName: 'Grace' });
    expect((await fixture.traveler(old.id))?.email).toMatch(/^parked-/);
  }));

test('a person who returns gets the traveler back although the userName is that of an archived traveler of somebody else', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const staff = { externalId: 'emp-7' };
    const { id: leaver } = await bridge.users.create(users, person('Ada', staff));
    const { travelId } = await fixture.identity(leaver);
    await bridge.users.remove(users, leaver);
    travel.addTraveler({ email: addressOf('Eve'), firstName: 'Eve', lastName: 'Jones', archived: true });
    await fixture.importTravelers();
    const { id } = await bridge.users.create(users, person('Ada', { ...staff, userName: addressOf('Eve') }));
    expect((await fixture.identity(id)).travelId).toBe(travelId);
    expect((await fixture.traveler(id))?.archived).toBe(false);
  }));

test('a person who moves keeps a cost center that is gone from the list by then, and is sent nothing later', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, store, clock } = fixture;
      const costCenters = [{ id: 'cc-1', name: 'Sales', archived: false }];
      travel.lookupData = { ...travel.lookupData, costCenters };
      const attributes = { externalId: 'e1', [urns.enterprise]: { costCenter: 'Sales' } };
      const { id: leaver, travelUserId = '' } = await bridge.users.create(users, person('Ada', attributes));
      expect(travel.travelers.get(travelUserId)?.costCenterId).toBe('cc-1');
      await bridge.users.remove(users, leaver);
      // The address of the traveler is not known at the POST: the leaver is found only by the traveler.
      await store.imports.saveObserved(users, [{ id: leaver, observed: undefined }], clock.now());
      travel.lookupData = { ...travel.lookupData, costCenters: [] };
      const { id } = await bridge.users.create('other', person('Ada', attributes));
      const identity = await fixture.identity(id, 'other');
      expect(identity).toMatchObject({ travelId: travelUserId, state: 'synced' });
      const unknown = expect.objectContaining({ field: 'costCenterId', code: 'costCenterUnknown' });
      expect(identity.findings).toContainEqual(unknown);
      expect(travel.travelers.get(travelUserId)?.costCenterId).toBe('cc-1');
      const sent = travel.writes().length;
      await settle(fixture);
      await fixture.importTravelers(fixture.connectionOf('other'));
      expect(travel.writes()).toHaveLength(sent);
    },
    { more: ['other'] },
  ));
