import fc from 'fast-check';
import type { Identity } from '../../../src/model/identity.ts';
import type { ListQuery, SortKey, UserField, UserOrder, Where } from '../../../src/model/list-ports.ts';
import type { Identities, ListedIdentity } from '../../../src/model/store-ports.ts';
import { foldCase } from '../../../src/schema/case-fold.ts';
import { runs } from '../../fixtures/runs.ts';
import {
  fixture,
  importedIdentity,
  listQuery,
  NOW,
  type OpenDatabase,
  person,
  plainScan,
} from '../../fixtures/store.ts';
import { updateStatistics } from '../../fixtures/test-database.ts';

type Query = ListQuery<UserField, UserOrder>;

/**
 * Conformance tests of identity lists, for any database: every result must equal that of filtering all identities in
 * memory.
 */
export function describeLists(open: OpenDatabase): void {
  describe('a list of identities', () => {
    it('equals filtering all identities in memory, for any condition, order and part', async () => {
      const { add, identities } = await fixture(open);
      const people = fc.sample(anybody, { numRuns: 70, seed: 7 }).map(toIdentity);
      await add(...people);
      await fc.assert(
        fc.asyncProperty(anyWhere, anyOrder, anyResidual, async (where, order, residual) => {
          const expected = inOrder(
            people.filter((one) => holds(where, one) && residual(one)),
            order,
          );
          const query = { where, order, limit: 15 };
          const scan = scanFor(people, residual);
          expect(await pagesByIndex(identities, query, scan)).toEqual([expected, expected.length]);
          expect(await pagesByCursor(identities, query, scan)).toEqual([expected, expected.length]);
        }),
        runs(120),
      );
    });

    it.each([
      ['the unclaimed person of one traveler', 't24'],
      ['nobody, if the person of the traveler is claimed', 't1'],
    ])('leaves out %s, for any condition, order and part', async (_, hidden) => {
      const { add, identities } = await fixture(open);
      const people = fc.sample(anybody, { numRuns: 70, seed: 11 }).map((one, at) => {
        const claimed = at % 3 > 0;
        return { ...toIdentity(one, at), claimed, travelId: `t${at}` };
      });
      await add(...people);
      const isListed = ({ claimed, travelId }: Identity) => claimed || travelId !== hidden;
      const list: Identities['list'] = (connection, query, scan) =>
        identities.list(connection, query, scan, hidden);
      await fc.assert(
        fc.asyncProperty(anyWhere, anyOrder, anyResidual, async (where, order, residual) => {
          const expected = inOrder(
            people.filter((one) => isListed(one) && holds(where, one) && residual(one)),
            order,
          );
          const query = { where, order, limit: 15 };
          const scan = scanFor(people, residual);
          expect(await pagesByIndex({ list }, query, scan)).toEqual([expected, expected.length]);
          expect(await pagesByCursor({ list }, query, scan)).toEqual([expected, expected.length]);
        }),
        { numRuns: 60 },
      );
    });

    it('leaves out the unclaimed person of a traveler by exact counters, whatever is claimed, deleted or removed', async () => {
      const { add, identities, imports } = await fixture(open);
      const total = async (hidden?: string) => {
        const all = { ...listQuery<UserField>({ all: [] }), limit: 0 };
        const active = { ...listQuery<UserField>(eq('active', true)), limit: 0 };
        const pages = [all, active].map((query) => identities.list('okta', query, plainScan, hidden));
        return (await Promise.all(pages)).map((page) => page.total);
      };
      const withoutB = () => total('t1');
      await add(person('a'), importedIdentity('b', 't1'));
      await imports.saveUnclaimed([importedIdentity('c', 't2'), importedIdentity('d', 't3')], NOW);
      expect(await withoutB()).toEqual([3, 3]);
      const off = { ...importedIdentity('c', 't2').desired, active: false };
      await imports.saveUnclaimed([importedIdentity('c', 't2', { desired: off })], NOW + 1);
      expect(await withoutB()).toEqual([3, 2]);
      const write = (identity: Identity) =>
        identities.commit('okta', [{ kind: 'update', identity: { ...identity, version: 2 }, expected: 1 }]);
      expect(await write({ ...importedIdentity('b', 't1'), claimed: true })).toBe('done');
      expect(await withoutB()).toEqual([4, 3]);
      expect(await write({ ...importedIdentity('d', 't3'), deletedAt: NOW })).toBe('done');
      expect(await withoutB()).toEqual([3, 2]);
      for (const id of ['c', 'd']) await identities.commit('okta', [{ kind: 'deleteUnclaimed', id }]);
      expect(await withoutB()).toEqual([2, 2]);
    });

    describe('of thousands', () => {
      const thousands = async () => {
        const { database, identities, imports } = await fixture(open);
        const people = Array.from({ length: 2600 }, (_, at) => member(at));
        await imports.saveUnclaimed(people, NOW);
        await updateStatistics(database);
        const gone = ['p3', 'p1500', 'p2599'];
        for (const id of gone) {
          expect(await identities.commit('okta', [{ kind: 'deleteUnclaimed', id }])).toBe('done');
        }
        return { identities, people: people.filter(({ id }) => !gone.includes(id)) };
      };

      const conditions: Where<UserField>[] = [
        { all: [] },
        eq('active', true),
        eq('active', false),
        eq('displayName', 'NAME 1'),
        eq('email', 'shared@corp.example'),
        eq('externalId', 'E0'),
        { all: [since('lastModified', 'gt', 500), since('lastModified', 'le', 2300)] },
        { all: [since('created', 'ge', 300), eq('active', true)] },
        { any: [eq('active', false), since('created', 'lt', 1200)] },
      ];
      const orders: Query['order'][] = [
        { by: 'position', descending: false },
        { by: 'userName', descending: false },
        { by: 'id', descending: true },
        { by: 'externalId', descending: false },
        { by: 'externalId', descending: true },
        { by: 'lastModified', descending: true },
        { by: 'created', descending: false },
        { by: 'displayName', descending: true },
      ];

      it('is the same for every order and direction', async () => {
        const { identities, people } = await thousands();
        for (const [where, order] of conditions.flatMap((one) => orders.map((by) => [one, by] as const))) {
          const expected = inOrder(
            people.filter((one) => holds(where, one)),
            order,
          );
          for (const offset of [0, 999, 1000, 1024, expected.length - 3, expected.length + 5]) {
            if (offset < 0) continue;
            const page = await identities.list(
              'okta',
              { where, order, start: { offset }, limit: 7 },
              plainScan,
            );
            expect(page.total).toBe(expected.length);
            expect(page.rows.map(({ id }) => id)).toEqual(expected.slice(offset, offset + 7));
          }
        }
      });

      it('can be read page by page with cursors', async () => {
        const { identities, people } = await thousands();
        for (const [where, order] of conditions.flatMap((one) => orders.map((by) => [one, by] as const))) {
          const expected = inOrder(
            people.filter((one) => holds(where, one)),
            order,
          );
          const query = { where, order, limit: 900 };
          expect(await pagesByCursor(identities, query, plainScan)).toEqual([expected, expected.length]);
        }
      });

      it('applies the residual condition to every candidate, and to no others', async () => {
        const { identities, people } = await thousands();
        const where = eq('active', true);
        const asked: string[] = [];
        const isOdd = ({ id }: ListedIdentity) => Number(id.slice(1)) % 2 === 1;
        const residual = async (rows: ListedIdentity[]) => {
          asked.push(...rows.map(({ id }) => id));
          return rows.map(isOdd);
        };
        const order = { by: 'position', descending: false } as const;
        const query = { where, order, start: { offset: 1001 }, limit: 5 };
        const page = await identities.list('okta', query, { yieldBetweenSteps: async () => {}, residual });
        const active = inOrder(
          people.filter((one) => holds(where, one)),
          order,
        );
        const odd = active.filter((id) => Number(id.slice(1)) % 2 === 1);
        expect(asked).toEqual(active);
        expect(page.total).toBe(odd.length);
        expect(page.rows.map(({ id }) => id)).toEqual(odd.slice(1001, 1006));
      });

      it('is read in short steps, and ends when one of them fails', async () => {
        const { identities } = await thousands();
        const where: Where<UserField> = { any: [eq('active', false), { all: [] }] };
        const query = { where, order: { by: 'userName', descending: false } as const, limit: 5 };
        let steps = 0;
        const count = async () => {
          steps += 1;
        };
        await identities.list(
          'okta',
          { ...query, start: { offset: 0 } },
          { ...plainScan, yieldBetweenSteps: count },
        );
        expect(steps).toBeGreaterThanOrEqual(3);
        const fail = async () => {
          throw new Error('too long');
        };
        await expect(
          identities.list(
            'okta',
            { ...query, start: { offset: 0 } },
            { ...plainScan, yieldBetweenSteps: fail },
          ),
        ).rejects.toThrow('too long');
      });

      it('of everybody needs no steps in the stable order, for any offset', async () => {
        const { identities, people } = await thousands();
        const fail = async () => {
          throw new Error('a step');
        };
        const order = { by: 'position', descending: false } as const;
        const total = people.length;
        const query = { where: { all: [] }, order, start: { offset: total - 1 }, limit: 5 };
        const page = await identities.list('okta', query, { ...plainScan, yieldBetweenSteps: fail });
        expect(page).toMatchObject({ total, next: undefined });
        expect(page.rows.map(({ id }) => id)).toEqual(people.slice(-1).map(({ id }) => id));
      });
    });

    it('of tens of thousands is found at any offset, and for conditions that match too many rows to sort', async () => {
      const { database, identities, imports } = await fixture(open);
      const people = Array.from({ length: 24_000 }, (_, at) => member(at));
      await imports.saveUnclaimed(people.slice(0, 1000), NOW);
      await updateStatistics(database);
      await imports.saveUnclaimed(people.slice(1000), NOW);
      await updateStatistics(database);
      const conditions: Where<UserField>[] = [
        { all: [] },
        eq('displayName', 'Name 1'),
        eq('email', 'shared@corp.example'),
        { all: [since('created', 'ge', 300), eq('active', true)] },
        { any: [eq('displayName', 'Name 1'), eq('externalId', 'E0')] },
      ];
      const orders: Query['order'][] = [
        { by: 'position', descending: false },
        { by: 'externalId', descending: false },
        { by: 'externalId', descending: true },
        { by: 'created', descending: true },
      ];
      for (const [where, order] of conditions.flatMap((one) => orders.map((by) => [one, by] as const))) {
        const expected = inOrder(
          people.filter((one) => holds(where, one)),
          order,
        );
        for (const offset of [
          0,
          9_999,
          10_000,
          11_998,
          12_000,
          19_999,
          20_001,
          23_995,
          expected.length - 1,
        ]) {
          const query = { where, order, start: { offset }, limit: 7 };
          const page = await identities.list('okta', query, plainScan);
          expect(page.total).toBe(expected.length);
          expect(page.rows.map(({ id }) => id)).toEqual(expected.slice(offset, offset + 7));
        }
      }
    }, 300_000);

    it('contains every remaining row once, whatever is deleted between the pages', async () => {
      const { add, identities } = await fixture(open);
      const people = fc
        .sample(anybody, { numRuns: 400, seed: 11 })
        .map(toIdentity)
        .map((one, at) =>
          importedIdentity(`q${(at * 37) % 400}`, `t${at}`, { ...one, id: `q${(at * 37) % 400}` }),
        )
        .map((one, at) => ({ ...one, desired: { ...one.desired, userName: `u${at}` }, claimed: false }));
      await add(...people);
      let left = people;
      const anyPages = fc.record({ limit: fc.integer({ min: 1, max: 9 }), deleted: fc.array(fc.nat()) });
      await fc.assert(
        fc.asyncProperty(anyOrder, anyPages, fc.boolean(), async (order, { limit, deleted }, byCursor) => {
          const all = inOrder(left, order);
          const queue = [...deleted];
          let start: Query['start'] = { offset: 0 };
          let last = '';
          for (let pages = 0; pages < 6; pages += 1) {
            const present = inOrder(left, order);
            const expected =
              'after' in start
                ? all.slice(all.indexOf(last) + 1).filter((id) => present.includes(id))
                : present.slice(start.offset);
            const query = { where: { all: [] }, order, start, limit };
            const page = await identities.list('okta', query, plainScan);
            expect(page.total).toBe(left.length);
            expect(page.rows.map(({ id }) => id)).toEqual(expected.slice(0, limit));
            if (!page.next) return;
            last = page.next.id;
            start = byCursor ? { after: page.next } : { offset: (pages + 1) * limit };
            const gone = left[(queue.pop() ?? 0) % left.length]?.id ?? '';
            expect(await identities.commit('okta', [{ kind: 'deleteUnclaimed', id: gone }])).toBe('done');
            left = left.filter(({ id }) => id !== gone);
          }
        }),
        runs(40),
      );
    });

    it('has exact totals of all and of active users after every kind of change', async () => {
      const { add, identities } = await fixture(open);
      const totals = async () =>
        Promise.all(
          [{ all: [] }, eq('active', true), eq('active', false)].map(async (where: Where<UserField>) => {
            const order = { by: 'position', descending: false } as const;
            const query = { where, order, start: { offset: 0 }, limit: 0 };
            return (await identities.list('okta', query, plainScan)).total;
          }),
        );
      let version = 1;
      const write = async (change: Partial<Identity>) => {
        version += 1;
        const identity = { ...person('a'), ...change, version };
        const done = await identities.commit('okta', [{ kind: 'update', identity, expected: version - 1 }]);
        expect(done).toBe('done');
      };
      const off = { ...person('a').desired, active: false };
      await add(person('a'), importedIdentity('b', 't1'), person('dead', { deletedAt: NOW }));
      expect(await totals()).toEqual([2, 2, 0]);
      await write({ desired: off });
      expect(await totals()).toEqual([2, 1, 1]);
      await write({ desired: off, deletedAt: NOW });
      expect(await totals()).toEqual([1, 1, 0]);
      await write({ deletedAt: NOW });
      expect(await totals()).toEqual([1, 1, 0]);
      await write({});
      expect(await totals()).toEqual([2, 2, 0]);
      await identities.commit('okta', [{ kind: 'deleteUnclaimed', id: 'b' }]);
      expect(await totals()).toEqual([1, 1, 0]);
    });

    it('returns the stored text with its extensions', async () => {
      const { add, identities } = await fixture(open);
      const desired = { userName: 'ada', 'urn:x:y:2.0:User': { z: 1 }, active: true };
      await add(person('ada', { desired, travelId: 't1' }));
      const shown = await identities.findView('okta', 'ada');
      expect(shown).toEqual({
        id: 'ada',
        desired: expect.any(String),
        extensions: expect.any(String),
        version: 1,
        createdAt: NOW,
        lastModified: NOW,
        travelUserId: 't1',
        inGroups: false,
      });
      expect(JSON.parse(shown?.desired ?? '')).toEqual(desired);
      expect(JSON.parse(shown?.extensions ?? '')).toEqual(['urn:x:y:2.0:User']);
      expect(await identities.findView('entra', 'ada')).toBeUndefined();
    });

    it('has the same values on a page as alone, whatever characters they contain', async () => {
      const { add, identities } = await fixture(open);
      const texts = ['\u001e', '\u001f', 'a\u001eb\u001fc\n', '"\\"', "'é𝒳ł", '{}', 'null'];
      for (const [at, text] of texts.entries()) {
        const desired = { userName: `${text}${at}`, displayName: text, 'urn:x:y:2.0:User': { [text]: text } };
        await add(person(`p${at}`, { desired, travelId: text, version: at + 1 }));
      }
      await add(person('unlinked', { desired: { userName: 'unlinked' } }));
      await add(person('large', { desired: { userName: 'large', displayName: 'x'.repeat(9000) } }));
      const { rows, total } = await identities.list('okta', listQuery({ all: [] }, 0, 20), plainScan);
      expect([rows.length, total]).toEqual([9, 9]);
      for (const row of rows) {
        const alone = await identities.findView('okta', row.id);
        expect(row).toEqual(row.id === 'large' ? { ...alone, desired: undefined } : alone);
      }
    });
  });
}

