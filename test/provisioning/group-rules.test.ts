import type { MemberChange } from '../../src/model/group-ports.ts';
import { noLookups } from '../../src/model/translation.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { seededRandom } from '../fixtures/seeded.ts';

const users = 'default';

const mapping = {
  scimUserMapping: [
    { template: 'Gold', when: 'groups[display eq "Travel managers"]', userAttribute: 'travelPolicyId' },
    {
      scimAttribute: 'groups.display',
      transforms: [{ map: { 'Site Paris': 'Paris', 'Site Lyon': 'Lyon' } }],
      userAttribute: 'costCenterId',
    },
  ],
};

const named = (id: string, name: string) => ({ id, name, archived: false });
const lookups = {
  ...noLookups,
  travelPolicies: [named('p-gold', 'Gold')],
  costCenters: [named('cc-paris', 'Paris'), named('cc-lyon', 'Lyon')],
};

/** A fixture with groups, whose changes are followed to the end. */
interface GroupFixture extends ProvisioningFixture {
  createUser(name: string, extra?: ScimResource): Promise<string>;
  createGroup(displayName: string, ...members: string[]): Promise<string>;
  changeGroup(id: string, change: { members?: MemberChange[]; name?: string }): Promise<void>;
  add(id: string, ...members: string[]): Promise<void>;
  remove(id: string, ...members: string[]): Promise<void>;
  /** Does the background work of changed groups, and reconciles who is due. */
  follow(): Promise<void>;
  /** The policy and the cost center of a traveler, without the beginnings of their ids. */
  valuesOf(id: string): Promise<(string | undefined)[]>;
}

async function follow({ store, clock, bridge }: ProvisioningFixture): Promise<void> {
  while (await store.memberships.markSome(users, clock.now()));
  await bridge.reconcileDue();
}

async function withGroups(
  test: (fixture: GroupFixture) => Promise<void>,
  options: Parameters<typeof withFixture>[1] = {},
): Promise<void> {
  await withFixture(
    async (fixture) => {
      const { bridge, travel } = fixture;
      travel.lookupData = lookups;
      const changeGroup: GroupFixture['changeGroup'] = async (id, { members = [], name }) => {
        const attributes = (current: ScimResource) =>
          name === undefined ? current : { ...current, displayName: name };
        await bridge.groups.change(users, id, { attributes, members }, false);
      };
      await test(
        Object.assign(fixture, {
          createUser: async (name: string, extra?: ScimResource) =>
            (await bridge.users.create(users, person(name, extra))).id,
          createGroup: async (displayName: string, ...members: string[]) => {
            const values = members.map((value) => ({ value }));
            return (await bridge.groups.create(users, { displayName }, values)).id;
          },
          changeGroup,
          add: (id: string, ...members: string[]) =>
            changeGroup(id, { members: [{ kind: 'add', members: members.map((value) => ({ value })) }] }),
          remove: (id: string, ...values: string[]) =>
            changeGroup(id, { members: [{ kind: 'remove', values }] }),
          follow: () => follow(fixture),
          valuesOf: async (id: string) => {
            const { travelPolicyId, costCenterId } = (await fixture.traveler(id)) ?? {};
            return [travelPolicyId?.replace('p-', ''), costCenterId?.replace('cc-', '')];
          },
        } satisfies Omit<GroupFixture, keyof ProvisioningFixture>),
      );
    },
    { mapping, ...options },
  );
}

test('members of a group get its policy and its cost center, in every order of group, user and membership', () =>
  withGroups(async ({ createUser, createGroup, add, follow, valuesOf }) => {
    const managers = await createGroup('Travel managers');
    const ada = await createUser('Ada');
    await add(managers, ada);
    const paris = await createGroup('Site Paris', ada);
    await follow();
    expect(await valuesOf(ada)).toEqual(['gold', 'paris']);
    const bob = await createUser('Bob');
    await add(paris, bob);
    await follow();
    expect(await valuesOf(bob)).toEqual([undefined, 'paris']);
  }));

test('a change of groups changes neither the ETag nor lastModified of the user, and is told in the trace', () =>
  withGroups(async ({ bridge, clock, createUser, createGroup, follow, identity }) => {
    const ada = await createUser('Ada');
    const { version, lastModified } = await bridge.users.read(users, ada);
    clock.advance(60_000);
    await createGroup('Travel managers', ada);
    await follow();
    expect(await bridge.users.read(users, ada)).toMatchObject({ version, lastModified });
    const { trace } = await identity(ada);
    expect(trace).toContainEqual(
      expect.objectContaining({ field: 'travelPolicyId', outcome: 'set', group: 'Travel managers' }),
    );
  }));

