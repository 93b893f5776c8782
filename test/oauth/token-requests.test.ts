import fc from 'fast-check';
import { OAuthError, parseFormParameters, readClientAuthentication } from '../../src/oauth/token-endpoint.ts';
import { basic, oauthFixture } from '../fixtures/oauth.ts';
import { runs } from '../fixtures/runs.ts';
import { anyCharacter, visibleCharacter } from '../fixtures/unicode.ts';

const names = [
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
];
const word = fc.oneof(
  fc.constantFrom(
    '',
    'client_credentials',
    'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    'a.b.c',
    '\0',
  ),
  fc.string({ unit: anyCharacter }),
);
const form = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.array(fc.tuple(fc.constantFrom(...names), word)).map((pairs) => new URLSearchParams(pairs).toString()),
);
const authorization = fc.option(
  fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.base64String().map((text) => `Basic ${text}`),
    fc.tuple(word, word).map(([id, secret]) => basic(id, secret)),
  ),
  { nil: undefined },
);

test('any token request is parsed, or refused with an error of RFC 6749 §5.2', () => {
  fc.assert(
    fc.property(form, authorization, (text, header) => {
      try {
        const presented = readClientAuthentication(header, parseFormParameters(text));
        expect(['secret', 'assertion']).toContain(presented.kind);
      } catch (error) {
        expect(error).toBeInstanceOf(OAuthError);
      }
    }),
    runs(2_000),
  );
});

test('a client id and a secret of any characters survive the Authorization header', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: visibleCharacter }),
      fc.string({ unit: visibleCharacter }),
      (id, secret) => {
        const presented = readClientAuthentication(basic(id, secret), new Map());
        expect(presented).toEqual({ kind: 'secret', clientId: id, secret });
      },
    ),
  );
});

test('the endpoint answers random requests with a JSON error that is not 5xx, and issues no token', async () => {
  const fixture = await oauthFixture();
  await fixture.register();
  try {
    await fc.assert(
      fc.asyncProperty(form, async (text) => {
        const { status, headers, body } = await fixture.ask(text);
        expect([400, 401, 413]).toContain(status);
        expect(headers.get('cache-control')).toBe('no-store');
        expect(Object.keys(body)).toEqual(['error', 'error_description']);
      }),
      runs(90),
    );
  } finally {
    await fixture.close();
  }
});
