import type { Member, MemberChange } from '../../../src/model/group-ports.ts';
import type { GroupField, Where } from '../../../src/model/list-ports.ts';
import {
  fieldEquals,
  fixture,
  listQuery,
  NOW,
  type OpenDatabase,
  person,
  plainScan,
  team,
} from '../../fixtures/store.ts';

/** Conformance tests of groups and members, for any database. */
export function describeGroups(open: OpenDatabase): void {
  const many = (count: number): Member[] =>
    Array.from({ length: count }, (_, index) => ({ value: `m${index}` }));

  describe('groups', () => {
    it('are read as they were written, with their members in order', async () => {
      const { groups } = await fixture(open);
      const group = team('g', { attributes: { displayName: 'Élan', externalId: 'e' } });
      const members = [
        { value: 'z', display: 'Zed', type: 'User' },
        { value: 'a' },
        { value: 'z', display: 'again' },
      ];
      expect(await groups.insert(group, members)).toBe('done');
      expect(await groups.findById('okta', 'g')).toEqual(group);
      expect((await groups.allMembers('okta', ['g', 'x'])).get('g')).toEqual(members.slice(0, 2));
      expect((await groups.allMembers('okta', ['x'])).get('x')).toEqual([]);
      expect(await groups.findById('entra', 'g')).toBeUndefined();
    });

    it('have a displayName that is unique without case in the connection', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g', { attributes: { displayName: 'Élan' } }), []);
      const twin = team('h', { attributes: { displayName: 'éLAN' } });
      expect(await groups.insert(twin, many(1))).toBe('duplicate');
      expect((await groups.list('okta', listQuery({ all: [] }, 0, 0), plainScan)).total).toBe(1);
      expect(await groups.insert({ ...twin, connection: 'entra' }, [])).toBe('done');
      await groups.insert(team('i'), []);
      const change = { attributes: { displayName: 'ÉLAN' }, members: [] };
      expect(await groups.change(team('i', { version: 2 }), 1, change)).toBe('duplicate');
      expect((await groups.findById('okta', 'i'))?.attributes).toEqual({ displayName: 'i' });
    });

    it('are listed in the order of their creation, with an exact total', async () => {
      const { groups } = await fixture(open);
      for (const id of ['d', 'c', 'a', 'b']) await groups.insert(team(id), []);
      const page = await groups.list('okta', listQuery({ all: [] }, 1, 2), plainScan);
      expect(page.total).toBe(4);
      expect(page.rows.map(({ id }) => id)).toEqual(['c', 'a']);
      expect(page.next).toBeDefined();
      const beyond = await groups.list('okta', listQuery({ all: [] }, 9, 2), plainScan);
      expect(beyond).toEqual({ total: 4, rows: [], keys: [], next: undefined });
    });

    it('are found by all conditions that an index answers', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g', { attributes: { displayName: 'Sales', externalId: 'E1' } }), [
        { value: 'ada' },
      ]);
      await groups.insert(team('h', { attributes: { displayName: 'Legal' } }), [
        { value: 'ada' },
        { value: 'bob' },
      ]);
      const ids = async (...all: Where<GroupField>[]) => {
        const { total, rows } = await groups.list('okta', listQuery({ all }), plainScan);
        expect(total).toBe(rows.length);
        return rows.map(({ id }) => id);
      };
      expect(await ids(fieldEquals('id', 'g'))).toEqual(['g']);
      expect(await ids(fieldEquals('displayName', 'SALES'))).toEqual(['g']);
      expect(await ids(fieldEquals('externalId', 'E1'))).toEqual(['g']);
      expect(await ids(fieldEquals('externalId', 'e1'))).toEqual([]);
      expect(await ids(fieldEquals('member', 'ada'))).toEqual(['g', 'h']);
      expect(await ids(fieldEquals('member', 'ada'), fieldEquals('id', 'h'))).toEqual(['h']);
      expect(await ids(fieldEquals('member', 'bob'), fieldEquals('id', 'g'))).toEqual([]);
      expect(await ids({ any: [fieldEquals('member', 'bob'), fieldEquals('id', 'g')] })).toEqual(['g', 'h']);
    });

    it('resolve the id of each member to a live user, a group, or nothing', async () => {
      const { groups, identities } = await fixture(open);
      for (const [id, deletedAt] of [['live'], ['dead', NOW]] as const)
        await identities.commit('okta', [{ kind: 'insert', identity: person(id, { deletedAt }) }]);
      await groups.insert(team('inner'), []);
      await groups.insert(team('g'), [
        { value: 'live', type: 'Group' },
        { value: 'dead', type: 'User' },
        { value: 'inner' },
        { value: 'x' },
      ]);
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([
        { value: 'live', names: 'User' },
        { value: 'dead', type: 'User' },
        { value: 'inner', names: 'Group' },
        { value: 'x' },
      ]);
    });

    it('of users are read with their names', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g', { attributes: { displayName: 'Sales' } }), [{ value: 'ada' }]);
      await groups.insert(team('h', { createdAt: NOW + 1 }), [{ value: 'ada' }, { value: 'bob' }]);
      const of = await groups.groupsOf('okta', ['ada', 'bob', 'eve']);
      expect(of.get('ada')).toEqual([
        { value: 'g', display: 'Sales' },
        { value: 'h', display: 'h' },
      ]);
      expect(of.get('bob')).toEqual([{ value: 'h', display: 'h' }]);
      expect(of.get('eve')).toEqual([]);
      expect((await groups.groupsOf('entra', ['ada'])).get('ada')).toEqual([]);
    });
  });

  describe('a change to a group', () => {
    const after = team('g', { version: 2, lastModified: NOW + 5 });

    it('applies at the expected version only', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), []);
      const change = { attributes: { displayName: 'new' }, members: [] };
      expect(await groups.change(after, 7, change)).toBe('stale');
      expect(await groups.change(team('x'), 1, change)).toBe('stale');
      expect(await groups.change(after, 1, change)).toBe('done');
      expect(await groups.findById('okta', 'g')).toEqual({ ...after, attributes: { displayName: 'new' } });
    });

    it('applies the member steps in order', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), [{ value: 'a' }, { value: 'b' }]);
      const members: MemberChange[] = [
        { kind: 'add', members: [{ value: 'c' }, { value: 'd' }] },
        { kind: 'remove', values: ['a', 'c', 'unknown'] },
        { kind: 'add', members: [{ value: 'a', display: 'A' }] },
      ];
      expect(await groups.change(after, 1, { attributes: { displayName: 'g' }, members })).toBe('done');
      const kept = (await groups.allMembers('okta', ['g'])).get('g');
      expect(kept).toEqual([{ value: 'b' }, { value: 'd' }, { value: 'a', display: 'A' }]);
    });

    it('replaces members, and those that stay keep their positions', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), [{ value: 'a' }, { value: 'b' }, { value: 'c', display: 'C' }]);
      const members: MemberChange[] = [
        { kind: 'replace', members: [{ value: 'd' }, { value: 'b' }, { value: 'c', display: 'See' }] },
      ];
      expect(await groups.change(after, 1, { attributes: { displayName: 'g' }, members })).toBe('done');
      const kept = (await groups.allMembers('okta', ['g'])).get('g');
      expect(kept).toEqual([{ value: 'b' }, { value: 'd' }, { value: 'c', display: 'See' }]);
    });

    it.each<[string, MemberChange[]]>([
      ['no step', []],
      ['adding who is there', [{ kind: 'add', members: [{ value: 'a', display: 'other' }] }]],
      ['removing who is not', [{ kind: 'remove', values: ['x'] }]],
      [
        'replacing by the same in another order',
        [{ kind: 'replace', members: [{ value: 'b' }, { value: 'a' }] }],
      ],
      [
        'adding and removing again',
        [
          { kind: 'add', members: [{ value: 'x' }] },
          { kind: 'remove', values: ['x'] },
        ],
      ],
      [
        'removing all and adding them again',
        [
          { kind: 'replace', members: [] },
          { kind: 'add', members: [{ value: 'a' }, { value: 'b' }] },
        ],
      ],
    ])('that makes no difference, by %s, leaves the group as it is', async (_, members) => {
      const { groups } = await fixture(open);
      await groups.insert(team('g', { attributes: { displayName: 'g', externalId: 'e' } }), [
        { value: 'a' },
        { value: 'b' },
      ]);
      const attributes = { externalId: 'e', displayName: 'g' };
      expect(await groups.change(after, 1, { attributes, members })).toBe('unchanged');
      expect(await groups.findById('okta', 'g')).toMatchObject({ version: 1, lastModified: NOW });
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([{ value: 'a' }, { value: 'b' }]);
    });

    it('that removes a member and adds it with another display changes the group', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), [{ value: 'a', display: 'A' }]);
      const members: MemberChange[] = [
        { kind: 'remove', values: ['a'] },
        { kind: 'add', members: [{ value: 'a', display: 'B' }] },
      ];
      expect(await groups.change(after, 1, { attributes: { displayName: 'g' }, members })).toBe('done');
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([{ value: 'a', display: 'B' }]);
    });

    it('that requires members is refused unless each list contains a member', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), [{ value: 'a' }, { value: 'b' }]);
      const requiring = (...lists: string[][]) => {
        const members: MemberChange[] = [
          { kind: 'require', lists },
          { kind: 'remove', values: ['a'] },
        ];
        return { attributes: { displayName: 'g' }, members };
      };
      expect(await groups.change(after, 1, requiring(['a'], ['x', 'y']))).toBe('noTarget');
      expect(await groups.findById('okta', 'g')).toMatchObject({ version: 1 });
      expect((await groups.allMembers('okta', ['g'])).get('g')).toHaveLength(2);
      expect(await groups.change(after, 1, requiring(['a'], ['x', 'b']))).toBe('done');
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([{ value: 'b' }]);
    });

    it('handles more members than a statement has parameters', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), many(1200));
      const values = many(1200).map(({ value }) => value);
      const members: MemberChange[] = [{ kind: 'remove', values: values.slice(1) }];
      expect(await groups.change(after, 1, { attributes: { displayName: 'g' }, members })).toBe('done');
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([{ value: 'm0' }]);
    });

    it('is applied for exactly one of two callers that expect the same version', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), []);
      const add = (value: string) => ({ kind: 'add' as const, members: [{ value }] });
      const results = await Promise.all(
        ['a', 'b'].map((value) =>
          groups.change(after, 1, { attributes: { displayName: 'g' }, members: [add(value)] }),
        ),
      );
      expect(results.sort()).toEqual(['done', 'stale']);
      expect((await groups.allMembers('okta', ['g'])).get('g')).toHaveLength(1);
    });

    it('that leaves a deleted member out is kept when the member is back', async () => {
      const { groups, identities, add } = await fixture(open);
      const ada = person('a');
      await add(ada);
      const update = (version: number, deletedAt: number | undefined) =>
        identities.commit('okta', [
          { kind: 'update', identity: { ...ada, version, deletedAt }, expected: version - 1 },
        ]);
      for (const id of ['g', 'h', 'i']) await groups.insert(team(id), [{ value: 'a', display: 'Ada' }]);
      await update(2, NOW);
      const written = (id: string, step: MemberChange) =>
        groups.change(team(id, { version: 3 }), 2, { attributes: { displayName: id }, members: [step] });
      expect(await written('g', { kind: 'replace', members: [] })).toBe('unchanged');
      expect(await written('h', { kind: 'remove', values: ['a'] })).toBe('unchanged');
      await update(3, undefined);
      const members = await groups.allMembers('okta', ['g', 'h', 'i']);
      expect([...members.values()]).toEqual([[], [], [{ value: 'a', display: 'Ada', names: 'User' }]]);
      expect((await groups.findById('okta', 'i'))?.version).toBe(3);
    });

    it('that deletes the group removes it from the groups that contain it', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), [{ value: 'outer' }]);
      await groups.insert(team('outer'), [{ value: 'g' }, { value: 'a' }, { value: 'outer' }]);
      await groups.insert(team('other'), [{ value: 'a' }]);
      await groups.insert(team('foreign', { connection: 'entra' }), [{ value: 'g' }]);
      expect(await groups.change(team('g', { lastModified: NOW + 7 }), 1, 'delete')).toBe('done');
      const kept = (await groups.allMembers('okta', ['outer'])).get('outer');
      expect(kept?.map(({ value }) => value)).toEqual(['a', 'outer']);
      expect(await groups.findById('okta', 'outer')).toMatchObject({ version: 2, lastModified: NOW + 7 });
      expect(await groups.findById('okta', 'other')).toMatchObject({ version: 1, lastModified: NOW });
      expect(await groups.findById('entra', 'foreign')).toMatchObject({ version: 1, lastModified: NOW });
    });

    it('can delete the group with its members', async () => {
      const { groups } = await fixture(open);
      await groups.insert(team('g'), [{ value: 'ada' }]);
      expect(await groups.change(team('g'), 7, 'delete')).toBe('stale');
      expect(await groups.change(team('g'), 1, 'delete')).toBe('done');
      expect(await groups.change(team('g'), 1, 'delete')).toBe('stale');
      expect(await groups.findById('okta', 'g')).toBeUndefined();
      expect((await groups.list('okta', listQuery({ all: [] }), plainScan)).total).toBe(0);
      expect((await groups.groupsOf('okta', ['ada'])).get('ada')).toEqual([]);
      expect(await groups.insert(team('g'), [])).toBe('done');
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([]);
    });
  });
}
