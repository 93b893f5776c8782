import type { PeopleFilter } from '../../src/model/people.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { auditLog } from '../../src/store/credentials/audit-log.ts';
import { findDuplicates } from '../../src/store/identities/duplicates.ts';
import { people } from '../../src/store/identities/people.ts';
import { shadowPlans } from '../../src/store/identities/shadow-plans.ts';
import { groupPages } from '../../src/store/lists/group-pages.ts';
import { countByState } from '../../src/store/queues/reconcile-queue.ts';
import { plansOf } from '../fixtures/query-plans.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-admin-plans-');

test('the choices of the audit log are read along an index each, without sorting them', async () => {
  const plans = await plansOf(await databases.open(), (database) => auditLog(database).listChoices());
  expect(plans).toEqual([
    expect.stringMatching(/^SCAN audit_entry USING (COVERING )?INDEX audit_entry_actor$/),
    expect.stringMatching(/^SCAN audit_entry USING COVERING INDEX audit_entry_action$/),
  ]);
});

/** Which traveler is the service's own is read first. */
const ownTraveler = /^SEARCH background_task USING INDEX /;

test.each<PeopleFilter>([
  { state: 'pending' },
  { state: 'refused', userNamePrefix: 'a' },
  { state: 'held', archived: true },
  { state: 'held', finding: 'drift' },
])('a page of people in a state is read along an index, without sorting them: %j', async (filter) => {
  const database = await databases.open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const plans = await plansOf(database, (spied) =>
    people(spied).findPage('okta', filter, { key: 'ada', id: '1' }),
  );
  expect(plans).toEqual([
    expect.stringMatching(ownTraveler),
    expect.stringMatching(
      /^SEARCH identity USING INDEX identity_in_state_(pending|refused|held) \(account=\? AND connection_id=\? AND \(?user_name_key/,
    ),
  ]);
});

test.each([
  ['name', /^SEARCH identity_email USING PRIMARY KEY \(account=\? AND connection_id=\? AND .*email_key/],
  [
    'changed',
    /^SEARCH identity USING INDEX identity_last_modified \(account=\? AND connection_id=\? AND .*last_modified/,
  ],
  [
    'unchanged',
    /^SEARCH identity USING INDEX identity_last_modified \(account=\? AND connection_id=\? AND .*last_modified/,
  ],
] as const)('people are sorted by %s along an index, from a place on', async (sort, walk) => {
  const database = await databases.open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const place = { key: sort === 'name' ? 'Ωada' : '17', id: '1' };
  const plans = await plansOf(database, (spied) => people(spied).findPage('okta', { sort }, place));
  expect(plans).toContainEqual(expect.stringMatching(walk));
  expect(plans.filter((plan) => plan.startsWith('SCAN') && !plan.startsWith('SCAN page'))).toEqual([]);
});

test('possible duplicates are found along the index of keys, each by a search in it', async () => {
  const database = await databases.open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const plans = await plansOf(database, (spied) => findDuplicates(spied, 'okta', 'a'));
  const search =
    /^SEARCH (one|other) USING PRIMARY KEY \(account=\? AND connection_id=\? AND email_key|^SEARCH identity( EXISTS)? USING .* AND id=\?\)/;
  expect(
    plans.filter((plan) => !search.test(plan) && !plan.startsWith('CORRELATED SCALAR SUBQUERY')),
  ).toEqual([]);
});

test('a part of a name is compared with narrow keys alone', async () => {
  const database = await databases.open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const plans = await plansOf(database, (spied) => people(spied).findByText('okta', 'ada', 10));
  expect(plans).toEqual([
    expect.stringMatching(ownTraveler),
    expect.stringMatching(/^SEARCH identity_email USING PRIMARY KEY /),
    expect.stringMatching(/^SEARCH identity_email USING PRIMARY KEY /),
    expect.stringMatching(/^SEARCH identity USING (COVERING )?INDEX identity_travel_id /),
    expect.stringMatching(/^SEARCH identity USING (COVERING )?INDEX identity_travel_id /),
    expect.stringMatching(/^SEARCH identity USING INDEX identity_with_findings /),
  ]);
});

test('people are counted by state in the order of an index, without sorting them', async () => {
  const plans = await plansOf(await databases.open(), ({ db }) => countByState(db));
  // A tree that sorts would be the last line.
  expect(plans.at(-1)).toBe('SCAN identity USING COVERING INDEX identity_unsettled');
});

test('a page of the plans in shadow mode is read along the index of userNames, without sorting it', async () => {
  const database = await databases.open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const plans = await plansOf(database, (spied) =>
    shadowPlans(spied).findPage('okta', { key: 'ada', id: '1' }),
  );
  expect(plans).toEqual([
    expect.stringMatching(
      /^SEARCH identity USING INDEX \w+ \(account=\? AND connection_id=\? AND .*user_name_key/,
    ),
  ]);
});

test('groups, their members and the numbers of these are read along indexes, without sorting them', async () => {
  const database = await databases.open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const page = { search: 'a', limit: 50 };
  expect(
    await plansOf(database, (spied) =>
      groupPages(spied).listGroups('okta', { ...page, after: 'sales' }, () => true),
    ),
  ).toEqual([
    'SEARCH scim_group USING INDEX sqlite_autoindex_scim_group_2 (account=? AND connection_id=? AND display_name_key>?)',
  ]);
  expect(
    await plansOf(database, (spied) => groupPages(spied).listMembers('okta', 'g', { ...page, after: 7 })),
  ).toEqual([
    'SEARCH member USING INDEX group_member_position (account=? AND connection_id=? AND group_id=? AND position>?)',
    'SEARCH person USING INDEX sqlite_autoindex_identity_1 (account=? AND connection_id=? AND id=?) LEFT-JOIN',
  ]);
});
