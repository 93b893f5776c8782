import { findings } from '../../../src/provisioning/findings.ts';
import type { Identity } from '../../../src/provisioning/identity.ts';
import { listPeople, type People, type PeopleFilter } from '../../../src/provisioning/people/people.ts';
import { fixture, importedIdentity, NOW, type OpenDatabase, person } from '../../fixtures/store.ts';

const inactive = (id: string) => ({ desired: { ...person(id).desired, active: false } });

/** Reads all pages, and returns the ids in their order. */
async function idsOf(people: People, filter: PeopleFilter, connections = ['okta']): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of listPeople(people, connections, filter)) ids.push(...page.map(({ id }) => id));
  return ids;
}

/** Conformance tests of lists of people, for any database. */
export function describePeople(open: OpenDatabase): void {
  describe('people', () => {
    it('are listed by userName without case, connection by connection', async () => {
      const { add, people } = await fixture(open);
      await add(
        person('x', {
          desired: { userName: 'Bob', displayName: 'Bob B.' },
          state: 'synced',
          travelId: 't-1',
        }),
        person('y', { desired: { userName: 'ada', name: { givenName: 'Ada', familyName: 'King' } } }),
        person('z', { connection: 'entra', desired: { userName: 'aaa' } }),
      );
      expect(await idsOf(people, {}, ['okta', 'entra'])).toEqual(['y', 'x', 'z']);
      const { people: listed, next } = await people.findPage('okta', {}, undefined);
      expect(next).toBeUndefined();
      expect(listed).toEqual([
        expect.objectContaining({ userName: 'ada', name: 'Ada King', state: 'dirty', isActive: true }),
        {
          ...{ connection: 'okta', id: 'x', userName: 'Bob', name: 'Bob B.', state: 'synced', findings: [] },
          ...{ travelId: 't-1', isActive: true, isDeleted: false, lastModified: NOW },
        },
      ]);
    });

    it('are listed by state, by the code of a finding, and by whether they have left', async () => {
      const { add, people } = await fixture(open);
      const noEmail: Partial<Identity> = { state: 'pending', findings: [findings.noEmail()] };
      const named: Identity['findings'] = [{ ...findings.privileged(), value: '"noEmail"' }];
      await add(
        person('a', { state: 'synced' }),
        person('b', noEmail),
        person('c', {
          ...{ ...inactive('c'), state: 'held', hold: { cause: 'safetyValve', since: NOW } },
          findings: [findings.noEmail()],
        }),
        person('d', { state: 'synced', deletedAt: NOW }),
        person('e', { ...inactive('e'), state: 'dirty', nextAttemptAt: NOW, deletedAt: NOW }),
        person('f', { state: 'synced', findings: named }),
      );
      expect(await idsOf(people, {})).toEqual(['a', 'b', 'c', 'e', 'f']);
      expect(await idsOf(people, { archived: true })).toEqual(['c', 'd', 'e']);
      expect(await idsOf(people, { state: 'synced' })).toEqual(['a', 'f']);
      expect(await idsOf(people, { state: 'held' })).toEqual(['c']);
      expect(await idsOf(people, { state: 'dirty', archived: true })).toEqual(['e']);
      expect(await idsOf(people, { finding: 'noEmail' })).toEqual(['b', 'c']);
      expect(await idsOf(people, { finding: 'noEmail', archived: true })).toEqual(['c']);
      expect(await idsOf(people, { finding: 'noEmail', state: 'refused' })).toEqual([]);
      expect(await idsOf(people, { finding: '%' })).toEqual([]);
    });

    it('are listed by the field and the value of a finding, and by whether they have any', async () => {
      const { add, people } = await fixture(open);
      const taken = findings.emailTaken('ada@corp.example');
      await add(
        person('a', { findings: [taken] }),
        person('b', { findings: [findings.emailTaken('bob@corp.example'), findings.guardedLeaver()] }),
        person('c', { findings: [findings.guarded(), { ...taken, value: 'x'.repeat(300) }] }),
        person('d'),
      );
      expect(await idsOf(people, { hasFindings: true })).toEqual(['a', 'b', 'c']);
      expect(await idsOf(people, { finding: 'emailTaken', value: 'bob@corp.example' })).toEqual(['b']);
      expect(await idsOf(people, { finding: 'guarded', value: 'bob@corp.example' })).toEqual([]);
      expect(await idsOf(people, { finding: 'guarded', field: 'archived' })).toEqual(['b']);
      expect(await idsOf(people, { field: 'email' })).toEqual(['a', 'b', 'c']);
      // A value that is no text is compared as JSON, none as an empty text, and a long one by its beginning.
      expect(await idsOf(people, { value: 'true' })).toEqual(['b']);
      expect(await idsOf(people, { finding: 'guarded', value: '' })).toEqual(['c']);
      expect(await idsOf(people, { value: `${'x'.repeat(200)}…` })).toEqual(['c']);
    });

    it('are read up to a limit, and selected by the beginning of the userName', async () => {
      const { add, people } = await fixture(open);
      const withName = (id: string, userName: string) => person(id, { desired: { userName } });
      await add(withName('a', 'Ada'), withName('b', 'adele'), withName('c', 'AD%'), withName('d', 'bob'));
      expect(await idsOf(people, { userNamePrefix: 'AD' })).toEqual(['c', 'a', 'b']);
      expect(await idsOf(people, { userNamePrefix: 'ad%' })).toEqual(['c']);
      const first = await people.findPage('okta', {}, undefined, 3);
      expect(first.people.map(({ id }) => id)).toEqual(['c', 'a', 'b']);
      const second = await people.findPage('okta', {}, first.next, 3);
      expect(second).toMatchObject({ people: [{ id: 'd' }], next: undefined });
    });

    it('are found by the beginning of userName, email address and displayName, without those who were deleted', async () => {
      const { add, people } = await fixture(open);
      await add(
        person('a', { desired: { userName: 'ada' } }),
        person('b', { desired: { userName: 'bob', displayName: 'Adam' } }),
        person('c', { desired: { userName: 'cyd', emails: [{ value: 'ADELE@x' }] } }),
        person('d', { desired: { userName: 'ade' }, state: 'synced', deletedAt: NOW }),
        person('e', { desired: { userName: 'eve', displayName: 'Not Ada' } }),
      );
      const found = async (prefix: string, limit = 9) =>
        (await people.findByPrefix('okta', prefix, limit)).map(({ id }) => id);
      expect(await found('AD')).toEqual(['a', 'b', 'c']);
      expect(await found('ad', 2)).toEqual(['a', 'b']);
      expect(await found('x')).toEqual([]);
    });

    it('have as an example the one whom an IdP has sent last', async () => {
      const { add, people } = await fixture(open);
      const imported = Array.from({ length: 120 }, (_, at) =>
        importedIdentity(`i${at}`, `t${at}`, { lastModified: NOW + at }),
      );
      await add(...imported);
      expect(await people.findExample('okta')).toBeUndefined();
      await add(person('a', { state: 'synced', lastModified: NOW - 1 }));
      expect(await people.findExample('okta')).toBe('a');
      await add(person('b', { lastModified: NOW + 200 }), person('c', { lastModified: NOW + 100 }));
      await add(person('d', { lastModified: NOW + 300, deletedAt: NOW + 300 }));
      expect(await people.findExample('okta')).toBe('b');
    });

    it('are read in pages, each person once', async () => {
      const { add, people } = await fixture(open);
      const all = Array.from({ length: 1_100 }, (_, index) => `p${String(index).padStart(4, '0')}`);
      await add(...all.map((id, index) => person(id, index % 2 === 0 ? { state: 'refused' } : {})));
      expect(await idsOf(people, {})).toEqual(all);
      const refused = all.filter((_, index) => index % 2 === 0);
      expect(await idsOf(people, { state: 'refused' })).toEqual(refused);
    });

    it('whom the scope leaves out are counted by connection, without those who were deleted', async () => {
      const { add, people } = await fixture(open);
      const out: Partial<Identity> = {
        state: 'synced',
        findings: [findings.outOfScope('title pr', 'none')],
      };
      await add(
        person('a', out),
        person('b', out),
        person('c', { state: 'synced' }),
        person('d', { ...out, deletedAt: NOW }),
        person('e', { connection: 'entra', ...out }),
      );
      const counts = await people.countOutOfScope();
      expect(counts.toSorted((one, other) => other.count - one.count)).toEqual([
        { connection: 'okta', count: 2 },
        { connection: 'entra', count: 1 },
      ]);
    });
  });
}