test('a person who moves to another group gets its value, and one who leaves a group loses the value at once', () =>
  withGroups(async ({ createUser, createGroup, add, remove, follow, valuesOf, travel }) => {
    const [ada, bob] = [await createUser('Ada'), await createUser('Bob')];
    const [paris, lyon] = [await createGroup('Site Paris', ada, bob), await createGroup('Site Lyon')];
    await follow();
    travel.calls.length = 0;
    await remove(paris, ada);
    await add(lyon, ada);
    await follow();
    expect(await valuesOf(ada)).toEqual([undefined, 'lyon']);
    expect(travel.writes()).toHaveLength(1);
    await remove(lyon, ada);
    await follow();
    expect(await valuesOf(ada)).toEqual([undefined, undefined]);
    expect(await valuesOf(bob)).toEqual([undefined, 'paris']);
  }));

test('a group that is renamed gives the value of its new name', () =>
  withGroups(async ({ createUser, createGroup, changeGroup, follow, valuesOf }) => {
    const ada = await createUser('Ada');
    const group = await createGroup('Travel', ada);
    await follow();
    expect(await valuesOf(ada)).toEqual([undefined, undefined]);
    await changeGroup(group, { name: 'Travel managers' });
    await follow();
    expect(await valuesOf(ada)).toEqual(['gold', undefined]);
  }));

test('a group that the mapping does not name makes nobody dirty', () =>
  withGroups(async ({ createUser, createGroup, changeGroup, identity, bridge }) => {
    const ada = await createUser('Ada');
    const { revision } = await identity(ada);
    const group = await createGroup('Everybody', ada);
    await changeGroup(group, { name: 'All' });
    await bridge.groups.remove(users, group);
    expect((await identity(ada)).revision).toBe(revision);
  }));

test.each(['deleted', 'renamed'])(
  'a group that is %s takes nothing away, until a group has its name again and decides',
  (how) =>
    withGroups(
      async ({ bridge, createUser, createGroup, changeGroup, follow, valuesOf, findings, patch }) => {
        const [ada, bob] = [await createUser('Ada'), await createUser('Bob')];
        const group = await createGroup('Travel managers', ada, bob);
        const lyon = await createGroup('Site Lyon', ada);
        await follow();
        for (const one of [group, lyon])
          if (how === 'deleted') await bridge.groups.remove(users, one);
          else await changeGroup(one, { name: `former ${one}` });
        await follow();
        await patch(ada, { title: 'Engineer' });
        expect(await valuesOf(ada)).toEqual(['gold', 'lyon']);
        expect(await findings(ada)).toEqual(['*: groupUnresolved', '*: groupUnresolved']);
        await createGroup('Travel managers', bob);
        await follow();
        expect([await valuesOf(ada), await valuesOf(bob)]).toEqual([
          [undefined, 'lyon'],
          ['gold', undefined],
        ]);
        expect(await findings(bob)).toEqual([]);
      },
    ),
);

