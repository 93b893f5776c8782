import { person, withFixture } from '../fixtures/provisioning.ts';

const connection = 'default';
const same = <T>(value: T): T => value;
const conflict = { kind: 'conflict' };
const notFound = { kind: 'notFound' };

test('a group has the members that were sent, and its members list the group', () =>
  withFixture(async ({ bridge, travel }) => {
    const ada = await bridge.users.create(connection, person('Ada'));
    travel.calls.length = 0;
    const staff = await bridge.groups.create(connection, { displayName: 'Staff' }, [{ value: ada.id }]);
    expect(staff).toMatchObject({
      version: 1,
      attributes: { displayName: 'Staff' },
      members: [{ value: ada.id }],
    });
    expect((await bridge.users.read(connection, ada.id)).groups).toEqual([
      { value: staff.id, display: 'Staff' },
    ]);
    expect((await bridge.groups.read(connection, staff.id, false)).members).toBeUndefined();
    expect(travel.calls).toEqual([]);
  }));

test('a displayName is unique without case within its connection', () =>
  withFixture(
    async ({ bridge }) => {
      await bridge.groups.create(connection, { displayName: 'Staff' }, []);
      const guests = await bridge.groups.create(connection, { displayName: 'Guests' }, []);
      await expect(bridge.groups.create(connection, { displayName: 'STAFF' }, [])).rejects.toMatchObject(
        conflict,
      );
      const rename = { attributes: () => ({ displayName: 'staff' }), members: [] };
      await expect(bridge.groups.change(connection, guests.id, rename, false)).rejects.toMatchObject(
        conflict,
      );
      await bridge.groups.create('other', { displayName: 'Staff' }, []);
      await expect(bridge.groups.read('other', guests.id, false)).rejects.toMatchObject(notFound);
    },
    { more: ['other'] },
  ));

test('members are added, removed and replaced in order, and a change without effect keeps the version', () =>
  withFixture(async ({ bridge, clock }) => {
    const { id } = await bridge.groups.create(connection, { displayName: 'Staff' }, [{ value: 'a' }]);
    clock.advance(1_000);
    const values = async (...members: Parameters<typeof bridge.groups.change>[2]['members']) => {
      const after = await bridge.groups.change(connection, id, { attributes: same, members }, true);
      return { version: after.version, members: after.members?.map(({ value }) => value) };
    };
    expect(await values({ kind: 'add', members: [{ value: 'a' }] })).toEqual({ version: 1, members: ['a'] });
    const added = await values(
      { kind: 'add', members: [{ value: 'b' }, { value: 'c' }] },
      { kind: 'remove', values: ['a'] },
    );
    expect(added).toEqual({ version: 2, members: ['b', 'c'] });
    expect(await values({ kind: 'replace', members: [{ value: 'z' }] })).toEqual({
      version: 3,
      members: ['z'],
    });
  }));

test('concurrent writes to one group are all applied', () =>
  withFixture(async ({ bridge }) => {
    const { id } = await bridge.groups.create(connection, { displayName: 'Staff' }, []);
    const add = (value: string) =>
      bridge.groups.change(
        connection,
        id,
        { attributes: same, members: [{ kind: 'add', members: [{ value }] }] },
        false,
      );
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add));
    const { members } = await bridge.groups.read(connection, id, true);
    expect(members?.map(({ value }) => value).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  }));

test('a deleted group is not found, and a deleted user is no longer a member', () =>
  withFixture(async ({ bridge }) => {
    const ada = await bridge.users.create(connection, person('Ada'));
    const staff = await bridge.groups.create(connection, { displayName: 'Staff' }, [{ value: ada.id }]);
    await bridge.users.remove(connection, ada.id);
    expect((await bridge.groups.read(connection, staff.id, true)).members).toEqual([]);
    await bridge.groups.remove(connection, staff.id);
    await expect(bridge.groups.read(connection, staff.id, true)).rejects.toMatchObject(notFound);
    await expect(bridge.groups.remove(connection, staff.id)).rejects.toMatchObject(notFound);
  }));

test('groups are listed in a stable order and matched by name without case', () =>
  withFixture(async ({ bridge, clock }) => {
    for (const displayName of ['Staff', 'Guests', 'Admins']) {
      await bridge.groups.create(connection, { displayName }, [{ value: displayName }]);
      clock.advance(1);
    }
    const order = { by: 'position', descending: false } as const;
    const query = { order, start: { offset: 1 }, limit: 1, residual: undefined, withMembers: true };
    const all = await bridge.groups.list(connection, { ...query, where: { all: [] } });
    expect(all).toMatchObject({ total: 3, rows: [{ attributes: { displayName: 'Guests' } }] });
    const where = { field: 'displayName', operator: 'eq', value: 'sTAFF' } as const;
    const page = await bridge.groups.list(connection, { ...query, where, start: { offset: 0 } });
    expect(page).toMatchObject({ total: 1, rows: [{ attributes: { displayName: 'Staff' } }] });
    const { members } = await bridge.groups.read(connection, page.rows[0]?.id ?? '', true);
    expect(members).toMatchObject([{ value: 'Staff' }]);
  }));
