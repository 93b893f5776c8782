import { ageText, answerText, firstPersonOf } from '../../../src/admin/ui/views/connect/attempts.ts';
import {
  isReachableUrl,
  type Method,
  type ProviderKey,
  providers,
} from '../../../src/admin/ui/views/connect/providers.ts';

test.each([
  [{ status: 200 }, '200'],
  [{ status: 401, error: 'unknown credential' }, '401, the token belongs to no connection'],
  [{ status: 401, error: 'expired credential' }, '401, the token has expired'],
  [{ status: 409, error: 'uniqueness' }, '409, uniqueness'],
  [{}, 'no answer'],
])('the answer %j is told as %s', (attempt, text) => {
  expect(answerText(attempt)).toBe(text);
});

test.each([
  [3_999, '3 s'],
  [60_000, '1 min'],
  [-5_000, '0 s'],
])('an age of %d ms is told as %s', (ms, text) => {
  expect(ageText(new Date(1_000_000).toISOString(), 1_000_000 + ms)).toBe(text);
});

test('the first person is the one of the earliest write that succeeded', () => {
  const attempt = (method: string, status: number, person?: string) => ({
    ...{ id: `${method} ${person}`, at: '2026-11-22T16:00:00.000Z', ms: 1, path: '/scim/v2/Users' },
    ...{ method, status, ...(person !== undefined && { person }) },
  });
  const newestFirst = [
    attempt('PATCH', 200, 'second'),
    attempt('POST', 201, 'first'),
    attempt('POST', 409, 'refused'),
    attempt('GET', 200, 'asked'),
  ];
  expect(firstPersonOf(newestFirst)).toBe('first');
  expect(firstPersonOf(newestFirst.slice(2))).toBeUndefined();
});

test.each([
  ['https://scim.corp.example/scim/v2', true],
  ['http://scim.corp.example/scim/v2', false],
  ['https://localhost/scim/v2', false],
  ['https://127.0.0.1:8443/scim/v2', false],
])('%s can be used by a provider in the cloud: %s', (url, isReachable) => {
  expect(isReachableUrl(url)).toBe(isReachable);
});

const urls = {
  connection: 'default',
  ...{ scimUrl: 'https://corp.example/scim/v2', tokenEndpoint: 'https://corp.example/oauth/token' },
};

test.each<[ProviderKey, Method, string[]]>([
  ['okta', 'token', [urls.scimUrl, 'userName', 'token']],
  ['entra', 'token', [`${urls.scimUrl}?aadOptscim062020`, 'token']],
  ['entra', 'client', [`${urls.scimUrl}?aadOptscim062020`, urls.tokenEndpoint, 'clientId', 'clientSecret']],
  ['entra', 'federation', [`${urls.scimUrl}?aadOptscim062020`, urls.tokenEndpoint, 'default']],
  ['other', 'federation', [urls.scimUrl, urls.tokenEndpoint, 'default']],
  ['other', 'token', [urls.scimUrl, 'token']],
  ['other', 'client', [urls.scimUrl, urls.tokenEndpoint, 'clientId', 'clientSecret']],
])('%s with a %s: the values to paste', (provider, method, values) => {
  const fields = providers[provider].screens(urls, method).flatMap((screen) => screen.fields);
  const pasted = fields
    .filter(({ isPasted }) => isPasted === undefined)
    .map(({ value }) => (typeof value === 'string' ? value : value.secret));
  expect(pasted).toEqual(values);
});
