import type { TravelAnswer } from '../../src/model/travel-ports.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import {
  addressOf,
  allUsers,
  desiredOf,
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  usersWhere,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const ownEmail = 'bridge@travel.example';
const ownPerson = person('Bridge', { userName: ownEmail, ...emailsOf(ownEmail) });
const refused = { kind: 'refused', message: expect.stringContaining('Jetbridge itself uses') };

/** The requests that would list or find the person of the credential. */
const queries = {
  'a list': allUsers(),
  'a count': allUsers(0),
  'a filter on active': usersWhere({ field: 'active', operator: 'eq', value: true }),
  'a filter on userName': usersWhere({ field: 'userName', operator: 'eq', value: ownEmail }),
  'a filter on an address': usersWhere({ field: 'email', operator: 'eq', value: ownEmail }),
  'a filter with or': usersWhere({
    any: [
      { field: 'userName', operator: 'eq', value: ownEmail },
      { field: 'email', operator: 'eq', value: ownEmail },
    ],
  }),
  'a list sorted by userName': { ...allUsers(), order: { by: 'userName', descending: true } as const },
  'a filter that is evaluated on each user': {
    ...allUsers(),
    residual: { matches: async () => true, needsGroups: false },
  },
};

/** Makes the travel API refuse to tell whose credential it is, or tell another one. */
function answerWhoAmI(fixture: ProvisioningFixture, answer: TravelAnswer<TravelUser>): void {
  fixture.connection.lookups.readOwnUser = async () => answer;
}

async function idOfOwn({ store }: ProvisioningFixture): Promise<string> {
  const [own] = await store.identities.find(users, { by: 'travelId', value: 't-1' });
  return own?.id ?? '';
}

describe('the person whose credential the bridge uses, while unclaimed', () => {
  test.each(Object.entries(queries))('is neither returned nor counted by %s', (_, query) =>
    withFixture(async (fixture) => {
      await fixture.importTravelers();
      expect(await fixture.bridge.users.list(users, query)).toMatchObject({ total: 0, rows: [] });
      fixture.travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada' });
      fixture.travel.addTraveler({ email: addressOf('Bob'), archived: true });
      await fixture.importTravelers();
      const all = await fixture.bridge.users.list(users, allUsers());
      expect(all.total).toBe(2);
      expect(all.rows.map((user) => desiredOf(user).userName)).not.toContain(ownEmail);
      const { total, rows } = await fixture.bridge.users.list(users, query);
      expect(rows.map(({ travelUserId }) => travelUserId)).not.toContain('t-1');
      if (query.limit > 0) expect(rows).toHaveLength(total);
    }),
  );

  test('leaves every page of a list complete', () =>
    withFixture(async (fixture) => {
      for (let n = 0; n < 7; n += 1) fixture.travel.addTraveler({ email: addressOf(`P${n}`) });
      await fixture.importTravelers();
      const pages = [];
      for (const offset of [0, 3, 6]) {
        const page = await fixture.bridge.users.list(users, { ...allUsers(3), start: { offset } });
        expect(page.total).toBe(7);
        pages.push(...page.rows.map((user) => desiredOf(user).userName));
      }
      expect(pages).toHaveLength(7);
      expect(new Set(pages).size).toBe(7);
      expect(pages).not.toContain(ownEmail);
    }));

  test('is hidden when a filter finds it in the travel API before any import', () =>
    withFixture(async ({ bridge }) => {
      const query = queries['a filter on userName'];
      expect((await bridge.users.list(users, query)).total).toBe(0);
      expect((await bridge.users.list(users, query)).total).toBe(0);
    }));

  test('is not found by its id', () =>
    withFixture(async (fixture) => {
      await fixture.importTravelers();
      const id = await idOfOwn(fixture);
      const notFound = { kind: 'notFound' };
      await expect(fixture.bridge.users.read(users, id)).rejects.toMatchObject(notFound);
      await expect(fixture.patch(id, { title: 'Dr.' })).rejects.toMatchObject(notFound);
      await expect(fixture.bridge.users.remove(users, id)).rejects.toMatchObject(notFound);
    }));

  test('stays hidden after a restart while the travel API does not tell who it is', () =>
    withFixture(async (fixture) => {
      await fixture.importTravelers();
      answerWhoAmI(fixture, { kind: 'unavailable', text: 'down' });
      await fixture.restart();
      expect((await fixture.bridge.users.list(users, allUsers())).total).toBe(0);
      await fixture.importTravelers();
      expect((await fixture.bridge.users.list(users, allUsers())).total).toBe(0);
    }));

  test('is listed once another credential is used, whose person is hidden then', () =>
    withFixture(async (fixture) => {
      const other = fixture.travel.addTraveler({ email: addressOf('Robot') });
      await fixture.importTravelers();
      answerWhoAmI(fixture, { kind: 'ok', value: other });
      await fixture.restart();
      await fixture.importTravelers();
      const { total, rows } = await fixture.bridge.users.list(users, allUsers());
      expect(total).toBe(1);
      expect(rows.map((user) => desiredOf(user).userName)).toEqual([ownEmail]);
    }));

  test('can be the manager of others', () =>
    withFixture(async (fixture) => {
      await fixture.importTravelers();
      const { id } = await fixture.bridge.users.create(users, person('Ada', managedBy(ownEmail)));
      expect(await fixture.traveler(id)).toMatchObject({ managerId: 't-1' });
    }));

  test('is claimed by a POST, and is then read, listed and found as any user', () =>
    withFixture(async (fixture) => {
      await fixture.importTravelers();
      const { id } = await fixture.bridge.users.create(users, ownPerson);
      expect(desiredOf(await fixture.bridge.users.read(users, id))).toMatchObject({ userName: ownEmail });
      for (const query of Object.values(queries))
        expect((await fixture.bridge.users.list(users, query)).total).toBe(1);
    }));
});

