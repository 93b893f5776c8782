import fc from 'fast-check';
import type { RecordedExchange } from '../../src/replay/exchanges.ts';
import { recordScenarios } from '../../src/replay/recorder.ts';
import { travelSchema } from '../../src/schema/generated-travel-schema.ts';
import { urns } from '../../src/schema/resource.ts';
import { groupSchema, userSchema } from '../../src/schema/scim-schemas.ts';
import { runs } from '../fixtures/runs.ts';

/** A word that no vocabulary and no list of names has. */
const mark = fc
  .string({ unit: fc.constantFrom(...'bdgkvwxz'), minLength: 4, maxLength: 8 })
  .map((letters) => `Zq${letters}`);

/** Every attribute and sub-attribute that a schema has, and some that none has. */
const attributes = [userSchema, groupSchema, travelSchema].flatMap((schema) => schema.attributes);
const names = [
  ...attributes.flatMap(({ name, subAttributes = [] }) => [name, ...subAttributes.map((sub) => sub.name)]),
  ...[
    'id',
    'externalId',
    'schemas',
    'meta',
    'password',
    'op',
    'path',
    'filter',
    'sortBy',
    'sortOrder',
    'attributes',
  ],
  ...['status', 'scimType', 'version', 'countryCode', 'language', 'Operations', '__proto__'],
];

/** Texts that have a mark, in the forms in which identity providers send values. */
const textWith = (word: string) =>
  fc.constantFrom(
    word,
    word.toUpperCase(),
    `${word} ${word.toLowerCase()}-x`,
    `${word}@${word}.com`,
    `tel:+33-6-12345678;ext=${word}`,
    `https://${word}.example:8443/${word}?${word}=${word}#${word}`,
    `urn:${word}:2.0:User`,
    `urn:ietf:params:scim:schemas:core:2.0:${word}`,
    `{"id":"${word}","${word}":"x"}`,
    `2026-11-20T08:00:00Z ${word}`,
    `true ${word}`,
    `work${word}`,
    `"${word}`,
    `${word} eq "${word}" and emails[type eq "${word}"].${word} co ${word}`,
  );

const nameWith = (word: string) =>
  fc.oneof(
    fc.constantFrom(...names),
    fc.constantFrom(
      word,
      `name.${word}`,
      `${urns.enterprise}:${word}`,
      `urn:${word}:1.0:User`,
      `emails[type eq "${word}"]`,
    ),
  );

const valueWith = (word: string) =>
  fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      textWith(word),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(nameWith(word), tie('value'), { maxKeys: 4 }),
    ),
  })).value;

const operationsWith = (word: string) =>
  fc.record({
    Operations: fc.array(
      fc.record({
        op: fc.oneof(fc.constant('Add'), textWith(word)),
        path: fc.oneof(nameWith(word), textWith(word)),
        value: valueWith(word),
      }),
      { maxLength: 3 },
    ),
  });

const parameters = [
  'filter',
  'startIndex',
  'count',
  'sortBy',
  'sortOrder',
  'attributes',
  'excludedAttributes',
  'cursor',
];
const pathWith = (word: string) =>
  fc
    .tuple(
      fc.array(fc.oneof(fc.constantFrom('Users', 'Groups', '.search', 'Schemas'), textWith(word)), {
        maxLength: 3,
      }),
      fc.array(fc.tuple(fc.oneof(fc.constantFrom(...parameters), textWith(word)), textWith(word)), {
        maxLength: 4,
      }),
    )
    .map(([segments, query]) => {
      const encoded = segments.map(encodeURIComponent).join('/');
      return `/${encoded}?${query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`;
    });

const headerNames = [
  'content-type',
  'accept',
  'accept-charset',
  'user-agent',
  'if-match',
  'if-none-match',
  'authorization',
];
const headersWith = (word: string) =>
  fc.dictionary(fc.constantFrom(...headerNames, word.toLowerCase(), 'cookie'), textWith(word), {
    maxKeys: 5,
  });

const exchangeWith = (word: string): fc.Arbitrary<RecordedExchange> =>
  fc.record({
    at: fc.integer({ min: 0, max: 1_000_000 }),
    connection: fc.constant('default'),
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    path: pathWith(word),
    requestHeaders: headersWith(word),
    requestBody: fc.oneof(valueWith(word), operationsWith(word)).map((body) => JSON.stringify(body)),
    status: fc.constantFrom(200, 201, 400, 401, 404, 409, 412),
    responseHeaders: fc.constant({ 'content-type': 'application/scim+json' }),
    responseBody: fc
      .oneof(
        valueWith(word),
        fc.record({ schemas: fc.constant([urns.user]), id: textWith(word), userName: textWith(word) }),
      )
      .map((body) => JSON.stringify(body)),
  });

test('no marked value survives, wherever a request or its answer has it', async () => {
  const recording = mark.chain((word) =>
    fc.tuple(fc.constant(word), fc.array(exchangeWith(word), { minLength: 1, maxLength: 4 })),
  );
  await fc.assert(
    fc.asyncProperty(recording, async ([word, exchanges]) => {
      const { scenarios } = await recordScenarios(exchanges);
      const text = JSON.stringify(scenarios).replace(/%[0-9a-f]{2}/gi, (code) => decodeURIComponent(code));
      expect(text.toLowerCase()).not.toContain(word.toLowerCase());
    }),
    runs(300),
  );
});

test('what decides the behaviour of a service stays', async () => {
  const body = {
    schemas: [urns.user, urns.enterprise],
    userName: 'olive.kent@corp.com',
    active: 'False',
    locale: 'en_US',
    timezone: 'Europe/Paris',
    userType: 'Employee',
    emails: [{ value: 'OLIVE.KENT@corp.com', type: 'work', primary: true }],
    addresses: [{ country: 'France', type: 'work' }],
    favoriteColor: 'blue',
  };
  const { scenarios } = await recordScenarios([
    {
      at: 0,
      connection: 'default',
      method: 'POST',
      path: '/Users?attributes=userName,favoriteColor',
      requestHeaders: {
        'content-type': 'application/scim+json; charset=utf-8',
        'user-agent': 'Okta SCIM Client 1.0.0',
      },
      requestBody: JSON.stringify(body),
      status: 400,
      responseHeaders: {},
    },
  ]);
  const { path, headers, body: sent } = scenarios[0]?.steps[0]?.request ?? {};
  const { userName, emails, ...others } = Object(sent);
  expect(userName).toMatch(/^[a-z]+\.[a-z]+@[a-z]+\.example$/);
  expect(emails).toEqual([
    {
      value: userName.toUpperCase().replace(/@.*/, (host: string) => host.toLowerCase()),
      type: 'work',
      primary: true,
    },
  ]);
  expect(others).toMatchObject({
    schemas: body.schemas,
    active: 'False',
    locale: 'en_US',
    timezone: 'Europe/Paris',
    userType: 'Employee',
    addresses: body.addresses,
  });
  expect(others).not.toHaveProperty('favoriteColor');
  expect(path).toMatch(/^\/Users\?attributes=userName,[a-z]+$/i);
  expect(headers).toMatchObject({
    'Content-Type': 'application/scim+json; charset=utf-8',
    'User-Agent': 'Okta SCIM Client 1.0.0',
  });
});
