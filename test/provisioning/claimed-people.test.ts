import {
  addressOf,
  allUsers,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const notFound = { kind: 'notFound' };

/** Imports a traveler whom nobody has provisioned, and returns the id under which the person is listed. */
async function importPerson(fixture: ProvisioningFixture, name: string, archived = false): Promise<string> {
  const traveler = fixture.travel.addTraveler({
    ...{ email: addressOf(name), firstName: name, lastName: 'Smith', archived },
  });
  await fixture.importTravelers();
  const [identity] = await fixture.store.identities.find(users, { by: 'travelId', value: traveler.id });
  return identity?.id ?? '';
}

test('a client that lists people, creates one of them and deletes the listed entry removes nobody', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const listed = await importPerson(fixture, 'Ada');
    const created = await bridge.users.create(users, person('Ada', { externalId: 'e1' }));
    expect(created.id).not.toBe(listed);
    expect(created.travelUserId).toBe('t-2');
    await expect(bridge.users.read(users, listed)).rejects.toMatchObject(notFound);
    await expect(fixture.patch(listed, { title: 'Dr.' })).rejects.toMatchObject(notFound);
    await expect(bridge.users.remove(users, listed)).rejects.toMatchObject(notFound);
    expect(await fixture.traveler(created.id)).toMatchObject({ id: 't-2', archived: false });
    expect((await bridge.users.list(users, allUsers())).rows.map(({ id }) => id)).toContain(created.id);
    expect(await fixture.store.holds.countHolds()).toEqual([]);
  }));

test('a person who is listed under the userName is claimed under a new id, whatever the address', () =>
  withFixture(async (fixture) => {
    const listed = await importPerson(fixture, 'Ada');
    const { emails } = person('Ada Lovelace');
    const { id } = await fixture.bridge.users.create(users, person('Ada', { emails: emails ?? [] }));
    expect(id).not.toBe(listed);
    expect((await fixture.identity(id)).travelId).toBe('t-2');
    expect(await fixture.store.identities.findById(users, listed)).toBeUndefined();
  }));

test.each([
  ['a PATCH', 'patch'],
  ['a PUT', 'replace'],
] as const)('%s of the listed id claims the person under that id', (_, kind) =>
  withFixture(async (fixture) => {
    const listed = await importPerson(fixture, 'Ada');
    await fixture.bridge.users.change(users, listed, () => person('Ada', { title: 'Dr.' }), kind);
    expect(await fixture.identity(listed)).toMatchObject({ claimed: true, travelId: 't-2' });
  }),
);

test('the memberships of a person move from the listed id to the new one', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const [listed, other] = [await importPerson(fixture, 'Ada'), await importPerson(fixture, 'Bob')];
    const group = await bridge.groups.create(users, { displayName: 'Directors' }, [
      { value: listed, display: 'Ada' },
      { value: other },
    ]);
    const { id, groups } = await bridge.users.create(users, person('Ada'));
    expect(groups).toEqual([{ value: group.id, display: 'Directors' }]);
    const after = await bridge.groups.read(users, group.id, true);
    expect(after.members).toMatchObject([{ value: id, display: 'Ada', names: 'User' }, { value: other }]);
    expect(after.version).toBe(group.version + 1);
    expect((await bridge.users.read(users, id)).groups).toEqual(groups);
  }));

test('the memberships of the listed id decide the values of the new user', () =>
  withFixture(
    async (fixture) => {
      const listed = await importPerson(fixture, 'Ada');
      await fixture.bridge.groups.create(users, { displayName: 'Directors' }, [{ value: listed }]);
      const { id } = await fixture.bridge.users.create(users, person('Ada'));
      expect(await fixture.traveler(id)).toMatchObject({ id: 't-2', lang: 'fr' });
    },
    {
      mapping: {
        scimUserMapping: [{ template: 'fr', userAttribute: 'lang', when: 'groups[display eq "Directors"]' }],
      },
    },
  ));

test('the reports of a listed person keep their manager, also those whose attempt is running', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const listed = await importPerson(fixture, 'Boss');
    const ada = await bridge.users.create(users, person('Ada', managedBy(listed)));
    const running = travel.holdCall('create');
    const bob = bridge.users.create(users, person('Bob', managedBy(listed)));
    await running.reached;
    const { id } = await bridge.users.create(users, person('Boss'));
    running.release();
    await bob;
    await fixture.reconcileAfter(60_000);
    const reports = [ada.id, (await bob).id];
    for (const report of reports) {
      expect(await fixture.traveler(report)).toMatchObject({ managerId: 't-2' });
      expect(await fixture.findings(report)).toEqual([]);
    }
    await fixture.patch(id, { active: false });
    await fixture.reconcileAfter(60_000);
    for (const report of reports)
      expect(await fixture.findings(report)).toEqual(['managerId: managerInactive']);
  }));

test('a report whose attempt saves the listed id as that of its manager after the claim keeps the manager', () =>
  withFixture(async (fixture) => {
    const listed = await importPerson(fixture, 'Boss');
    const { id } = await fixture.bridge.users.create(users, person('Ada', managedBy(listed)));
    const rows = await fixture.store.references.findRows(users, id);
    await fixture.bridge.users.create(users, person('Boss'));
    await fixture.store.references.save(users, id, rows);
    await fixture.patch(id, { title: 'Dr.' });
    expect(await fixture.traveler(id)).toMatchObject({ managerId: 't-2' });
  }));

test('of two POSTs for one listed person at the same time, one is a conflict', () =>
  withFixture(async (fixture) => {
    const listed = await importPerson(fixture, 'Ada');
    const results = await Promise.allSettled([
      fixture.bridge.users.create(users, person('Ada')),
      fixture.replica().users.create(users, person('Ada')),
    ]);
    const failed = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(failed).toEqual([expect.objectContaining({ kind: 'conflict' })]);
    const linked = await fixture.store.identities.find(users, { by: 'travelId', value: 't-2' });
    expect(linked).toEqual([expect.objectContaining({ claimed: true })]);
    expect(linked[0]?.id).not.toBe(listed);
  }));

test('a user who is linked later to the traveler of a listed person gets the memberships of that person', () =>
  withFixture(
    async (fixture) => {
      const { bridge } = fixture;
      const listed = await importPerson(fixture, 'Ada');
      const group = await bridge.groups.create(users, { displayName: 'Directors' }, [{ value: listed }]);
      const { id } = await bridge.users.create(users, { userName: 'ada' });
      await fixture.patch(id, { emails: person('Ada').emails ?? [] });
      await fixture.reconcileAfter(1_000);
      expect(await fixture.traveler(id)).toMatchObject({ id: 't-2', lang: 'fr' });
      expect((await bridge.groups.read(users, group.id, true)).members).toMatchObject([{ value: id }]);
    },
    {
      mapping: {
        scimUserMapping: [{ template: 'fr', userAttribute: 'lang', when: 'groups[display eq "Directors"]' }],
      },
    },
  ));
