import { toWords } from '../../../src/admin/ui/components/texts.ts';
import { detailsOf, linksOf } from '../../../src/admin/ui/views/audit/texts.ts';

test('the name of an operation becomes words', () => {
  expect(toWords('revokeAdminToken')).toBe('revoke admin token');
});

test('details are texts, and the people of a decision are links with their names', () => {
  const entry = {
    action: 'decideHolds',
    details: { connection: 'okta', cause: 'safetyValve', decided: 2, people: ['01', '02'], limit: null },
    people: [{ id: '01', name: 'Ada King' }, { id: '02' }],
  };
  expect(detailsOf(entry)).toEqual([
    { name: 'connection', text: 'okta' },
    { name: 'cause', text: 'safetyValve' },
    { name: 'decided', text: '2' },
    { name: 'limit', text: 'none' },
  ]);
  expect(linksOf(entry)).toEqual([
    { href: '/people/okta/01', label: 'Ada King' },
    { href: '/people/okta/02', label: '02' },
  ]);
});

test('a decision about many people leads to their list', () => {
  const details = { connection: 'okta', cause: 'safetyValve', answer: 'approved' };
  const entry = (more: object) => ({ action: 'decideHolds', details: { ...details, ...more }, people: [] });
  const decided = entry({ decided: 300, decision: 1_700_000_000_000 });
  expect(linksOf(decided)).toEqual([{ href: '/decisions/made/okta/1700000000000', label: 'the 300 people' }]);
  expect(linksOf(entry({ decided: 1, decision: 7 }))).toMatchObject([{ label: 'the person' }]);
  expect(detailsOf(decided).map(({ name }) => name)).not.toContain('decision');
});

test('one person who is gone is linked by the userName', () => {
  const details = { connection: 'okta', id: '0/1', userName: 'ada@corp.example' };
  const entry = { action: 'reconcilePerson', details, people: [{ id: '0/1' }] };
  expect(linksOf(entry)).toEqual([{ href: '/people/okta/0%2F1', label: 'ada@corp.example' }]);
});

test.each([
  ['applyMapping', { version: 3, before: 1 }],
  ['restoreMappingVersion', { restored: 1, version: 3, before: 2 }],
])('%s with %j leads to the change of that version', (action, details) => {
  const entry = { action, details: { connection: 'okta', ...details }, people: [] };
  expect(linksOf(entry)).toEqual([
    { href: '/mappings?connection=okta&version=3', label: 'the change of version 3' },
  ]);
});

test('a mapping that was refused leads to the mapping, a token to its connection, an account to nothing', () => {
  const mapping = { action: 'applyMapping', details: { connection: 'okta' }, people: [] };
  expect(linksOf(mapping)).toEqual([{ href: '/mappings?connection=okta', label: 'mapping of okta' }]);
  const account = { action: 'createAccount', details: { id: '7', name: 'Ada' }, people: [] };
  expect([linksOf(account), detailsOf(account)]).toEqual([[], [{ name: 'name', text: 'Ada' }]]);
  const token = { action: 'createToken', details: { id: '7', name: 'okta', connection: 'okta' }, people: [] };
  expect(linksOf(token)).toEqual([{ href: '/connect/connections/okta', label: 'connection okta' }]);
  expect(linksOf({ ...token, action: 'removeConnection' })).toEqual([]);
});