/** One of thousands of identities that share many values. */
function member(at: number): Identity {
  const extra = {
    createdAt: NOW + ((at * 7) % 2600),
    lastModified: NOW + ((at * 31) % 2600),
    desired: {
      userName: `user${((at * 7919) % 2600) + (at - (at % 2600))}@corp.example`,
      ...(at % 2 === 0 ? { externalId: `E${at % 4}` } : {}),
      displayName: `Name ${at % 3}`,
      active: at % 5 !== 0,
      name: { givenName: 'A', familyName: 'B' },
      emails: [{ value: 'shared@corp.example' }, { value: `user${at}@corp.example` }],
    },
  };
  return importedIdentity(`p${at}`, `t${at}`, extra);
}

function eq(field: UserField, value: string | boolean): Where<UserField> {
  return { field, operator: 'eq', value };
}

function since(field: UserField, operator: 'gt' | 'ge' | 'lt' | 'le', after: number): Where<UserField> {
  return { field, operator, value: NOW + after };
}

// ── Random identities and queries ────────────────────────────────────────────────────────────────

const letters = ['a', 'A', 'é', 'É', 'é', 'ﬁ', 'fi', 'ß', '𝒳', 'x', '￼', ''];
const text = fc.array(fc.constantFrom(...letters), { maxLength: 2 }).map((parts) => parts.join(''));
const time = fc.integer({ min: 0, max: 6 }).map((after) => NOW + after);

