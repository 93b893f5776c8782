import { CompiledQuery, createQueryId, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type {
  Comparison,
  GroupField,
  ListQuery,
  SortKey,
  UserField,
  UserOrder,
  Where,
} from '../../src/model/list-ports.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { NOW, person, plainScan, team } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { withPlugin } from '../fixtures/with-plugin.ts';

type Store = ReturnType<typeof provisioningStore>;
type Query = ListQuery<UserField, UserOrder>;

const databases = temporaryDatabases('jetbridge-list-indexes-');

const users: Comparison<UserField>[] = [
  { field: 'id', operator: 'eq', value: 'a' },
  { field: 'userName', operator: 'eq', value: 'a' },
  { field: 'externalId', operator: 'eq', value: 'a' },
  { field: 'email', operator: 'eq', value: 'a' },
  { field: 'displayName', operator: 'eq', value: 'a' },
  { field: 'created', operator: 'gt', value: NOW },
  { field: 'lastModified', operator: 'le', value: NOW },
];
const parts: Comparison<UserField>[] = [
  { field: 'userName', operator: 'sw', value: 'a' },
  { field: 'externalId', operator: 'sw', value: 'a' },
  { field: 'email', operator: 'sw', value: 'a' },
  { field: 'displayName', operator: 'sw', value: 'a' },
  { field: 'userName', operator: 'co', value: 'a' },
  { field: 'displayName', operator: 'ew', value: 'a' },
  { field: 'person', operator: 'co', value: 'a' },
];
const groups: Comparison<GroupField>[] = [
  { field: 'id', operator: 'eq', value: 'a' },
  { field: 'displayName', operator: 'eq', value: 'a' },
  { field: 'externalId', operator: 'eq', value: 'a' },
  { field: 'member', operator: 'eq', value: 'a' },
  { field: 'created', operator: 'ge', value: NOW },
  { field: 'lastModified', operator: 'lt', value: NOW },
];

/** A key in each order. */
const keys: Record<UserOrder, SortKey> = {
  position: { value: 1, id: 'a' },
  id: { value: 'a', id: 'a' },
  userName: { value: 'a', id: 'a' },
  externalId: { value: 'a', id: 'a' },
  displayName: { value: 'a', id: 'a' },
  created: { value: NOW, id: 'a' },
  lastModified: { value: NOW, id: 'a' },
};

/** A line of a query plan. */
interface PlanLine {
  detail: string;
  /** True if the line belongs to a statement or subquery that stops after a limited number of rows. */
  isLimited: boolean;
}

/** The query plans of all statements of a list. */
async function listPlans(list: (store: Store) => Promise<unknown>): Promise<PlanLine[]> {
  const database = await openEmbedded(databases.newFolder(), true);
  try {
    await ensureConnection(database, { id: 'okta', account: 'acme' });
    const store = provisioningStore(database);
    const insert = (id: string) => ({ kind: 'insert' as const, identity: person(id) });
    expect(await store.identities.commit('okta', [insert('a'), insert('b')])).toBe('done');
    await store.groups.insert(team('a'), [{ value: 'a' }]);
    const queries: RootOperationNode[] = [];
    await list(provisioningStore(withPlugin(database, recordQueries(queries))));
    return (await Promise.all(queries.map((node) => explain(database, node)))).flat();
  } finally {
    await database.close();
  }
}

function recordQueries(queries: RootOperationNode[]): KyselyPlugin {
  return {
    transformQuery: ({ node }) => {
      queries.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

async function explain({ db }: Database, node: RootOperationNode): Promise<PlanLine[]> {
  const { sql, parameters } = db.getExecutor().compileQuery(node, createQueryId());
  // Compiled queries have placeholders for their values.
  const values = parameters.map((value) => (typeof value === 'object' ? null : value));
  const { rows } = await db.executeQuery<{ parent: number; detail: string }>(
    CompiledQuery.raw(`explain query plan ${sql}`, values),
  );
  const isLimitedStatement = /^\s*select[\s\S]+ limit \?( offset \?)?\s*$/.test(sql);
  // Each part of a search for ids has a limit.
  const isSearch = /limit \?\) as search\s*$/.test(sql);
  return rows.map(({ parent, detail }) => ({
    detail,
    isLimited: isSearch || (isLimitedStatement && parent === STATEMENT),
  }));
}

/** The parent of the lines that belong to no subquery. */
const STATEMENT = 0;

/** Rows that an earlier part of the same statement has selected, with a limit, or that it lists. */
const selectedRows = /^SCAN (search|\d+-ROW VALUES CLAUSE|CONSTANT ROW)\b/;

/** Lines that read or sort a whole list. Within a limit, a list may be read from its first row, but not be sorted. */
function slowLines(lines: PlanLine[]): string[] {
  return lines
    .filter(({ detail, isLimited }) => {
      if (selectedRows.test(detail)) return false;
      if (isLimited && detail.startsWith('USE TEMP B-TREE')) return true;
      return detail.startsWith('SCAN ') || (!isLimited && searchesWholeList(detail));
    })
    .map(({ detail }) => detail);
}

function searchesWholeList(detail: string): boolean {
  return /\(account=\? AND connection_id=\?\)( LEFT-JOIN)?$/.test(detail);
}

const byPosition = { by: 'position', descending: false } as const;

describe('a list uses an index', () => {
  it.each(users)('for users by $field', async (where) => {
    const query = { where, order: byPosition, start: { offset: 0 }, limit: 10 };
    const lines = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
    expect(lines.length).toBeGreaterThan(0);
    expect(slowLines(lines)).toEqual([]);
  });

  it.each(parts)('for users with a part of $field ($operator)', async (where) => {
    const query = {
      where,
      exactUnlessLong: ['userName', 'displayName'] as const,
      order: byPosition,
      start: { offset: 0 },
      limit: 10,
    };
    const residual = async (rows: unknown[]) => rows.map(() => true);
    const lines = await listPlans(({ identities }) =>
      identities.list('okta', query, { ...plainScan, residual }),
    );
    expect(lines.length).toBeGreaterThan(0);
    expect(slowLines(lines)).toEqual([]);
  });

  it.each(users)('for users by either of two values of $field', async (where) => {
    const any = [where, { ...where, value: typeof where.value === 'string' ? 'other' : where.value }];
    const query = { where: { any }, order: byPosition, start: { offset: 0 }, limit: 10 };
    const lines = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
    expect(lines.length).toBeGreaterThan(0);
    expect(slowLines(lines)).toEqual([]);
  });

  it.each(groups)('for groups by $field', async (where) => {
    const query = { where, order: byPosition, start: { offset: 0 }, limit: 10 };
    const lines = await listPlans((store) => store.groups.list('okta', query, plainScan));
    expect(lines.length).toBeGreaterThan(0);
    expect(slowLines(lines)).toEqual([]);
  });

  it.each([[['a']], [['a', 'b']]])('for the groups of the users %j', async (users) => {
    const lines = await listPlans((store) => store.groups.groupsOf('okta', users));
    expect(lines.length).toBeGreaterThan(0);
    expect(slowLines(lines)).toEqual([]);
  });

  it('reads the rows that searches find by their ids', async () => {
    const conditions: Where<UserField>[] = [
      { all: [{ field: 'active', operator: 'eq', value: true }, ...users.slice(5)] },
      { any: [{ field: 'active', operator: 'eq', value: false }, ...users] },
      { all: [{ field: 'active', operator: 'eq', value: true }, ...users.slice(4, 5)] },
    ];
    // A search that finds nothing is followed by no reading.
    let found = 0;
    for (const by of Object.keys(keys) as UserOrder[]) {
      for (const where of conditions) {
        const query = { where, order: { by, descending: false }, start: { after: keys[by] }, limit: 10 };
        const lines = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
        expect(slowLines(lines)).toEqual([]);
        const reads = lines.filter(({ detail, isLimited }) => !isLimited && / identity USING /.test(detail));
        for (const { detail } of reads)
          expect(detail).toMatch(/INDEX \w+ \(account=\? AND connection_id=\? AND id=\?\)$/);
        found += reads.length;
      }
    }
    expect(found).toBeGreaterThan(0);
  });

  const orders = Object.entries(keys).flatMap(([by, after]) =>
    [false, true].map((descending) => ({ by: by as UserOrder, descending, after })),
  );

  it.each(orders)('after a key of $by (descending: $descending)', async ({ by, descending, after }) => {
    const query: Query = { where: { all: [] }, order: { by, descending }, start: { after }, limit: 10 };
    const lines = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
    expect(slowLines(lines)).toEqual([]);
    expect(lines.filter(({ detail }) => searchesWholeList(detail))).toEqual([]);
  });

  it.each(orders)(
    'of $by for each step of a scan (descending: $descending)',
    async ({ by, descending, after }) => {
      const any: Where<UserField>[] = [{ field: 'active', operator: 'eq', value: false }, { all: [] }];
      const query: Query = { where: { any }, order: { by, descending }, start: { after }, limit: 10 };
      const lines = await listPlans(async ({ identities }) => {
        await identities.list('okta', query, plainScan);
        await identities.list('okta', query, {
          ...plainScan,
          residual: async (rows) => rows.map(() => true),
        });
      });
      expect(slowLines(lines)).toEqual([]);
      const read = lines.filter(({ detail, isLimited }) => isLimited && detail.startsWith('SEARCH identity'));
      expect(read.length).toBeGreaterThan(0);
    },
  );

  it.each(orders)('from the first row by $by (descending: $descending)', async ({ by, descending }) => {
    const query: Query = { where: { all: [] }, order: { by, descending }, start: { offset: 0 }, limit: 10 };
    const lines = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
    expect(slowLines(lines)).toEqual([]);
    const read = lines.filter(({ detail, isLimited }) => isLimited && detail.startsWith('SEARCH identity'));
    expect(read.length).toBeGreaterThan(0);
  });

  it.each(orders)('after skipped rows by $by (descending: $descending)', async ({ by, descending }) => {
    const query: Query = { where: { all: [] }, order: { by, descending }, start: { offset: 1 }, limit: 10 };
    const lines = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
    expect(slowLines(lines)).toEqual([]);
    expect(lines.filter(({ detail }) => detail.startsWith('SEARCH identity')).length).toBeGreaterThan(0);
  });
});
