import { redactLoggedPath, redactParameterNames, routeGroupOf } from '../../src/http/app.ts';
import { catalog } from '../../src/travel/catalog.ts';
import { buildOpenApi } from '../../src/travel/openapi/document.ts';

test('areas are a closed list', () => {
  expect(['/scim/v2/Users', '/api', '/healthz', '/nothing', '/', ''].map(routeGroupOf)).toEqual([
    'scim',
    'api',
    'healthz',
    'other',
    'other',
    'other',
  ]);
});

test('a path shows the names of endpoints, and ids only if the request found something', () => {
  expect(redactLoggedPath('/scim/v2/Users/1f2e-4a', true)).toBe('/scim/v2/Users/1f2e-4a');
  expect(redactLoggedPath('/scim/v2/Users/1f2e-4a', false)).toBe('/scim/v2/Users/*');
  expect(redactLoggedPath('/scim/v2/Users/ada%40corp.example', true)).toBe('/scim/v2/Users/*');
  expect(redactLoggedPath(`/api/${'a'.repeat(65)}`, true)).toBe('/api/*');
  expect(redactLoggedPath('/SCIM/v2//users/', false)).toBe('/SCIM/v2//users/');
  expect(redactLoggedPath('/scim/v2/%55sers/x.php', false)).toBe('/scim/v2/*/*');
});

test('a list of parameters shows known names, each once', () => {
  expect(redactParameterNames(['filter', 'ada@corp.example', 'x', 'count', 'constructor', 'filter'])).toEqual(
    ['filter', '*', 'count'],
  );
});

const { paths } = buildOpenApi(catalog, undefined) as unknown as {
  paths: Record<string, Record<string, { parameters?: { name?: string; in?: string }[] }>>;
};

test.each([
  ...Object.keys(paths),
  ...['/scim/v2/.search', '/scim/v2/Groups', '/scim/v2/Schemas', '/scim/v2/ResourceTypes', '/oauth/token'],
  ...['/scim/v2/ServiceProviderConfig', '/scim/v2/Me', '/scim/v2/Bulk', '/healthz', '/readyz', '/metrics'],
])('no name in %s is struck out', (path) => {
  expect(redactLoggedPath(path, false)).toBe(path.replace(/\{\w+\}/g, '*'));
});

test('no parameter that a service reads is struck out', () => {
  const described = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ parameters = [] }) => parameters),
  );
  const read = described.flatMap(({ name, in: place }) => (place === 'query' && name ? [name] : []));
  const searched = ['attributes', 'excludedAttributes', 'sortOrder', 'startIndex', 'count', 'cursor'];
  const names = [...new Set([...read, ...searched, 'filter', 'require'])];
  expect(names).toContain('pageKind');
  expect(redactParameterNames(names)).toEqual(names);
});