test('a write that renames a group and changes its members leaves the old name to those who stay', () =>
  withGroups(async ({ createUser, createGroup, changeGroup, follow, valuesOf }) => {
    const [ada, bob, eve] = [await createUser('Ada'), await createUser('Bob'), await createUser('Eve')];
    const group = await createGroup('Travel managers', ada, bob);
    await follow();
    const members = [{ value: ada, display: 'Ada' }, { value: eve }];
    await changeGroup(group, { name: 'Managers', members: [{ kind: 'replace', members }] });
    await follow();
    expect([await valuesOf(ada), await valuesOf(bob), await valuesOf(eve)]).toEqual([
      ['gold', undefined],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  }));

test('a group that is emptied decides at once, also for more than 100 people, and also if it is deleted after that', () =>
  withGroups(async ({ bridge, createUser, createGroup, changeGroup, follow, store }) => {
    const members: string[] = [];
    for (let index = 0; index < 101; index += 1) members.push(await createUser(`Member${index}`));
    const group = await createGroup('Travel managers', ...members);
    await follow();
    await changeGroup(group, { members: [{ kind: 'replace', members: [] }] });
    await bridge.groups.remove(users, group);
    while (await bridge.reconcileDue());
    const { identities } = await store.identities.findPage(users, 0, 200);
    expect(identities.map(({ state, applied }) => [state, applied.travelPolicyId])).toEqual(
      members.map(() => ['synced', undefined]),
    );
  }));

test('a name that the mapping no longer names takes the value of a group that is gone with it', () =>
  withGroups(async ({ bridge, connection, store, createUser, createGroup, follow, valuesOf }) => {
    const ada = await createUser('Ada');
    const group = await createGroup('Travel managers', ada);
    await follow();
    await bridge.groups.remove(users, group);
    const [version] = await store.rules.listMappings(users, 1);
    const named = { display: 'groups[display eq "Managers"]' };
    const next = {
      scimUserMapping: [{ template: 'Gold', when: named.display, userAttribute: 'travelPolicyId' }],
    };
    await bridge.applyMapping(connection, {
      ...{ expected: version?.generation ?? 0, author: 'a', source: 'page', mapping: next as never },
    });
    await bridge.startBackground().stop();
    await follow();
    expect(await valuesOf(ada)).toEqual([undefined, undefined]);
  }));

test('a write of a person follows the groups of the person, and needs no second attempt', () =>
  withGroups(async ({ createUser, createGroup, patch, valuesOf, identity }) => {
    const ada = await createUser('Ada');
    await createGroup('Travel managers', ada);
    await patch(ada, { title: 'Engineer' });
    expect(await valuesOf(ada)).toEqual(['gold', undefined]);
    expect((await identity(ada)).state).toBe('synced');
  }));

test('an imported person whom the IdP has only put into a group gets the value of the group once it writes the person', () =>
  withGroups(async ({ travel, store, importTravelers, createGroup, patch, follow, valuesOf }) => {
    travel.addTraveler({ email: 'ada@corp.example', firstName: 'Ada', travelPolicyId: 'p-other' });
    await importTravelers();
    const [{ id = '' } = {}] = await store.identities.find(users, { by: 'email', value: 'ada@corp.example' });
    await createGroup('Travel managers', id);
    await follow();
    expect(await valuesOf(id)).toEqual(['other', undefined]);
    await patch(id, { title: 'Engineer' });
    expect(await valuesOf(id)).toEqual(['gold', undefined]);
  }));

test('a user who is deleted and returns follows the groups of the new user', () =>
  withGroups(async ({ bridge, createUser, createGroup, add, follow, valuesOf }) => {
    const ada = await createUser('Ada');
    const group = await createGroup('Travel managers', ada);
    await follow();
    await bridge.users.remove(users, ada);
    await follow();
    const again = await createUser('Ada');
    expect(await valuesOf(again)).toEqual([undefined, undefined]);
    await add(group, again);
    await follow();
    expect(await valuesOf(again)).toEqual(['gold', undefined]);
  }));

test('a group that changes while other rules come into force is followed by these', () =>
  withGroups(
    async ({
      bridge,
      store,
      replica,
      createUser,
      createGroup,
      add,
      follow,
      valuesOf,
      connection,
      travel,
    }) => {
      travel.lookupData = lookups;
      const ada = await createUser('Ada');
      const group = await createGroup('Travel managers');
      const other = replica();
      const [version] = await store.rules.listMappings(users, 1);
      const change = { expected: version?.generation ?? 0, author: 'a', source: 'page' } as const;
      await other.applyMapping(connection, { ...change, mapping: mapping as never });
      // The first service has not loaded the new rules yet.
      await add(group, ada);
      expect((await store.identities.findById(users, ada))?.state).toBe('dirty');
      await bridge.startBackground().stop();
      await follow();
      expect(await valuesOf(ada)).toEqual(['gold', undefined]);
    },
    { mapping: { scimUserMapping: [] } },
  ));

const groupNames = ['Travel managers', 'Site Paris', 'Site Lyon', 'Everybody'] as const;

/** Plays random changes of groups and people, with reconciliations in between. Returns the present groups by name, with their members. */
async function playRandomly(
  fixture: GroupFixture,
  { seed, isFollowed }: { seed: number; isFollowed: boolean },
): Promise<Map<string, Set<string>>> {
  const { bridge, createUser, createGroup, changeGroup, add, remove, patch } = fixture;
  const random = seededRandom(seed);
  const people = [await createUser('Ada'), await createUser('Bob'), await createUser('Cid')] as const;
  const groups = new Map<string, { name: string; members: Set<string> }>();
  const isFree = (name: string) => ![...groups.values()].some((group) => group.name === name);
  const steps = {
    create: async () => {
      const name = random.pick(groupNames);
      const members = random.some(people, random.below(4));
      if (isFree(name)) groups.set(await createGroup(name, ...members), { name, members: new Set(members) });
    },
    add: async (id: string, { members }: { members: Set<string> }) => {
      const some = random.some(people, 1 + random.below(3));
      await add(id, ...some);
      for (const one of some) members.add(one);
    },
    remove: async (id: string, { members }: { members: Set<string> }) => {
      const some = random.some(people, 1 + random.below(3));
      await remove(id, ...some);
      for (const one of some) members.delete(one);
    },
    replace: async (id: string, { members }: { members: Set<string> }) => {
      const some = random.some(people, random.below(4));
      await changeGroup(id, { members: [{ kind: 'replace', members: some.map((value) => ({ value })) }] });
      members.clear();
      for (const one of some) members.add(one);
    },
    rename: async (id: string, group: { name: string }) => {
      const name = random.pick(groupNames);
      if (!isFree(name)) return;
      await changeGroup(id, { name });
      group.name = name;
    },
    delete: async (id: string) => {
      await bridge.groups.remove(users, id);
      groups.delete(id);
    },
  };
  for (let step = 0; step < 25; step += 1) {
    const [id, group] = random.some([...groups], 1)[0] ?? [];
    const kind = random.pick(['create', 'add', 'remove', 'replace', 'rename', 'delete'] as const);
    if (kind === 'create') await steps.create();
    else if (id !== undefined && group) await steps[kind](id, group);
    if (random.below(4) === 0 && isFollowed) await fixture.follow();
    if (random.below(8) === 0) await patch(random.pick(people), { title: `title ${step}` });
  }
  return new Map([...groups.values()].map(({ name, members }) => [name, members]));
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'after random changes of groups (seed %d), everybody has the values of their groups, and those of groups that are gone',
  (seed) =>
    withGroups(async (fixture) => {
      const groups = await playRandomly(fixture, { seed, isFollowed: true });
      await fixture.follow();
      const { identities } = await fixture.store.identities.findPage(users, 0, 10);
      for (const { id, findings } of identities) {
        const gone = findings.map(({ value }) => value);
        const isIn = (name: string) => groups.get(name)?.has(id) ?? gone.includes(name);
        const site = isIn('Site Paris') ? 'paris' : isIn('Site Lyon') ? 'lyon' : undefined;
        expect(await fixture.valuesOf(id)).toEqual([isIn('Travel managers') ? 'gold' : undefined, site]);
        expect(gone.filter((name) => groups.has(String(name)))).toEqual([]);
      }
    }),
);

test.each([11, 12, 13, 14])(
  'a preview shows what is sent for the groups of random people (seed %d)',
  (seed) =>
    withGroups(async (fixture) => {
      await playRandomly(fixture, { seed, isFollowed: false });
      const { bridge, connection, store, travel } = fixture;
      while (await store.memberships.markSome(users, fixture.clock.now()));
      const preview = await bridge.mappingPreviewer.run(connection, { examples: 10 });
      if ('kind' in preview) throw new Error(preview.kind);
      expect(preview.changed).toBeGreaterThan(0);
      const shown = preview.examples.map(({ id, changes }) => [
        id,
        changes.map(({ field, after }) => [field, after]).sort(),
      ]);
      travel.calls.length = 0;
      await bridge.reconcileDue();
      const { identities } = await store.identities.findPage(users, 0, 10);
      const idOf = (travelId: string | undefined) => identities.find((one) => one.travelId === travelId)?.id;
      const sent = travel.writes().map(({ id, body = {} }) => [idOf(id), Object.entries(body).sort()]);
      expect(sent.sort()).toEqual(shown.sort());
    }),
);

describe('a scope that names a group', () => {
  const scoped = (outOfScope: 'keep' | 'archive') => ({
    mapping: { scope: 'groups[display eq "Staff"]', outOfScope },
  });
  const codesOf = ({ findings }: { findings: { code: string }[] }) => findings.map(({ code }) => code);

  test.each([
    ['', 'Staff'],
    [' whose name has invisible characters and blanks at the ends', ' Staff\u00a0\u200b'],
  ])(
    'gives nobody a traveler before the group%s is there, and its members one as soon as they are members',
    (_, name) =>
      withGroups(async ({ createUser, createGroup, add, follow, traveler, identity }) => {
        const [ada, grace] = [await createUser('Ada'), await createUser('Grace')];
        expect(await identity(ada)).toMatchObject({ state: 'pending', travelId: undefined });
        expect(codesOf(await identity(ada))).toEqual(['scopeUnresolved']);
        const staff = await createGroup(name, ada);
        await follow();
        expect(await traveler(ada)).toMatchObject({ archived: false });
        expect(await identity(grace)).toMatchObject({ state: 'synced', travelId: undefined });
        expect(codesOf(await identity(grace))).toEqual(['outOfScope']);
        await add(staff, grace);
        await follow();
        expect(await traveler(grace)).toMatchObject({ archived: false });
      }, scoped('keep')),
  );

  test('waits for a group that is renamed to the name', () =>
    withGroups(async ({ createUser, createGroup, changeGroup, follow, traveler, identity }) => {
      const [ada, grace] = [await createUser('Ada'), await createUser('Grace')];
      const staff = await createGroup('Crew', ada);
      await follow();
      expect(await identity(ada)).toMatchObject({ state: 'pending' });
      await changeGroup(staff, { name: 'STAFF' });
      await follow();
      expect(await traveler(ada)).toMatchObject({ archived: false });
      expect(codesOf(await identity(grace))).toEqual(['outOfScope']);
    }, scoped('keep')));

  test('lets people who wait for a group follow it also if the process dies as soon as the group is stored', () =>
    withGroups(
      async ({ store, createUser, createGroup, follow, traveler, ...fixture }) => {
        const ada = await createUser('Ada');
        const { insert } = store.groups;
        const stored = new Promise<void>((resolve) => {
          store.groups.insert = async (...values) => {
            await insert(...values);
            resolve();
            return new Promise(() => {});
          };
        });
        void createGroup('Contractors');
        await stored;
        store.groups.insert = insert;
        await fixture.restart();
        await follow();
        expect(await traveler(ada)).toMatchObject({ archived: false });
      },
      { mapping: { scope: 'not (groups[display eq "Contractors"])' } },
    ));

  test('is followed also if a process stores the group that cannot read the mapping, which is of a later version', () =>
    withGroups(async ({ store, clock, createUser, createGroup, identity }) => {
      const ada = await createUser('Ada');
      const later = { generation: 3, edition: 1_000, digest: 'later', mapping: { later: true } };
      const inForce = { ...later, lookups: undefined, source: 'command' } as const;
      expect(await store.rules.replace(users, inForce, clock.now())).toBe(true);
      await createGroup('Staff');
      while (await store.memberships.markSome(users, clock.now()));
      expect((await identity(ada)).state).toBe('dirty');
    }, scoped('keep')));

  test.each([
    ['keep', false],
    ['archive', true],
  ] as const)('leaves or archives those whom the group loses (%s), and takes them back', (policy, archived) =>
    withGroups(async ({ createUser, createGroup, add, remove, follow, traveler }) => {
      const [ada, grace] = [await createUser('Ada'), await createUser('Grace')];
      const staff = await createGroup('Staff', ada, grace);
      await follow();
      await remove(staff, ada);
      await follow();
      expect(await traveler(ada)).toMatchObject({ archived });
      expect(await traveler(grace)).toMatchObject({ archived: false });
      await add(staff, ada);
      await follow();
      expect(await traveler(ada)).toMatchObject({ archived: false });
    }, scoped(policy)),
  );

  test.each(['deleted', 'renamed'])('takes nobody away if the group is %s', (how) =>
    withGroups(async ({ bridge, createUser, createGroup, changeGroup, follow, traveler, identity }) => {
      const [ada, grace] = [await createUser('Ada'), await createUser('Grace')];
      const staff = await createGroup('Staff', ada, grace);
      await follow();
      if (how === 'deleted') await bridge.groups.remove(users, staff);
      else await changeGroup(staff, { name: 'Crew' });
      await follow();
      expect(await traveler(ada)).toMatchObject({ archived: false });
      expect(codesOf(await identity(ada))).toEqual(['groupUnresolved']);
    }, scoped('archive')),
  );

  test.each(['deleted', 'renamed'])(
    'lets linked people whom it had left out follow the IdP again once the group is %s',
    (how) =>
      withGroups(async ({ bridge, createUser, createGroup, changeGroup, remove, follow, ...fixture }) => {
        const [ada, grace] = [await createUser('Ada'), await createUser('Grace')];
        const staff = await createGroup('Staff', ada, grace);
        await follow();
        await remove(staff, ada);
        await fixture.patch(ada, { name: { givenName: 'Augusta', familyName: 'Smith' } });
        await follow();
        expect(codesOf(await fixture.identity(ada))).toEqual(['outOfScope']);
        expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Ada' });
        if (how === 'deleted') await bridge.groups.remove(users, staff);
        else await changeGroup(staff, { name: 'Former staff' });
        await follow();
        expect(codesOf(await fixture.identity(ada))).toEqual(['scopeUnresolved']);
        expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Augusta' });
      }, scoped('keep')),
  );
});
