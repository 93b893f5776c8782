import { toRequest } from '../../../src/admin/ui/requests/api.ts';

const read = { method: 'GET', path: '/holds/{connection}/{cause}', hasBody: false };
const change = { method: 'PATCH', path: '/travel/webhooks/{id}', hasBody: true };

test('members of the path are encoded, and the others are the query', () => {
  const input = { connection: 'a/b?', cause: 'rules', limit: 200, after: '1 2', state: undefined };
  expect(toRequest(read, input)).toEqual({
    url: '/admin/api/holds/a%2Fb%3F/rules?limit=200&after=1+2',
    method: 'GET',
    headers: {},
    body: null,
  });
});

test('an operation without other members has no query', () => {
  expect(toRequest(read, { connection: 'okta', cause: 'rules' }).url).toBe('/admin/api/holds/okta/rules');
});

test('an operation with a body sends the members that are not in its path as JSON, null included', () => {
  const input = { id: '1', description: null, disabled: false, url: undefined };
  expect(toRequest(change, input)).toEqual({
    url: '/admin/api/travel/webhooks/1',
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: '{"description":null,"disabled":false}',
  });
});

test('a body without members is sent too, because the service expects JSON', () => {
  expect(toRequest(change, { id: '1' }).body).toBe('{}');
});
