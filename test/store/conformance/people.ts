import { findings } from '../../../src/model/findings.ts';
import type { Identity } from '../../../src/model/identity.ts';
import type { People, PeopleFilter } from '../../../src/model/people.ts';
import { listPeople } from '../../../src/provisioning/people/people.ts';
import { urns } from '../../../src/schema/resource.ts';
import { findDuplicates } from '../../../src/store/identities/duplicates.ts';
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
          ...{ travelId: 't-1', isActive: true, isDeleted: false, isUnmanaged: false, lastModified: NOW },
        },
      ]);
    });

    it('are listed by any part of a name, address, number, id or value of a finding', async () => {
      const { add, people } = await fixture(open);
      await add(
        person('a-7f3e', {
          desired: {
            ...{ userName: 'ghopper', displayName: 'Grace Hopper', externalId: '00uExt' },
            emails: [{ value: 'Rear.Admiral@corp.example' }],
            'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { employeeNumber: '000417' },
          },
          ...{ travelId: 'traveler-9c', state: 'synced' },
        }),
        person('b', {
          desired: { userName: 'bob_100%', name: { givenName: 'ÅKE', familyName: 'Öst' } },
          findings: [findings.emailTaken('Boss@corp.example')],
        }),
        person('c', { desired: { userName: 'gone' }, state: 'synced', deletedAt: NOW }),
      );
      const search = (text: string) => idsOf(people, { search: text });
      for (const part of ['CE HOP', 'hopp', 'admiral@', '0417', '7f3', 'ext', 'ELER-9', 'ghop'])
        expect([part, await search(part)]).toEqual([part, ['a-7f3e']]);
      for (const part of ['åke ö', '_1', '0%', 'BOSS'])
        expect([part, await search(part)]).toEqual([part, ['b']]);
      expect(await search('corp.example')).toEqual(['b', 'a-7f3e']);
      for (const text of ['%', 'a_7', 'emailTaken', 'gone', 'omega', 'ω', 'Ω'])
        expect([text, (await search(text)).length]).toEqual([text, text === '%' ? 1 : 0]);
      expect(await idsOf(people, { search: 'gone', archived: true })).toEqual(['c']);
      expect(await idsOf(people, { search: 'o', state: 'synced' })).toEqual(['a-7f3e']);
      const found = await people.findByText('okta', 'O', 1);
      expect(found).toMatchObject([{ id: 'a-7f3e', name: 'Grace Hopper' }]);
      expect((await people.findByText('okta', 'o', 9)).map(({ id }) => id)).toEqual(['a-7f3e', 'b']);
    });

    it('are found by the names that the last write has given them', async () => {
      const { add, people, identities, read } = await fixture(open);
      await add(person('a', { desired: { userName: 'a', displayName: 'Grace Hopper' } }));
      const before = await read('a');
      const desired = { userName: 'a', displayName: 'Grace Murray' };
      const identity = { ...before, desired, version: 2 };
      expect(await identities.commit('okta', [{ kind: 'update', identity, expected: 1 }])).toBe('done');
      expect(await idsOf(people, { search: 'murray' })).toEqual(['a']);
      expect(await idsOf(people, { search: 'hopper' })).toEqual([]);
    });

    it('who share an address, an employee number, or names and department are found, each pair once for each', () =>
      findSharing(open));

    it('with a text are listed page by page in each order', () => listWithText(open, 20));

    it('are sorted by name, by state with those first who need an admin, or by the last change', async () => {
      const { add, people } = await fixture(open);
      const held = { state: 'held', hold: { cause: 'safetyValve', since: NOW } } as const;
      await add(
        person('a', {
          desired: { userName: 'a', displayName: 'zoe' },
          state: 'synced',
          lastModified: NOW + 5,
        }),
        person('b', { desired: { userName: 'b', displayName: 'Ann' }, ...held, lastModified: NOW + 3 }),
        person('c', {
          desired: { userName: 'c', name: { givenName: 'Ben' } },
          state: 'refused',
          lastModified: NOW + 9,
        }),
        person('d', { desired: { userName: 'd' }, state: 'dirty', deletedAt: NOW, lastModified: NOW + 7 }),
        person('e', {
          desired: { userName: 'e', displayName: 'Ann', active: false },
          state: 'synced',
          lastModified: NOW + 3,
        }),
      );
      const sorted = async (filter: PeopleFilter) => {
        const ids: string[] = [];
        let after: Parameters<People['findPage']>[2];
        do {
          const page = await people.findPage('okta', filter, after, 2);
          ids.push(...page.people.map(({ id }) => id));
          after = page.next;
        } while (after);
        return ids.join('');
      };
      expect(await sorted({ sort: 'name' })).toBe('becda');
      expect(await sorted({ sort: 'state' })).toBe('cbdae');
      expect(await sorted({ sort: 'changed' })).toBe('cdaeb');
      expect(await sorted({ sort: 'unchanged' })).toBe('beadc');
      expect(await sorted({ sort: 'changed', state: 'synced' })).toBe('ae');
      expect(await sorted({ sort: 'name', state: 'synced' })).toBe('ea');
      expect(await sorted({ sort: 'changed', archived: true })).toBe('de');
      expect(await sorted({ sort: 'name', userNamePrefix: 'B' })).toBe('b');
      expect(await sorted({ sort: 'state', state: 'held' })).toBe('b');
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

async function listWithText(open: OpenDatabase, count: number): Promise<void> {
  const { add, people } = await fixture(open);
  const numbers = Array.from({ length: count }, (_, number) => number);
  await add(
    ...numbers.map((number) =>
      person(`p${number}`, {
        desired: {
          userName: `u${String(number).padStart(5, '0')}`,
          displayName: `Ann ${count - number}`,
        },
        ...{ state: number % 2 === 0 ? ('synced' as const) : ('held' as const) },
        ...(number % 2 === 1 && { hold: { cause: 'safetyValve' as const, since: NOW } }),
        lastModified: NOW + (number % 7),
      }),
    ),
    person('other', { desired: { userName: 'zoe' } }),
    person('named', {
      desired: { userName: 'zed' },
      findings: [findings.emailTaken('ANN@corp.example')],
    }),
  );
  const all = ['named', ...numbers.map((number) => `p${number}`)].toSorted();
  for (const sort of [undefined, 'name', 'state', 'changed'] as const) {
    const ids = await idsOf(people, { search: 'aNN', sort });
    expect([sort, ids.toSorted()]).toEqual([sort, all]);
  }
}

/** Conformance tests of lists of more people than one statement reads, for any database. */
export function describeManyPeople(open: OpenDatabase): void {
  it('people with a text are listed page by page in each order (2,500 of them)', () =>
    listWithText(open, 2_500));
}

/** Compares people of two connections of one account, and one of another account. */
async function findSharing(open: OpenDatabase): Promise<void> {
  const { add, database } = await fixture(open);
  const emails = (...values: string[]) => ({ emails: values.map((value) => ({ value })) });
  const withNumber = (employeeNumber: string, department?: string) => ({
    [urns.enterprise]: { employeeNumber, ...(department && { department }) },
  });
  const one = (id: string, desired: Identity['desired'], more: Partial<Identity> = {}) =>
    person(id, { desired: { userName: id, ...desired }, ...more });
  const müller = { name: { givenName: 'Eva', familyName: 'Müller (Ext)' } };
  const mueller = { name: { givenName: 'eva', familyName: 'Mueller' } };
  await add(
    one('a', { ...emails('a@x.example', 'shared@x.example') }),
    one('b', { ...emails('Shared@x.example') }),
    one('c', { ...emails('c@x.example', 'shared@x.example') }),
    one('d', { ...withNumber('0017'), ...müller }),
    one('e', { ...withNumber('17'), ...mueller }, { connection: 'entra' }),
    one('f', { ...withNumber('1', 'R&D'), ...müller }),
    one('g', { ...withNumber('2', 'r&d '), ...mueller }),
    one('h', { ...withNumber('3', 'Sales'), ...mueller }),
    one('i', { ...emails('a@x.example') }, { connection: 'other' }),
  );
  const okta = await findDuplicates(database, 'okta', '');
  const texts = okta.pairs.map(
    ({ one, other, shared }) => `${one.id}${other.id} ${shared.kind} ${shared.value}`,
  );
  expect(texts.toSorted()).toEqual([
    'ab address shared@x.example',
    'bc address shared@x.example',
    'fg nameAndDepartment ',
  ]);
  expect(okta.next).toBeUndefined();
  const entra = await findDuplicates(database, 'entra', '');
  expect(entra.pairs).toMatchObject([{ one: { id: 'e' }, other: { connection: 'okta', id: 'd' } }]);
  expect((await findDuplicates(database, 'okta', 'shared@x.example')).pairs).toEqual([]);
}