interface Somebody {
  externalId: string | undefined;
  displayName: string | undefined;
  emails: string[];
  active: boolean;
  isWhole: boolean;
  createdAt: number;
  lastModified: number;
}

const anybody: fc.Arbitrary<Somebody> = fc.record({
  externalId: fc.option(text, { nil: undefined }),
  displayName: fc.option(text, { nil: undefined }),
  emails: fc.array(text, { maxLength: 2 }),
  active: fc.boolean(),
  isWhole: fc.boolean(),
  createdAt: time,
  lastModified: time,
});

function toIdentity(one: Somebody, at: number): Identity {
  const { externalId, displayName, emails, active, isWhole, ...times } = one;
  const desired = {
    userName: `${letters[at % letters.length]}${(at * 37) % 71}`,
    ...(externalId === undefined ? {} : { externalId }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(isWhole ? { name: { givenName: 'A', familyName: 'B' } } : {}),
    emails: emails.map((value) => ({ value })),
    active,
  };
  return person(`p${(at * 13) % 71}`, { desired, ...times });
}

const anyComparison: fc.Arbitrary<Where<UserField>> = fc.oneof(
  fc.record({
    field: fc.constantFrom<UserField>('externalId', 'displayName', 'email'),
    operator: fc.constant<'eq'>('eq'),
    value: text,
  }),
  fc.record({
    field: fc.constantFrom<UserField>('userName', 'displayName'),
    operator: fc.constantFrom('sw', 'ew', 'co'),
    value: fc.oneof(text, fc.constantFrom('7', '%', '_', '\\')),
  }),
  fc.integer({ min: 0, max: 71 }).map((at) => eq('id', `p${at}`)),
  fc.integer({ min: 0, max: 70 }).map((at) => eq('userName', `${letters[at % 12]}${(at * 37) % 71}`)),
  fc.boolean().map((value) => eq('active', value)),
  fc.record({
    field: fc.constantFrom<UserField>('created', 'lastModified'),
    operator: fc.constantFrom('eq', 'gt', 'ge', 'lt', 'le'),
    value: time,
  }),
);

const anyWhere: fc.Arbitrary<Where<UserField>> = fc.letrec<{ where: Where<UserField> }>((tie) => ({
  where: fc.oneof(
    { depthSize: 'small' },
    anyComparison,
    fc.array(tie('where'), { maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie('where'), { maxLength: 3 }).map((any) => ({ any })),
  ),
})).where;

const anyOrder: fc.Arbitrary<Query['order']> = fc.record({
  by: fc.constantFrom<UserOrder>(
    'position',
    'id',
    'userName',
    'externalId',
    'displayName',
    'created',
    'lastModified',
  ),
  descending: fc.boolean(),
});

const anyResidual = fc.constantFrom<(one: Identity) => boolean>(
  () => true,
  ({ createdAt }) => createdAt % 2 === 0,
);

// ── The expected result, computed in memory ──────────────────────────────────────────────────────

function holds(where: Where<UserField>, one: Identity): boolean {
  if ('all' in where) return where.all.every((part) => holds(part, one));
  if ('any' in where) return where.any.some((part) => holds(part, one));
  const { operator: is, value } = where;
  return valuesOf(one, where.field).some((own) => {
    if (typeof own === 'number') {
      const difference = own - Number(value);
      return {
        eq: difference === 0,
        gt: difference > 0,
        ge: difference >= 0,
        lt: difference < 0,
        le: difference <= 0,
        ...{ sw: false, ew: false, co: false },
      }[is];
    }
    const isExact = where.field === 'id' || where.field === 'externalId' || typeof own === 'boolean';
    const fold = isExact ? String : (one: unknown) => foldCase(String(one));
    const text = fold(own);
    const sought = fold(value);
    if (is === 'sw') return text.startsWith(sought);
    if (is === 'ew') return text.endsWith(sought);
    return is === 'co' ? text.includes(sought) : text === sought;
  });
}

function valuesOf(one: Identity, field: UserField | UserOrder): (string | number | boolean)[] {
  const { desired } = one;
  switch (field) {
    case 'id':
      return [one.id];
    case 'created':
      return [one.createdAt];
    case 'lastModified':
      return [one.lastModified];
    case 'email':
      return (desired.emails as { value: string }[]).map(({ value }) => value);
    case 'position':
      return [];
    default: {
      const value = desired[field];
      return value === undefined ? [] : [value as string | boolean];
    }
  }
}

/** The ids in order. Without a sorted column: complete users first, then by creation. */
function inOrder(people: Identity[], { by, descending }: Query['order']): string[] {
  const isWhole = ({ desired }: Identity) =>
    desired.name !== undefined && JSON.stringify(desired.emails) !== '[]' && !isBlank(desired.emails);
  const stable = [...people.filter(isWhole), ...people.filter((one) => !isWhole(one))];
  const keyed = stable.map((one) => ({ id: one.id, keys: [sortKey(one, by), sortKey(one, 'id')] }));
  const sorted = by === 'position' ? stable : keyed.sort((left, right) => byKeys(left.keys, right.keys));
  return (descending ? sorted.reverse() : sorted).map(({ id }) => id);
}

function isBlank(emails: unknown): boolean {
  return (emails as { value: string }[]).every(({ value }) => value === '');
}

/** The value by which one identity is sorted, with text as its bytes; undefined if it has none. */
function sortKey(one: Identity, by: UserOrder): Buffer | number | undefined {
  const [value] = valuesOf(one, by);
  if (value === undefined || typeof value === 'number') return value;
  return Buffer.from(by === 'id' || by === 'externalId' ? String(value) : foldCase(String(value)));
}

function byKeys(left: (Buffer | number | undefined)[], right: (Buffer | number | undefined)[]): number {
  for (const [at, own] of left.entries()) {
    const order = compareKeys(own, right[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareKeys(own: Buffer | number | undefined, other: Buffer | number | undefined): number {
  if (own === undefined || other === undefined)
    return Number(own === undefined) - Number(other === undefined);
  return Buffer.isBuffer(own) && Buffer.isBuffer(other)
    ? Buffer.compare(own, other)
    : Number(own) - Number(other);
}

function scanFor(people: Identity[], residual: (one: Identity) => boolean) {
  const known = new Map(people.map((one) => [one.id, one]));
  const matching = async (rows: ListedIdentity[]) =>
    rows.map(({ id }) => {
      const one = known.get(id);
      return one !== undefined && residual(one);
    });
  return { yieldBetweenSteps: async () => {}, residual: matching };
}

type Scan = Parameters<Identities['list']>[2];

async function pagesByIndex(
  identities: Pick<Identities, 'list'>,
  query: Omit<Query, 'start'>,
  scan: Scan,
): Promise<[string[], number]> {
  const ids: string[] = [];
  for (let offset = 0; ; offset += query.limit) {
    const page = await identities.list('okta', { ...query, start: { offset } }, scan);
    ids.push(...page.rows.map(({ id }) => id));
    if (offset >= page.total) return [ids, page.total];
  }
}

async function pagesByCursor(
  identities: Pick<Identities, 'list'>,
  query: Omit<Query, 'start'>,
  scan: Scan,
): Promise<[string[], number]> {
  const ids: string[] = [];
  let after: SortKey | undefined;
  for (;;) {
    const place = after ? { after } : { offset: 0 };
    const page = await identities.list('okta', { ...query, start: place }, scan);
    ids.push(...page.rows.map(({ id }) => id));
    if (!page.next) return [ids, page.total];
    after = page.next;
  }
}
