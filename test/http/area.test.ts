import { areaOf, struckPath } from '../../src/http/area.ts';

test('areas are a closed list', () => {
  expect(['/scim/v2/Users', '/api', '/healthz', '/nothing', '/', ''].map(areaOf)).toEqual([
    'scim',
    'api',
    'healthz',
    'other',
    'other',
    'other',
  ]);
});

test('a path shows ids and names of endpoints, nothing that may be personal', () => {
  expect(struckPath('/scim/v2/Users/1f2e-4a')).toBe('/scim/v2/Users/1f2e-4a');
  expect(struckPath('/scim/v2/Users/ada%40corp.example')).toBe('/scim/v2/Users/*');
  expect(struckPath(`/api/${'a'.repeat(65)}`)).toBe('/api/*');
});
