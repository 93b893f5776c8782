import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, createQueryId, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type {
  Comparison,
  GroupField,
  SortKey,
  UserField,
  UserOrder,
  Where,
} from '../../src/provisioning/list-ports.ts';
import { repairFutureTimes } from '../../src/store/clock-repair.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { scimTokens } from '../../src/store/credentials.ts';
import type { Database } from '../../src/store/database.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { openEmbedded } from '../../src/store/sqlite.ts';
import {
  importedIdentity,
  linkedOutcome,
  NOW,
  person,
  plainScan,
  team,
  traveler,
} from '../fixtures/store.ts';
import { withPlugin } from '../fixtures/with-plugin.ts';

type Store = ReturnType<typeof provisioningStore>;

/** A connection has only one such row. */
const rulesChange = /^SEARCH rules_change USING INDEX sqlite_autoindex_rules_change_1 /;

/** The frequent calls, each with the index searches that may read a whole connection. */
const calls: [string, (store: Store) => Promise<unknown>, RegExp?][] = [
  ['findById', ({ identities }) => identities.findById('okta', 'a')],
  ['find by userName', ({ identities }) => identities.find('okta', { by: 'userName', value: 'a' })],
  ['find by externalId', ({ identities }) => identities.find('okta', { by: 'externalId', value: 'a' })],
  ['find by email', ({ identities }) => identities.find('okta', { by: 'email', value: 'a' })],
  ['find by travelId', ({ identities }) => identities.find('okta', { by: 'travelId', value: 'a' })],
  ['find by travelEmail', ({ identities }) => identities.find('okta', { by: 'travelEmail', value: 'a' })],
  [
    'findPage',
    ({ identities }) => identities.findPage('okta', 0, 10),
    /identity_page \(account=\? AND connection_id=\?\)/,
  ],
  ['holder by id', ({ identities }) => identities.findHolder('acme', { travelId: 't1' })],
  ['holder by address', ({ identities }) => identities.findHolder('acme', { travelEmail: 'a' })],
  ['insert', ({ identities }) => insert({ identities }, person('new', { travelId: 't9' }))],
  [
    'update',
    ({ identities }) =>
      identities.commit('okta', [{ kind: 'update', identity: person('b', { version: 2 }), expected: 1 }]),
  ],
  [
    'release',
    ({ identities }) =>
      identities.commit('okta', [
        {
          kind: 'giveUpTraveler',
          connection: 'okta',
          origin: {},
          applied: {},
          id: 'dead',
          leasedUntil: undefined,
        },
      ]),
  ],
  ['erase', ({ identities }) => identities.commit('okta', [{ kind: 'deleteUnclaimed', id: 'b' }])],
  ['acquire', ({ leases }) => leases.acquire('okta', 'a', { token: 'k', ms: 9, now: NOW })],
  ['announce', ({ leases }) => leases.announce('okta', 'a', 'k', { creating: 'a@x' })],
  [
    'finish',
    async ({ leases }) => {
      await leases.acquire('okta', 'a', { token: 'k', ms: 9, now: NOW });
      await leases.finish('okta', 'a', 'k', 1, linkedOutcome('t7', 'a@x'));
    },
  ],
  ['releaseAll', ({ leases }) => leases.releaseAll(), /^SCAN identity USING INDEX identity_leased$/],
  ['findDue', ({ reconcileQueue }) => reconcileQueue.findDue(NOW, 10, ['okta', 'entra'])],
  ['markDirty', ({ reconcileQueue }) => reconcileQueue.markDirty('okta', ['a', 'b'], NOW)],
  ['markEmailWaitersDirty', ({ reconcileQueue }) => reconcileQueue.markEmailWaitersDirty('acme', 'a@x', NOW)],
  [
    'markUnresolvedDirty',
    ({ reconcileQueue }) => reconcileQueue.markUnresolvedDirty('okta', NOW),
    /^SEARCH reference /,
  ],
  ['markStaleDirty', ({ reconcileQueue }) => reconcileQueue.markStaleDirty('okta', 2, 10, NOW)],
  [
    'counts',
    ({ reconcileQueue }) => reconcileQueue.countByState(),
    /^SCAN (tally|identity USING COVERING INDEX identity_unsettled)|USE TEMP B-TREE/,
  ],
  ['references', ({ references }) => references.findRows('okta', 'a')],
  [
    'saving references',
    ({ references }) => references.save('okta', 'a', [{ raw: 'r', target: undefined, travelId: undefined }]),
  ],
  ['deciding about references', ({ references }) => references.update('okta', 'a', (of) => of('b'))],
  ['findReferrers', ({ references }) => references.findReferrers('okta', 'a', ['b', 'c'])],
  ['findKnown', ({ imports }) => imports.findKnown('okta', ['t1', 't2'])],
  ['findLinkedElsewhere', ({ imports }) => imports.findLinkedElsewhere('okta', 'acme', ['t1', 't2'])],
  ['findOpenCreates', ({ imports }) => imports.findOpenCreates('acme')],
  [
    'saveUnclaimed',
    ({ imports }) => imports.saveUnclaimed([importedIdentity('x', 't2'), importedIdentity('y', 't4')], NOW),
  ],
  [
    'observe',
    ({ imports }) => imports.saveObserved('okta', [{ id: 'a', observed: traveler('t1', 'n@x') }], NOW),
  ],
  ['findMissing', ({ imports }) => imports.findMissing('okta', NOW + 1)],
  ['deleteStale', ({ imports }) => imports.deleteStale('okta', NOW + 1)],
  [
    'held people',
    ({ holds }) => holds.findHeldPeople({ connection: 'okta', cause: 'guarded', limit: 10 }),
    rulesChange,
  ],
  [
    'counting holds',
    ({ holds }) => holds.countHolds(),
    /^(SCAN (identity USING INDEX identity_held|rules_change)|SEARCH rules_change)/,
  ],
  ['deciding', ({ holds }) => holds.decide('okta', { cause: 'rules' }, 'approved', NOW), rulesChange],
  [
    'admitDeparture',
    ({ holds }) => holds.admitDeparture('okta', 'a', { share: 0.5, minimum: 1, windowMs: 9 }, NOW),
    /^SEARCH departure USING COVERING INDEX departure_at \(account=\? AND connection_id=\?\)$/,
  ],
  ['translatedOtherwise', ({ holds }) => holds.findTranslatedEarlier('okta', 2, { after: 'a', limit: 10 })],
  ['a group', ({ groups }) => groups.findById('okta', 'g')],
  ['members', ({ groups }) => groups.allMembers('okta', ['g', 'h'])],
  ['membersOfSmall', ({ groups }) => groups.membersOfSmallGroups('okta', ['g', 'h'])],
  ['membershipsOf', ({ groups }) => groups.membershipsOf('okta', 'a')],
  ['groupsOf', ({ groups }) => groups.groupsOf('okta', ['a', 'b'])],
  [
    'changing members',
    ({ groups }) =>
      groups.change(team('g', { version: 2 }), 1, {
        attributes: {},
        members: [
          { kind: 'add', members: [{ value: 'n' }] },
          { kind: 'remove', values: ['b'] },
        ],
      }),
  ],
];

