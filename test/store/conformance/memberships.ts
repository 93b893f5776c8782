import type { Member, MemberChange, RulesForGroups } from '../../../src/model/group-ports.ts';
import { deleteDepartures } from '../../../src/store/identities/delete-identities.ts';
import { fixture, NOW, type OpenDatabase, person, team } from '../../fixtures/store.ts';

/** Conformance tests of memberships in groups that a mapping names, for any database. */
export function describeMemberships(open: OpenDatabase): void {
  const settled = (...ids: string[]) => storeOf(open, ids);

  describe('members of a group that the rules name', () => {
    it('become dirty when they are added or removed, with a new revision and the same version', async () => {
      const { groups, change, takeDirty, read } = await settled('a', 'b', 'c');
      expect(await insertVip(groups, 'a')).toBe('done');
      expect(await takeDirty()).toEqual(['a']);
      expect(await read('a')).toMatchObject({
        version: 1,
        revision: 2,
        lastModified: NOW,
        nextAttemptAt: NOW,
      });
      expect(await change(1, [{ kind: 'add', members: [value('a'), value('b')] }])).toBe('done');
      expect(await takeDirty()).toEqual(['b']);
      expect(await change(2, [{ kind: 'remove', values: ['a', 'c'] }])).toBe('done');
      expect(await takeDirty()).toEqual(['a']);
    });

    it('become dirty when the group gets a name that the rules name, or loses it', async () => {
      const { groups, change, takeDirty, namesOf } = await settled('a', 'b');
      await groups.insert(team('g'), [value('a')], rules);
      expect(await takeDirty()).toEqual([]);
      expect(await change(1, [])).toBe('done');
      expect(await takeDirty()).toEqual(['a']);
      expect(await change(2, [], 'other')).toBe('done');
      expect(await takeDirty()).toEqual(['a']);
      expect(await namesOf('a')).toEqual(['other', 'VIP (gone)']);
      expect(await change(3, [{ kind: 'add', members: [value('b')] }], 'another')).toBe('done');
      expect(await takeDirty()).toEqual([]);
    });
  });

  describe('people whom a scope by groups concerns', () => {
    const scoped = { ...rules, isInScope: (name: string) => name === 'VIP' };
    const noMembers = { attributes: { displayName: 'VIP' }, members: [] };
    const renamed = { attributes: { displayName: 'other' }, members: [] };

    /** Opens a store with three people whom the scope concerns, and others whom it does not. */
    async function concerned() {
      const store = await settled('in', 'leased');
      const { leases } = store;
      await leases.acquire('okta', 'leased', { token: 'k', ms: 60_000, now: NOW });
      const scopes = { out: 'out', waiting: 'unresolved', dead: 'out' } as const;
      for (const [id, scope] of Object.entries(scopes)) {
        const deletedAt = id === 'dead' ? NOW : undefined;
        const progress = { scope };
        const identity = person(id, { state: 'synced', nextAttemptAt: undefined, deletedAt, progress });
        await store.identities.commit('okta', [{ kind: 'insert', identity }]);
      }
      return store;
    }

    it.each(['created', 'given the name', 'renamed', 'deleted'])(
      'become dirty after the commit if a group that the scope names is %s',
      async (how) => {
        const { groups, takeDirty, markAll } = await concerned();
        const isNamed = how === 'renamed' || how === 'deleted';
        if (how !== 'created')
          await groups.insert(team('g', isNamed ? { attributes: noMembers.attributes } : {}), [], scoped);
        await markAll();
        await takeDirty();
        const after = team('g', { version: 2 });
        if (how === 'created')
          await groups.insert(team('g', { attributes: noMembers.attributes }), [], scoped);
        else if (how === 'given the name') await groups.change(after, 1, noMembers, scoped);
        else await groups.change(after, 1, how === 'deleted' ? 'delete' : renamed, scoped);
        expect(await takeDirty()).toEqual([]);
        await markAll();
        // An attempt that runs may have read the groups before.
        expect(await takeDirty()).toEqual(['leased', 'out', 'waiting']);
      },
    );

    it('stay as they are if the name stays, or is another one', async () => {
      const { groups, takeDirty, memberships, markAll } = await concerned();
      await groups.insert(team('g', { attributes: noMembers.attributes }), [], scoped);
      await markAll();
      await takeDirty();
      const spelled = { attributes: { displayName: 'vip' }, members: [] };
      expect(await groups.change(team('g', { version: 2 }), 1, spelled, scoped)).toBe('done');
      await groups.insert(team('h', { attributes: { displayName: 'VIP 2' } }), [], scoped);
      await groups.change(team('h', { version: 2 }), 1, renamed, scoped);
      await groups.change(team('h', { version: 3 }), 2, 'delete', scoped);
      expect(await memberships.markSome('okta', NOW)).toBe(false);
      expect(await takeDirty()).toEqual([]);
    });

    it('become dirty in batches if there are many people, from the beginning again after another change', async () => {
      const ids = Array.from({ length: 1_300 }, (_, index) => `u${String(index).padStart(4, '0')}`);
      const { groups, takeDirty, memberships, markAll, database } = await settled(...ids);
      await database.db.updateTable('identity').set({ progress: '{"scope":"out"}' }).execute();
      await groups.insert(team('g', { attributes: noMembers.attributes }), [], scoped);
      expect(await memberships.markSome('okta', NOW)).toBe(true);
      expect(await takeDirty()).toEqual(ids.slice(0, 1_000));
      await groups.change(team('g', { version: 2 }), 1, renamed, scoped);
      await markAll();
      expect(await takeDirty()).toEqual(ids);
      expect(await memberships.markSome('okta', NOW)).toBe(false);
    });
  });

  it('nothing is written if later rules are in force than the given ones', async () => {
    const { groups, rules: inForce } = await fixture(open);
    const group = team('g', { attributes: { displayName: 'VIP' } });
    await groups.insert(group, [], rules);
    const first = { generation: 1, edition: 1, digest: 'd', mapping: {}, lookups: undefined } as const;
    await inForce.replace('okta', { ...first, source: 'file' }, NOW);
    expect(await groups.insert(team('h'), [], rules)).toBe('otherRules');
    expect(await groups.findById('okta', 'h')).toBeUndefined();
    const change = { attributes: { displayName: 'x' }, members: [] };
    const after = team('g', { version: 2, attributes: change.attributes });
    expect(await groups.change(after, 1, change, rules)).toBe('otherRules');
    expect(await groups.change(after, 1, 'delete', rules)).toBe('otherRules');
    expect(await groups.findById('okta', 'g')).toEqual(group);
    expect(await groups.change(after, 1, change, { ...rules, generation: 1 })).toBe('done');
  });

  describe('members of a group that is gone', () => {
    it.each(['deleted', 'renamed'])(
      'go on to count if it was %s, until a group has the name again',
      async (how) => {
        const { groups, change, takeDirty, markAll, namesOf, database } = await settled('a', 'b', 'c');
        await insertVip(groups, 'a', 'b');
        await takeDirty();
        if (how === 'deleted') await groups.change(team('g'), 1, 'delete', rules);
        else await change(1, [{ kind: 'remove', values: ['b'] }], 'other');
        await markAll();
        expect(await takeDirty()).toEqual(['a', 'b']);
        expect(await namesOf('a')).toContain('VIP (gone)');
        expect(await namesOf('b')).toEqual(how === 'deleted' ? ['VIP (gone)'] : []);
        await groups.insert(team('h', { attributes: { displayName: ' vip' } }), [value('c')], rules);
        expect(await namesOf('a')).not.toContain('VIP (gone)');
        await takeDirty();
        await markAll();
        expect(await takeDirty()).toEqual(how === 'deleted' ? ['a', 'b'] : ['a']);
        expect(await database.db.selectFrom('former_member').selectAll().execute()).toEqual([]);
      },
    );

    it('go with an erased person', async () => {
      const { groups, namesOf, database } = await settled('a', 'b');
      await insertVip(groups, 'a', 'b');
      await groups.change(team('g'), 1, 'delete', rules);
      const { db, scopeOf } = database;
      await deleteDepartures(db, scopeOf('okta'), ['a', null]);
      expect(await namesOf('a')).toEqual([]);
      expect(await namesOf('b')).toEqual(['VIP (gone)']);
    });

    it('do not count if it was emptied before, or if the rules do not name it by equality', async () => {
      const { groups, change, namesOf } = await settled('a', 'b');
      await insertVip(groups, 'a', 'b');
      await change(1, [{ kind: 'replace', members: [] }]);
      expect(await namesOf('a')).toEqual([]);
      await groups.change(team('g'), 2, 'delete', rules);
      await groups.insert(team('h', { attributes: { displayName: 'VIP 2' } }), [value('a')], rules);
      await groups.change(team('h'), 1, 'delete', rules);
      expect(await namesOf('a')).toEqual([]);
      expect(await namesOf('b')).toEqual([]);
    });

    it('stay as they are if the members are replaced by themselves with other texts', async () => {
      const { groups, change, namesOf, takeDirty } = await settled('a', 'b');
      await insertVip(groups, 'a', 'b');
      await takeDirty();
      const renamed = [
        { value: 'n', display: 'N' },
        { value: 'a', display: 'A' },
      ];
      await change(1, [{ kind: 'replace', members: renamed }]);
      expect(await namesOf('a')).toEqual(['VIP']);
      expect(await namesOf('b')).toEqual([]);
      expect(await takeDirty()).toEqual(['b']);
    });

    it('are all kept if they are thousands', async () => {
      const { groups, memberships } = await settled();
      const ids = Array.from({ length: 1_100 }, (_, index) => `u${index}`);
      const found = () => Promise.all(ids.map((id) => memberships.findOf('okta', id)));
      await insertVip(groups, ...ids);
      await groups.change(team('g'), 1, 'delete', rules);
      expect((await found()).filter(({ length }) => length === 1)).toHaveLength(1_100);
      await groups.insert(team('h', { attributes: { displayName: 'VIP' } }), [], rules);
      expect((await found()).filter(({ length }) => length === 1)).toEqual([]);
    });
  });

  it('the names that no group has are found without case', async () => {
    const { groups, memberships } = await fixture(open);
    await groups.insert(team('g', { attributes: { displayName: 'Élan' } }), []);
    expect(await memberships.findUnknownNames('okta', ['éLAN', 'Sales'])).toEqual(['Sales']);
    expect(await memberships.findUnknownNames('entra', ['Élan'])).toEqual(['Élan']);
    expect(await memberships.findUnknownNames('okta', [])).toEqual([]);
  });

  it('the names that no group has are found without blanks at the ends and invisible characters', async () => {
    const { groups, memberships } = await fixture(open);
    const named = (displayName: string) => ({ attributes: { displayName } });
    await groups.insert(team('g', named('Site\u00a0Paris \u200b')), []);
    await groups.insert(team('h', named('Lyon')), []);
    const change = { ...named(' Nice'), members: [] };
    await groups.change(team('h', { version: 2 }), 1, change);
    const names = [' site Paris', 'Site Paris', 'Nice', 'Lyon'];
    expect(await memberships.findUnknownNames('okta', names)).toEqual(['Lyon']);
  });

  it('the names of groups are found by their beginning, in their order', async () => {
    const { groups, memberships } = await fixture(open);
    for (const [index, displayName] of ['Site Paris', 'site Lyon', 'Élan', 'Everybody'].entries())
      await groups.insert(team(`g${index}`, { attributes: { displayName } }), []);
    expect(await memberships.findNames('okta', 'SITE ', 10)).toEqual(['site Lyon', 'Site Paris']);
    expect(await memberships.findNames('okta', 'él', 10)).toEqual(['Élan']);
    expect(await memberships.findNames('okta', '', 2)).toEqual(['Everybody', 'site Lyon']);
    expect(await memberships.findNames('entra', '', 10)).toEqual([]);
  });
}

