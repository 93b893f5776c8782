import {
  addressOf,
  type ProvisioningFixture,
  person,
  usersWhere,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const spelled = addressOf('Ada').toUpperCase();

/** A person without an address: the default rule takes a userName that is one. */
function withoutEmails(values: object = {}) {
  const { emails: _, ...rest } = person('Ada', { userName: addressOf('Ada'), ...values });
  return rest;
}

async function idOf({ bridge }: ProvisioningFixture, userName: string): Promise<string> {
  const { rows } = await bridge.users.list(
    users,
    usersWhere({ field: 'userName', operator: 'eq', value: userName }),
  );
  return rows[0]?.id ?? '';
}

function sentEmails({ travel }: ProvisioningFixture) {
  return travel.writes().flatMap(({ body }) => (body && 'email' in body ? [body['email']] : []));
}

describe('a traveler who is adopted by userName keeps the address', () => {
  test('when a POST claims the imported person, whose address has another spelling', () =>
    withFixture(async (fixture) => {
      const old = fixture.travel.addTraveler({ email: spelled });
      await fixture.importTravelers();
      const ada = await fixture.bridge.users.create(users, withoutEmails());
      expect(ada.travelUserId).toBe(old.id);
      expect(await fixture.traveler(ada.id)).toMatchObject({ email: spelled, firstName: 'Ada' });
    }));

  test('when the address has been changed in the travel service since the import', () =>
    withFixture(async (fixture) => {
      const old = fixture.travel.addTraveler({ email: addressOf('Ada') });
      await fixture.importTravelers();
      fixture.travel.travelers.set(old.id, { ...old, email: addressOf('Augusta') });
      const ada = await fixture.bridge.users.create(users, withoutEmails());
      expect(ada.travelUserId).toBe(old.id);
      expect(await fixture.traveler(ada.id)).toMatchObject({ email: addressOf('Augusta') });
    }));

  test('when a PUT claims the person under another userName, and in all later reconciliations', () =>
    withFixture(async (fixture) => {
      fixture.travel.addTraveler({ email: addressOf('Ada') });
      await fixture.importTravelers();
      const ada = await idOf(fixture, addressOf('Ada'));
      const renamed = withoutEmails({ userName: addressOf('King') });
      await fixture.bridge.users.change(users, ada, () => renamed, 'replace');
      await fixture.bridge.users.change(users, ada, () => ({ ...renamed, title: 'Lead' }), 'replace');
      await fixture.bridge.users.change(
        users,
        ada,
        (user) => ({ ...user, preferredLanguage: 'fr' }),
        'patch',
      );
      expect(sentEmails(fixture)).toEqual([]);
      expect(await fixture.traveler(ada)).toMatchObject({ email: addressOf('Ada'), lang: 'fr' });
      expect((await fixture.identity(ada)).state).toBe('synced');
    }));

  test('when a POST finds a traveler whom no import has read', () =>
    withFixture(async (fixture) => {
      const old = fixture.travel.addTraveler({ email: spelled });
      const ada = await fixture.bridge.users.create(users, withoutEmails());
      expect((await fixture.identity(ada.id)).travelId).toBe(old.id);
      expect(await fixture.traveler(ada.id)).toMatchObject({ email: spelled, firstName: 'Ada' });
    }));

  test('when an attempt fails and is repeated', () =>
    withFixture(async (fixture) => {
      fixture.travel.addTraveler({ email: spelled });
      await fixture.importTravelers();
      fixture.travel.faultFor = ({ verb }) =>
        verb === 'patch' ? { kind: 'unavailable', text: '503' } : undefined;
      const ada = await fixture.bridge.users.create(users, withoutEmails());
      fixture.travel.faultFor = () => undefined;
      await fixture.reconcileAfter(600_000);
      expect(await fixture.traveler(ada.id)).toMatchObject({ email: spelled, firstName: 'Ada' });
    }));
});

describe('a traveler who is adopted by userName gets another address', () => {
  test('when the IdP sends one, with the adoption or later', () =>
    withFixture(async (fixture) => {
      fixture.travel.addTraveler({ email: spelled });
      fixture.travel.addTraveler({ email: addressOf('Bob').toUpperCase() });
      await fixture.importTravelers();
      const emails = [{ value: addressOf('Augusta'), type: 'work' }];
      const ada = await fixture.bridge.users.create(users, { ...withoutEmails(), emails });
      expect(await fixture.traveler(ada.id)).toMatchObject({ email: addressOf('Augusta') });
      const bob = await fixture.bridge.users.create(users, withoutEmails({ userName: addressOf('Bob') }));
      const sent = {
        ...withoutEmails({ userName: addressOf('Bob') }),
        emails: [{ value: addressOf('Bob') }],
      };
      await fixture.bridge.users.change(users, bob.id, () => sent, 'replace');
      expect(await fixture.traveler(bob.id)).toMatchObject({ email: addressOf('Bob') });
    }));

  test('when the IdP changes the userName afterwards', () =>
    withFixture(async (fixture) => {
      fixture.travel.addTraveler({ email: spelled });
      await fixture.importTravelers();
      const ada = await fixture.bridge.users.create(users, withoutEmails());
      await fixture.bridge.users.change(
        users,
        ada.id,
        () => withoutEmails({ userName: addressOf('King') }),
        'replace',
      );
      expect(await fixture.traveler(ada.id)).toMatchObject({ email: addressOf('King') });
    }));

  test('but not a person whose traveler the bridge has created', () =>
    withFixture(async (fixture) => {
      const ada = await fixture.bridge.users.create(users, withoutEmails());
      await fixture.bridge.users.change(users, ada.id, () => withoutEmails({ userName: spelled }), 'replace');
      expect(await fixture.traveler(ada.id)).toMatchObject({ email: spelled });
    }));
});

test('an address that was adopted and is changed in the travel service later is drift', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({ email: spelled });
    await fixture.importTravelers();
    const ada = await fixture.bridge.users.create(users, withoutEmails());
    expect((await fixture.identity(ada.id)).applied['email']).toMatchObject({ sent: spelled, seen: spelled });
    const now = fixture.travel.travelers.get(old.id) ?? old;
    fixture.travel.travelers.set(old.id, { ...now, email: addressOf('Augusta') });
    await fixture.importTravelers();
    await fixture.patch(ada.id, { nickName: 'A' });
    expect(await fixture.findings(ada.id)).toEqual(['email: drift']);
    expect(await fixture.traveler(ada.id)).toMatchObject({ email: addressOf('Augusta') });
  }));