/** Creates the user of the credential, before or after an import. */
const creations: [string, (fixture: ProvisioningFixture) => Promise<string>][] = [
  ['before any import', async ({ bridge }) => (await bridge.users.create(users, ownPerson)).id],
  [
    'after an import',
    async (fixture) => {
      await fixture.importTravelers();
      return (await fixture.bridge.users.create(users, ownPerson)).id;
    },
  ],
];

describe.each(creations)('the person of the credential that was POSTed %s', (_, create) => {
  test.each([
    ['a deactivation', (fixture: ProvisioningFixture, id: string) => fixture.patch(id, { active: false })],
    ['a DELETE', (fixture: ProvisioningFixture, id: string) => fixture.bridge.users.remove(users, id)],
  ])('stays active in SCIM after %s, which is refused each time', (_name, send) =>
    withFixture(async (fixture) => {
      const before = [...fixture.travel.travelers.values()];
      const id = await create(fixture);
      for (let repeat = 0; repeat < 2; repeat += 1) {
        await expect(send(fixture, id)).rejects.toMatchObject(refused);
        expect(desiredOf(await fixture.bridge.users.read(users, id)).active).toBe(true);
      }
      fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
      await expect(send(fixture, id)).rejects.toMatchObject(refused);
      expect(desiredOf(await fixture.bridge.users.read(users, id)).active).toBe(true);
      expect([...fixture.travel.travelers.values()]).toEqual(before);
      expect(await fixture.findings(id)).toContain('*: ownCredential');
      expect(await fixture.store.holds.countHolds()).toEqual([]);
    }),
  );
});

test('a refused deactivation of the person of the credential changes nothing else', () =>
  withFixture(async (fixture) => {
    const { id } = await fixture.bridge.users.create(users, ownPerson);
    const { version } = await fixture.bridge.users.read(users, id);
    await expect(fixture.patch(id, { active: false, title: 'Dr.' })).rejects.toMatchObject(refused);
    const after = await fixture.bridge.users.read(users, id);
    expect(after.version).toBe(version);
    expect(desiredOf(after)).not.toHaveProperty('title');
  }));

test('the person of the credential who was created inactive is active after the next refusal', () =>
  withFixture(async (fixture) => {
    const { id } = await fixture.bridge.users.create(users, { ...ownPerson, active: false });
    await expect(fixture.patch(id, { active: false })).rejects.toMatchObject(refused);
    expect(desiredOf(await fixture.bridge.users.read(users, id)).active).toBe(true);
  }));

test('a person whose traveler becomes the user of the credential is not looked at again and again for an earlier call', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock } = fixture;
    const { id } = await bridge.users.create(users, person('Ada'));
    const traveler = await fixture.traveler(id);
    if (!traveler) throw new Error('there is no traveler');
    travel.faultFor = ({ verb }) =>
      verb === 'patch' ? { kind: 'unavailable', text: 'no answer' } : undefined;
    await fixture.patch(id, { title: 'Engineer', name: { givenName: 'Augusta', familyName: 'Smith' } });
    travel.faultFor = () => undefined;
    await fixture.reconcileAfter(2_000);
    answerWhoAmI(fixture, { kind: 'ok', value: traveler });
    clock.advance(600_000);
    for (let look = 0; look < 3; look += 1) await fixture.reconcileAfter(600_000);
    expect(await fixture.findings(id)).toEqual(['*: ownCredential']);
    clock.advance(600_000);
    expect(await bridge.reconcileDue()).toBe(0);
  }));