/** Conformance tests of groups with more members than become dirty at once, for any database. */
export function describeManyMembers(open: OpenDatabase): void {
  it('members of a group that the rules name become dirty in batches if they are many, and none is forgotten', async () => {
    const ids = Array.from({ length: 1_300 }, (_, index) => `u${String(index).padStart(4, '0')}`);
    const { groups, change, takeDirty, memberships, markAll } = await storeOf(open, ids);
    expect(await insertVip(groups, ...ids)).toBe('done');
    expect(await takeDirty()).toEqual([]);
    expect(await memberships.markSome('okta', NOW)).toBe(true);
    // A change of the name meanwhile begins again.
    expect(await change(1, [], 'VIP 2')).toBe('done');
    await markAll();
    expect(await takeDirty()).toEqual(ids);
    expect(await change(2, [{ kind: 'remove', values: ids.slice(1) }], 'VIP 2')).toBe('done');
    expect(await takeDirty()).toEqual([]);
    await markAll();
    expect(await takeDirty()).toEqual(ids.slice(1));
    // The name that the group had counts until a group has it again.
    expect(await memberships.findOf('okta', 'u0001')).toEqual([{ value: '', display: 'VIP', isGone: true }]);
  });
}

const rules: RulesForGroups = {
  generation: 0,
  test: ({ display }) => display.startsWith('VIP'),
  isNamed: (name) => name === 'VIP',
  isInScope: () => false,
  now: NOW,
};
const value = (id: string): Member => ({ value: id });

