import type { RulesInForce } from '../../../src/store/queues/rules-in-force.ts';
import { noLookups } from '../../../src/translator/translation.ts';
import { fixture, NOW, type OpenDatabase } from '../../fixtures/store.ts';

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

    it('keep the lookups that people followed: those of the last approved generation', async () => {
      const { decide, rules, holds } = await fixture(open);
      const check = (generation: number, answer: 'approved' | undefined) =>
        holds.saveHeldRules({
          ...{ connection: 'okta', generation, people: 0, since: NOW, answer, recent: new Map() },
        });
      const other = { ...noLookups, costCenters: [] };
      await rules.replace('okta', ruleSet(1, 'a', { lookups }), NOW);
      await check(1, 'approved');
      expect(await rules.findFollowed('okta')).toBeUndefined();
      await rules.replace('okta', ruleSet(2, 'a', { lookups: other }), NOW);
      expect(await rules.findFollowed('okta')).toEqual({ generation: 1, lookups });
      await check(2, undefined);
      await rules.replace('okta', ruleSet(3, 'b', { lookups: other }), NOW);
      expect(await rules.findFollowed('okta')).toEqual({ generation: 1, lookups });
      await decide('okta', { cause: 'rules' }, 'discarded', NOW);
      await check(3, 'approved');
      await rules.replace('okta', ruleSet(4, 'c', { lookups }), NOW);
      expect(await rules.findFollowed('okta')).toEqual({ generation: 3, lookups: other });
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
