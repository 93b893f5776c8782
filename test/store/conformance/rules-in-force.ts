import { noLookups } from '../../../src/model/translation.ts';
import type { ProposedRules } from '../../../src/store/queues/proposed-rules.ts';
import type { RulesInForce } from '../../../src/store/queues/rules-in-force.ts';
import {
  fixture,
  importedIdentity,
  linkedOutcome,
  NOW,
  type OpenDatabase,
  person,
} from '../../fixtures/store.ts';

const lookups = { ...noLookups, costCenters: [{ id: 'cc-1', name: 'Finance', archived: false }] };

function ruleSet(generation: number, digest: string, extra: Partial<RulesInForce> = {}): RulesInForce {
  const mapping = { scimUserMapping: [], note: digest };
  return { generation, edition: 4, digest, mapping, lookups: undefined, source: 'file', ...extra };
}

/** Conformance tests of the rules in force, for any database. */
export function describeRulesInForce(open: OpenDatabase): void {
  describe('the rules in force', () => {
    it('are those that were put in force last, with mapping and lookups', async () => {
      const { rules } = await fixture(open);
      expect(await rules.find('okta')).toBeUndefined();
      expect(await rules.findHead('okta', NOW)).toBeUndefined();
      expect(await rules.replace('okta', ruleSet(1, 'a'), NOW)).toBe(true);
      expect(await rules.find('okta')).toEqual(ruleSet(1, 'a'));
      const next = ruleSet(2, 'b', { lookups, source: 'command' });
      expect(await rules.replace('okta', next, NOW)).toBe(true);
      expect(await rules.find('okta')).toEqual(next);
      expect(await rules.findHead('okta', NOW)).toEqual({
        ...{ generation: 2, edition: 4, digest: 'b', source: 'command', fileAgeMs: 0 },
      });
      expect(await rules.find('entra')).toBeUndefined();
    });

    it('are changed by one of several replicas that replace the same generation', async () => {
      const { rules } = await fixture(open);
      const replaceAll = (generation: number) =>
        Promise.all(['a', 'b', 'c'].map((name) => rules.replace('okta', ruleSet(generation, name), NOW)));
      expect((await replaceAll(1)).filter(Boolean)).toHaveLength(1);
      expect((await replaceAll(2)).filter(Boolean)).toHaveLength(1);
      expect(await rules.replace('okta', ruleSet(2, 'late'), NOW)).toBe(false);
      expect(await rules.replace('okta', ruleSet(9, 'early'), NOW)).toBe(false);
      expect(await rules.wasInForce('okta', 'late')).toBe(false);
      expect(await rules.find('okta')).toMatchObject({ generation: 2 });
    });

    it('leave a history of the mappings, the newest first, without the lookups', async () => {
      const { rules } = await fixture(open);
      await rules.replace('okta', ruleSet(1, 'a'), NOW);
      await rules.replace('okta', ruleSet(2, 'a', { lookups }), NOW + 1);
      await rules.replace('okta', ruleSet(3, 'b', { lookups, source: 'command' }), NOW + 2, 'ada');
      await rules.replace('okta', ruleSet(4, 'a', { lookups }), NOW + 3);
      const { mapping } = ruleSet(1, 'a');
      const version = { edition: 4, digest: 'a', mapping, source: 'file' };
      expect(await rules.listMappings('okta', 9)).toEqual([
        { ...version, number: 3, generation: 4, appliedAt: NOW + 3 },
        expect.objectContaining({
          ...{ number: 2, generation: 3, digest: 'b', source: 'command', appliedAt: NOW + 2, author: 'ada' },
        }),
        { ...version, number: 1, generation: 1, appliedAt: NOW },
      ]);
      // The numbers have no gaps, although changed lookups take generations.
      expect(await rules.listMappings('okta', 1)).toEqual([expect.objectContaining({ number: 3 })]);
      const numbers = [0, 1, 2, 3, 4, 5].map((generation) => rules.findMappingNumber('okta', generation));
      expect(await Promise.all(numbers)).toEqual([undefined, 1, 1, 2, 3, 3]);
      expect([await rules.wasInForce('okta', 'b'), await rules.wasInForce('entra', 'b')]).toEqual([
        true,
        false,
      ]);
    });

    describe('that are proposed', () => {
      const proposed: ProposedRules = {
        ...{ digest: 'p', edition: 1, mapping: { p: 1 }, mappingDigest: 'm', collection: undefined },
        ...{ source: 'file', author: 'ada', since: NOW, people: undefined },
      };

      it('wait beside those in force, and come into force once, with their author', async () => {
        const { rules } = await fixture(open);
        await rules.replace('okta', ruleSet(1, 'a'), NOW);
        await rules.propose('okta', proposed);
        expect((await rules.findProposals('okta')).proposed).toEqual(proposed);
        expect((await rules.findProposals('entra')).proposed).toBeUndefined();
        const next = ruleSet(2, 'm');
        expect(await rules.accept('okta', { ...proposed, digest: 'other' }, next, NOW)).toBe(false);
        const both = [rules.accept('okta', proposed, next, NOW), rules.accept('okta', proposed, next, NOW)];
        expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
        expect(await rules.findProposals('okta')).toMatchObject({ proposed: undefined });
        expect((await rules.listMappings('okta', 1))[0]).toMatchObject({ digest: 'm', author: 'ada' });
      });

      it('wait for an admin if one replica has counted too many people, whatever another one has counted', async () => {
        const { rules, modes } = await fixture(open);
        const listWaiting = async () =>
          (await modes.list()).filter(({ proposedSince }) => proposedSince !== undefined);
        await rules.replace('okta', ruleSet(1, 'a'), NOW);
        await rules.propose('okta', proposed);
        expect(await rules.letWait('okta', proposed, 101)).toBe(true);
        expect(await rules.letWait('okta', proposed, 102)).toBe(false);
        expect(await rules.accept('okta', proposed, ruleSet(2, 'm'), NOW)).toBe(false);
        expect(await listWaiting()).toMatchObject([{ connection: 'okta', proposedSince: NOW }]);
        expect(await rules.accept('okta', { ...proposed, people: 101 }, ruleSet(2, 'm'), NOW)).toBe(true);
        expect(await listWaiting()).toEqual([]);
      });

      it('are remembered when they are discarded, or when another mapping takes their place', async () => {
        const { rules } = await fixture(open);
        await rules.replace('okta', ruleSet(1, 'a'), NOW);
        await rules.propose('okta', { ...proposed, collection: [] });
        expect(await rules.discard('okta', { ...proposed, digest: 'other' })).toBe(false);
        expect(await rules.discard('okta', proposed, 'c')).toBe(true);
        const discarded = { proposed: undefined, discardedMapping: 'm', discardedCollection: 'c' };
        expect(await rules.findProposals('okta')).toEqual(discarded);
        await rules.propose('okta', { ...proposed, mappingDigest: 'n' });
        await rules.replace('okta', ruleSet(2, 'b'), NOW);
        expect(await rules.findProposals('okta')).toEqual({ ...discarded, discardedMapping: 'n' });
      });
    });

    it('may change claimed live people with a traveler, and nobody in shadow mode', async () => {
      const { add, rules, modes } = await fixture(open);
      await add(
        person('ada', linkedOutcome('t-1', 'ada@x')),
        person('bob', { ...linkedOutcome('t-2', 'bob@x'), deletedAt: NOW }),
        person('new'),
        importedIdentity('unclaimed', 't-3'),
      );
      expect([await rules.countFollowers('okta', 9), await rules.countFollowers('entra', 9)]).toEqual([1, 0]);
      await modes.change('okta', { to: 'shadow', now: NOW });
      expect(await rules.countFollowers('okta', 9)).toBe(0);
    });

    it('know how long ago a replica last had the mapping file', async () => {
      const { rules } = await fixture(open);
      const ageAt = async (now: number) => (await rules.findHead('okta', now))?.fileAgeMs;
      await rules.replace('okta', ruleSet(1, 'a'), NOW);
      expect(await ageAt(NOW + 50)).toBe(50);
      await rules.recordFile('okta', 'a', NOW + 60);
      await rules.recordFile('okta', 'other', NOW + 70);
      expect(await ageAt(NOW + 100)).toBe(40);
      await rules.replace('okta', ruleSet(2, 'a', { lookups }), NOW + 80);
      expect(await ageAt(NOW + 100)).toBe(40);
      await rules.replace('okta', ruleSet(3, 'b', { lookups }), NOW + 90);
      expect(await ageAt(NOW + 100)).toBe(10);
      await rules.forgetFiles();
      expect(await ageAt(NOW + 100)).toBe(NOW + 100);
    });
  });
}