async function insert({ identities }: Pick<Store, 'identities'>, identity = person('a')): Promise<void> {
  expect(await identities.commit(identity.connection, [{ kind: 'insert', identity }])).toBe('done');
}

/** Records every query that is sent to the database. */
function recordQueries(queries: RootOperationNode[]): KyselyPlugin {
  return {
    transformQuery: ({ node }) => {
      queries.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

async function plansOf({ db }: Database, queries: RootOperationNode[]): Promise<string[]> {
  const plans: string[] = [];
  for (const node of queries) {
    const { sql, parameters } = db.getExecutor().compileQuery(node, createQueryId());
    if (/^(begin|commit|rollback)/.test(sql)) continue;
    // Compiled queries have placeholders for their values.
    const values = parameters.map((value) => (typeof value === 'object' ? null : value));
    const explained = CompiledQuery.raw(`explain query plan ${sql}`, values);
    const { rows } = await db.executeQuery<{ detail: string }>(explained);
    plans.push(...rows.map(({ detail }) => detail));
  }
  return plans;
}

/**
 * A search by the connection alone reads all its rows. Only lists may do so, because they stop at the end of a page.
 */
function isSlow(plan: string): boolean {
  return /^SCAN (?!page\b)/.test(plan) || /\((account=\?|account=\? AND connection_id=\?)\)$/.test(plan);
}

it.each(calls.map(([name, call, allowed = /^$/]) => ({ name, call, allowed })))(
  '$name uses an index, however many there are',
  async ({ call, allowed }) => {
    const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
    const database = await openEmbedded(directory, true);
    try {
      for (const id of ['okta', 'entra']) await ensureConnection(database, { id, account: 'acme' });
      const store = provisioningStore(database);
      await insert(store, person('a', { travelId: 't1' }));
      await insert(store, importedIdentity('b', 't2'));
      await insert(store, person('dead', { travelId: 't3', deletedAt: NOW }));
      await store.groups.insert(team('g'), [{ value: 'a' }, { value: 'b' }]);
      const queries: RootOperationNode[] = [];
      await call(provisioningStore(withPlugin(database, recordQueries(queries))));
      const plans = await plansOf(database, queries);
      expect(plans.length).toBeGreaterThan(0);
      expect(plans.filter((plan) => isSlow(plan) && !allowed.test(plan))).toEqual([]);
    } finally {
      await database.close();
      rmSync(directory, { recursive: true });
    }
  },
);

const fields: Comparison<UserField>[] = [
  { field: 'id', operator: 'eq', value: 'a' },
  { field: 'userName', operator: 'eq', value: 'a' },
  { field: 'externalId', operator: 'eq', value: 'a' },
  { field: 'email', operator: 'eq', value: 'a' },
  { field: 'displayName', operator: 'eq', value: 'a' },
  { field: 'created', operator: 'gt', value: NOW },
  { field: 'lastModified', operator: 'le', value: NOW },
];
const groupFields: Comparison<GroupField>[] = [
  { field: 'id', operator: 'eq', value: 'a' },
  { field: 'displayName', operator: 'eq', value: 'a' },
  { field: 'externalId', operator: 'eq', value: 'a' },
  { field: 'member', operator: 'eq', value: 'a' },
  { field: 'created', operator: 'ge', value: NOW },
  { field: 'lastModified', operator: 'lt', value: NOW },
];

/** The keys of each order. */
const keys: Record<UserOrder, SortKey> = {
  position: { value: null, position: 1 },
  id: { value: 'a', position: 1 },
  userName: { value: 'a', position: 1 },
  externalId: { value: 'a', position: 1 },
  displayName: { value: 'a', position: 1 },
  created: { value: NOW, position: 1 },
  lastModified: { value: NOW, position: 1 },
};

/** The query plans of all statements of a list. */
async function listPlans(list: (store: Store) => Promise<unknown>): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
  const database = await openEmbedded(directory, true);
  try {
    await ensureConnection(database, { id: 'okta', account: 'acme' });
    const store = provisioningStore(database);
    await insert(store, person('a', { travelId: 't1' }));
    await store.groups.insert(team('a'), [{ value: 'a' }]);
    const queries: RootOperationNode[] = [];
    await list(provisioningStore(withPlugin(database, recordQueries(queries))));
    return await plansOf(database, queries);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
}

/**
 * Each step begins after the last one: a search by the connection alone may only sum counters, and only the rows of
 * one step may be sorted.
 */
function slowPlans(plans: string[]): string[] {
  return plans.filter((plan, at) => {
    if (plan === 'SCAN part' || / identity_block /.test(plan)) return false;
    const sorts = /USE TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/.test(plan);
    return isSlow(plan) || (sorts && plans[at - 1] !== 'SCAN part');
  });
}

describe('a list uses an index', () => {
  const users = fields.map((where) => ({ name: where.field, where }));
  it.each(users)('for users by $name', async ({ where }) => {
    const order = { by: 'position', descending: false } as const;
    const query = { where, order, start: { offset: 0 }, limit: 10 };
    const plans = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
    expect(plans.length).toBeGreaterThan(0);
    expect(slowPlans(plans)).toEqual([]);
  });

  it.each(users)('for users by either of two values of $name', async ({ where }) => {
    const order = { by: 'position', descending: false } as const;
    const any = [where, { ...where, value: typeof where.value === 'string' ? 'other' : where.value }];
    const query = { where: { any }, order, start: { offset: 0 }, limit: 10 };
    const plans = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
    expect(plans.length).toBeGreaterThan(0);
    expect(slowPlans(plans)).toEqual([]);
  });

  const groups = groupFields.map((where) => ({ name: where.field, where }));
  it.each(groups)('for groups by $name', async ({ where }) => {
    const order = { by: 'position', descending: false } as const;
    const query = { where, order, start: { offset: 0 }, limit: 10 };
    const plans = await listPlans((store) => store.groups.list('okta', query, plainScan));
    expect(plans.length).toBeGreaterThan(0);
    expect(slowPlans(plans)).toEqual([]);
  });

  const orders = Object.entries(keys).flatMap(([by, after]) =>
    [false, true].map((descending) => ({ by: by as UserOrder, descending, after })),
  );
  const wheres: Where<UserField>[] = [
    { all: [] },
    { field: 'active', operator: 'eq', value: true },
    { any: [{ field: 'active', operator: 'eq', value: false }, { all: [] }] },
  ];
  it.each(orders)('after a key of $by (descending: $descending)', async ({ by, descending, after }) => {
    for (const where of wheres) {
      const query = { where, order: { by, descending }, start: { after }, limit: 10 };
      const plans = await listPlans(async ({ identities }) => {
        await identities.list('okta', query, plainScan);
        await identities.list('okta', query, {
          ...plainScan,
          residual: async (rows) => rows.map(() => true),
        });
      });
      expect(plans.length).toBeGreaterThan(0);
      // The rows before the key end at the key.
      expect(slowPlans(plans)).toEqual([]);
    }
  });

  /** The lookup of memberships for each row. */
  const memberships =
    /^CORRELATED SCALAR SUBQUERY|^SEARCH group_member USING COVERING INDEX group_member_value \(account=\? AND connection_id=\? AND value=\?\)$/;

  it('from the first row', async () => {
    for (const { by, descending } of orders) {
      const query = { where: { all: [] }, order: { by, descending }, start: { offset: 0 }, limit: 10 };
      const plans = await listPlans(({ identities }) => identities.list('okta', query, plainScan));
      const [tally, ...others] = plans.filter((plan) => !memberships.test(plan));
      expect(tally).toMatch(/tally/);
      expect(others.length).toBeGreaterThan(0);
      for (const plan of others)
        expect(plan).toMatch(
          /^SEARCH identity USING (COVERING )?INDEX (identity_|sqlite_autoindex_identity_1 )/,
        );
    }
  });

  it('at a high offset, with the counters of blocks', async () => {
    const order = { by: 'position', descending: false } as const;
    const query = { where: { all: [] }, order, start: { offset: 5000 }, limit: 10 };
    const plans = await listPlans(async ({ identities, imports }) => {
      await imports.saveUnclaimed(
        Array.from({ length: 5100 }, (_, at) => importedIdentity(`p${at}`, `i${at}`)),
        NOW,
      );
      await identities.list('okta', query, plainScan);
    });
    expect(plans.filter((plan) => / identity_block /.test(plan))).toEqual([
      expect.stringMatching(/\(account=\? AND connection_id=\?\)$/),
    ]);
    const after = plans.slice(plans.findIndex((plan) => / identity_block /.test(plan)));
    expect(after.filter((plan) => / identity_page /.test(plan))).toEqual([
      expect.stringMatching(/identity_page \(account=\? AND connection_id=\? AND position>\?\)$/),
    ]);
  });
});

it('due deactivations are found by their own index', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
  const database = await openEmbedded(directory, true);
  try {
    await ensureConnection(database, { id: 'okta', account: 'acme' });
    const queries: RootOperationNode[] = [];
    const store = provisioningStore(withPlugin(database, recordQueries(queries)));
    await store.reconcileQueue.findDue(NOW, 10, ['okta']);
    const plans = await plansOf(database, queries);
    expect(plans.map((plan) => /INDEX (\w+) \(/.exec(plan)?.[1])).toEqual([
      'identity_leaver',
      'identity_due',
      'identity_check',
    ]);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
});

it('times too far in the future are found by indexes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
  const database = await openEmbedded(directory, true);
  try {
    await ensureConnection(database, { id: 'okta', account: 'acme' });
    const queries: RootOperationNode[] = [];
    const watched = withPlugin(database, recordQueries(queries));
    await repairFutureTimes(watched, NOW, { attemptMs: 1, checkMs: { okta: 1 }, deliveryMs: 1 });
    const plans = await plansOf(database, queries);
    // Webhooks are few, so they may be scanned.
    expect(plans.filter((plan) => isSlow(plan) && plan !== 'SCAN travel_delivery_queue')).toEqual([]);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
});

it('a token is found by an index', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
  const database = await openEmbedded(directory, true);
  try {
    const queries: RootOperationNode[] = [];
    await scimTokens(withPlugin(database, recordQueries(queries))).findActive('h', NOW);
    const plans = await plansOf(database, queries);
    expect(plans).toEqual([expect.stringMatching(/^SEARCH token USING INDEX \w+ \(hash=\?\)$/)]);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
});
