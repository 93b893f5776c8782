import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, createQueryId, type KyselyPlugin, type RootOperationNode } from 'kysely';
import { ensureConnection } from '../../src/store/connections.ts';
import { scimTokens } from '../../src/store/credentials/credentials.ts';
import { peopleSummaries } from '../../src/store/identities/people-summaries.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import {
  announcedCreate,
  createOf,
  importedIdentity,
  linkedOutcome,
  NOW,
  person,
  team,
  traveler,
} from '../fixtures/store.ts';
import { withPlugin } from '../fixtures/with-plugin.ts';

type Store = ReturnType<typeof provisioningStore>;

/** A connection has only one such row of either table. */
const rulesInForce = /^SEARCH rules_in_force USING INDEX sqlite_autoindex_rules_in_force_1 /;
const rulesChange = /^SEARCH rules_change USING INDEX sqlite_autoindex_rules_change_1 /;

/** The condition of an insert reads one row of rules, and the few connections of an account. */
const inOneRow =
  /^SEARCH (rules_in_force USING INDEX sqlite_autoindex_rules_in_force_1|connection USING COVERING INDEX sqlite_autoindex_connection_2) /;

/** An account has few connections. */

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
  ['insert', ({ identities }) => insert({ identities }, person('new', { travelId: 't9' })), inOneRow],
  [
    'insert with a reserved address',
    ({ identities }) => insert({ identities }, person('new', { creating: createOf('new@x') })),
    inOneRow,
  ],
  [
    'identities of a new user',
    ({ identities }) =>
      identities.findForNewUser('okta', {
        userName: 'a',
        externalId: 'a',
        email: 'a@x',
      }),
    // The part of the union that has a limit.
    /^(SCAN waiters$|SEARCH rules_in_force USING INDEX sqlite_autoindex_rules_in_force_1 )/,
  ],
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
  ['acquire', ({ leases }) => leases.acquire('okta', 'a', { token: 'k', ms: 9, now: NOW }), rulesInForce],
  ['announce', ({ leases }) => leases.announce('okta', 'a', 'k', announcedCreate('a@x'))],
  [
    'finish',
    async ({ leases }) => {
      await leases.acquire('okta', 'a', { token: 'k', ms: 9, now: NOW });
      await leases.finish('okta', 'a', 'k', { revision: 1 }, linkedOutcome('t7', 'a@x'));
    },
    rulesInForce,
  ],
  ['releaseAll', ({ leases }) => leases.releaseAll(), /^SCAN identity USING INDEX identity_leased$/],
  ['findDue', ({ reconcileQueue }) => reconcileQueue.findDue(NOW, 10, ['okta', 'entra'])],
  ['markDirty', ({ reconcileQueue }) => reconcileQueue.markDirty('okta', ['a', 'b'], NOW)],
  ['markEmailWaitersDirty', ({ reconcileQueue }) => reconcileQueue.markEmailWaitersDirty('acme', 'a@x', NOW)],
  ['markAllEmailWaitersDirty', ({ reconcileQueue }) => reconcileQueue.markAllEmailWaitersDirty('acme', NOW)],
  [
    'markUnresolvedDirty',
    ({ reconcileQueue }) => reconcileQueue.markUnresolvedDirty('okta', NOW),
    /^SEARCH reference /,
  ],
  ['markStaleDirty', ({ reconcileQueue }) => reconcileQueue.markStaleDirty('okta', 2, 10, NOW)],
  [
    'counts',
    ({ reconcileQueue }) => reconcileQueue.countByState(),
    /^SCAN (list_counter|identity USING COVERING INDEX identity_unsettled)|USE TEMP B-TREE/,
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
  ['deleteLinkedElsewhere', ({ imports }) => imports.deleteLinkedElsewhere('okta', ['a', 'b'])],
  ['findOpenCreates', ({ imports }) => imports.findOpenCreates('acme')],
  [
    'saveUnclaimed',
    ({ imports }) => imports.saveUnclaimed([importedIdentity('x', 't2'), importedIdentity('y', 't4')], NOW),
    // The rows to insert, and whether the account has any erased traveler: that reads one entry.
    /^(SCAN 2-ROW VALUES CLAUSE|SEARCH erased_traveler USING COVERING INDEX \S+ \(account=\?\))$/,
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
    /^(SCAN (identity USING COVERING INDEX identity_held|rules_change)|SEARCH rules_change)/,
  ],
  [
    'people in a state',
    ({ people }) => people.findPage('okta', { state: 'pending', userNamePrefix: 'a' }, undefined),
  ],
  ['dirty people', ({ people }) => people.findPage('okta', { state: 'dirty' }, undefined), /^SCAN identity$/],
  [
    'people with a finding',
    ({ people }) => people.findPage('okta', { finding: 'noEmail' }, undefined),
    /^SEARCH identity USING INDEX identity_with_findings /,
  ],
  [
    'people who have left',
    ({ people }) => people.findPage('okta', { archived: true }, undefined),
    /^SEARCH identity USING INDEX identity_archived /,
  ],
  [
    'people by a prefix',
    ({ people }) => people.findByPrefix('okta', 'a', 10),
    // The ids that the three indexes give.
    /^SCAN (user_name_key|display_name_key|email_key)$/,
  ],
  [
    'an example person',
    ({ people }) => people.findExample('okta'),
    // Both end after a few people.
    /^SCAN latest$|identity_(last_modified|rules) \(account=\? AND connection_id=\?\)$/,
  ],
  [
    'people out of scope',
    ({ people }) => people.countOutOfScope(),
    /^SCAN identity USING COVERING INDEX identity_finding_codes$/,
  ],
  ['the people of a decision', ({ holds }) => holds.listDecided('okta', NOW, { after: 'a', limit: 10 })],
  ['the progress of a decision', ({ holds }) => holds.readProgress('okta', NOW)],
  [
    'followers of rules',
    ({ rules }) => rules.countFollowers('okta', 101),
    // It ends at the 101st.
    /^SEARCH identity USING INDEX identity_rules \(account=\? AND connection_id=\?\)$/,
  ],
  [
    'admitDeparture',
    ({ holds }) => holds.admitDeparture('okta', 'a', { share: 0.5, minimum: 1, windowMs: 9 }, NOW),
    /^SEARCH departure USING COVERING INDEX departure_at \(account=\? AND connection_id=\?\)$/,
  ],
  ['translatedOtherwise', ({ rules }) => rules.countTranslatedEarlier('okta', 2, 10)],
  ['a group', ({ groups }) => groups.findById('okta', 'g')],
  ['members', ({ groups }) => groups.allMembers('okta', ['g', 'h'])],
  ['membersOfSmall', ({ groups }) => groups.membersOfSmallGroups('okta', ['g', 'h'])],
  ['groupsOf', ({ groups }) => groups.groupsOf('okta', ['a', 'b'])],
  ['memberships', ({ memberships }) => memberships.findOf('okta', 'a')],
  ['unknown names of groups', ({ memberships }) => memberships.findUnknownNames('okta', ['a', 'b'])],
  ['names of groups', ({ memberships }) => memberships.findNames('okta', 'a', 100)],
  [
    'marking members',
    ({ memberships }) => memberships.markSome('okta', NOW),
    // They end after a batch. A connection has one changed scope.
    /(former_member_ended|former_member_unmarked|changed_group_1|changed_scope_1) \(account=\? AND connection_id=\?\)$/,
  ],
  [
    'marking people of a changed scope',
    async ({ groups, memberships }) => {
      const [isNamed, isInScope] = [() => true, () => true];
      await groups.insert(team('s'), [], { generation: 0, test: () => true, isNamed, isInScope, now: NOW });
      await memberships.markSome('okta', NOW);
    },
    /(rules_in_force_1|former_member_ended|former_member_unmarked|changed_group_1|changed_scope_1) \(account=\? AND connection_id=\?\)$/,
  ],
  [
    'changing members of a named group',
    ({ groups }) =>
      groups.change(
        team('g', { version: 2 }),
        1,
        { attributes: { displayName: 'g' }, members: [{ kind: 'remove', values: ['a', 'b'] }] },
        { generation: 0, test: () => true, isNamed: () => true, isInScope: () => true, now: NOW },
      ),
    rulesInForce,
  ],
  [
    'deleting a named group',
    ({ groups }) =>
      groups.change(team('g'), 1, 'delete', {
        generation: 0,
        test: () => true,
        isNamed: () => true,
        isInScope: () => true,
        now: NOW,
      }),
    rulesInForce,
  ],
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
 * A search by the connection alone reads all its rows, and one for any traveler all travelers. Only pages may do so, because they stop at their end (see
 * list-indexes.slow.test.ts).
 */
function isSlow(plan: string): boolean {
  const isConnection = /\((account=\?|account=\? AND connection_id=\?)\)$/.test(plan);
  // The values of an INSERT are no table.
  return (
    isConnection ||
    /^SCAN (?!page\b|CONSTANT ROW|\d+-ROW VALUES)/.test(plan) ||
    plan.endsWith('(account=? AND travel_id>?)')
  );
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

it('due deactivations are found by their own index', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
  const database = await openEmbedded(directory, true);
  try {
    await ensureConnection(database, { id: 'okta', account: 'acme' });
    const queries: RootOperationNode[] = [];
    const store = provisioningStore(withPlugin(database, recordQueries(queries)));
    await store.reconcileQueue.findDue(NOW, 10, ['okta']);
    // The queries before the last one are parts of it.
    const plans = await plansOf(database, queries.slice(-1));
    expect(plans.flatMap((plan) => /INDEX (\w+) \(/.exec(plan)?.[1] ?? [])).toEqual([
      'identity_leaver',
      'identity_unsettled',
      'identity_check',
    ]);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
});

it('people are counted for the overview by indexes of those who need something', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
  const database = await openEmbedded(directory, true);
  try {
    await ensureConnection(database, { id: 'okta', account: 'acme' });
    await provisioningStore(database).identities.commit('okta', [
      { kind: 'insert', identity: person('a', { state: 'pending' }) },
    ]);
    const queries: RootOperationNode[] = [];
    await peopleSummaries({
      ...withPlugin(database, recordQueries(queries)),
      scopes: database.scopes,
    }).read();
    const plans = await plansOf(database, queries);
    const indexes = plans.flatMap((plan) => /^SEARCH identity USING (.+) \(/.exec(plan)?.[1] ?? []);
    expect(indexes).toEqual([
      'COVERING INDEX identity_unsettled',
      'COVERING INDEX identity_finding_codes',
      'INDEX identity_finding_codes',
      'INDEX identity_decided',
    ]);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
});

it('a search for people who match two rare conditions ends after a limited number of people', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-indexes-'));
  const database = await openEmbedded(directory, true);
  try {
    await ensureConnection(database, { id: 'okta', account: 'acme' });
    const { identities, people } = provisioningStore(database);
    const finding = { field: 'email', code: 'noEmail', reason: '', remedy: '' };
    const ids = Array.from({ length: 501 }, (_, n) => `p${n}`);
    await identities.commit(
      'okta',
      ids.map((id) => ({ kind: 'insert', identity: person(id, { findings: [finding] }) })),
    );
    const page = await people.findPage('okta', { archived: true, finding: 'noEmail' }, undefined);
    expect(page).toMatchObject({ people: [], next: { id: expect.any(String) } });
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
