import { fixture, importedIdentity, type OpenDatabase, person } from '../../fixtures/store.ts';

/** Conformance tests of references, for any database. */
export function describeReferences(open: OpenDatabase): void {
  const row = (raw: string, target?: string, travelId?: string) => ({ raw, target, travelId });

  describe('references', () => {
    it('are read in their order, and are replaced as a whole', async () => {
      const { add, references } = await fixture(open);
      await add(person('a'));
      expect(await references.findRows('okta', 'a')).toEqual([]);
      await references.save('okta', 'a', [row('Boss@X', 'b', 't1'), row('aunt')]);
      expect(await references.findRows('okta', 'a')).toEqual([row('Boss@X', 'b', 't1'), row('aunt')]);
      await references.save('okta', 'a', [row('Boss@X', 'c')]);
      expect(await references.findRows('okta', 'a')).toEqual([row('Boss@X', 'c')]);
      await references.save('okta', 'a', []);
      expect(await references.findRows('okta', 'a')).toEqual([]);
    });

    it('are found by target or by any value without case, each referrer once, in the connection only', async () => {
      const { add, references } = await fixture(open);
      await add(person('a'), person('b'), person('c'), person('d', { connection: 'entra' }));
      await references.save('okta', 'a', [row('boss-id', 'boss'), row('ÉVA@X')]);
      await references.save('okta', 'b', [row('éva@x')]);
      await references.save('okta', 'c', [row('somebody')]);
      await references.save('entra', 'd', [row('éva@x', 'boss')]);
      expect((await references.findReferrers('okta', 'boss', ['Éva@X', 'none'])).sort()).toEqual(['a', 'b']);
      expect(await references.findReferrers('okta', 'boss', [])).toEqual(['a']);
      expect(await references.findReferrers('entra', 'x', ['éva@x'])).toEqual(['d']);
    });

    it("are updated in one transaction: concurrent updates see each other's result", async () => {
      const { add, references } = await fixture(open);
      const ids = ['a', 'b', 'c', 'd'];
      await add(...ids.map((id) => person(id)));
      const decided = await Promise.all(
        ids.map((id) =>
          references.update('okta', id, async (of) => {
            const all = await Promise.all(ids.map(of));
            return [row('boss', 'x', `t${all.filter((rows) => rows.length > 0).length}`)];
          }),
        ),
      );
      expect(decided.flatMap((rows) => rows.map(({ travelId }) => travelId)).sort()).toEqual([
        't0',
        't1',
        't2',
        't3',
      ]);
      for (const [index, id] of ids.entries())
        expect(await references.findRows('okta', id)).toEqual(decided[index]);
    });

    it('are unchanged when the update fails', async () => {
      const { add, references } = await fixture(open);
      await add(person('a'));
      await references.save('okta', 'a', [row('boss', 'x', 't1')]);
      const decision = references.update('okta', 'a', () => Promise.reject(new Error('no')));
      await expect(decision).rejects.toThrow('no');
      expect(await references.findRows('okta', 'a')).toEqual([row('boss', 'x', 't1')]);
    });

    it('of an identity that was erased meanwhile are not saved', async () => {
      const { add, identities, references } = await fixture(open);
      await add(importedIdentity('a', 't1'));
      await identities.commit('okta', [{ kind: 'deleteUnclaimed', id: 'a' }]);
      await references.save('okta', 'a', [row('boss')]);
      expect(await references.findRows('okta', 'a')).toEqual([]);
    });

    it('of others to an unclaimed identity move to its heir, in the connection only', async () => {
      const { add, identities, references } = await fixture(open);
      await add(importedIdentity('listed', 't1'), person('a'), person('b', { connection: 'entra' }));
      await references.save('okta', 'a', [row('x', 'other', 't2'), row('listed', 'listed', 't1')]);
      await references.save('entra', 'b', [row('listed', 'listed', 't1')]);
      await identities.commit('okta', [
        { kind: 'deleteUnclaimed', id: 'listed', heir: { id: 'new', lastModified: 5 } },
      ]);
      expect(await references.findRows('okta', 'a')).toEqual([
        row('x', 'other', 't2'),
        row('listed', 'new', 't1'),
      ]);
      expect(await references.findRows('entra', 'b')).toEqual([row('listed', 'listed', 't1')]);
    });
  });
}