/** Opens a store with settled users. */
async function storeOf(open: OpenDatabase, ids: string[]) {
  const store = await fixture(open);
  const identities = ids.map((id) => person(id, { state: 'synced', nextAttemptAt: undefined }));
  await store.identities.commit(
    'okta',
    identities.map((identity) => ({ kind: 'insert', identity })),
  );
  const { db } = store.database;
  return {
    ...store,
    /** Returns the users that are dirty, and settles them. */
    takeDirty: async () => {
      const dirty = db.selectFrom('identity').select('id').where('state', '=', 'dirty').orderBy('id');
      const rows = await dirty.execute();
      await db.updateTable('identity').set({ state: 'synced' }).execute();
      return rows.map(({ id }) => id);
    },
    change: (version: number, members: MemberChange[], name = 'VIP') =>
      store.groups.change(
        team('g', { version: version + 1 }),
        version,
        { attributes: { displayName: name }, members },
        rules,
      ),
    markAll: async (now = NOW) => {
      while (await store.memberships.markSome('okta', now));
    },
    namesOf: async (id: string) =>
      (await store.memberships.findOf('okta', id)).map(({ display, isGone }) =>
        isGone ? `${display} (gone)` : display,
      ),
  };
}

const insertVip = (groups: Awaited<ReturnType<typeof fixture>>['groups'], ...ids: string[]) =>
  groups.insert(team('g', { attributes: { displayName: 'VIP' } }), ids.map(value), rules);
