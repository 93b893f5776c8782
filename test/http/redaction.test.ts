import fc from 'fast-check';
import { redactBody, redactQuery, redactSecrets } from '../../src/http/redaction.ts';

/** A secret that occurs nowhere else. */
const MAX_BYTES = 16_384;
const SECRET = 'hush-hush';

const words = ['secret', 'password', 'token', 'key', 'authorization'];
/** A name with one of the secret words in any case. */
const secretName = fc
  .tuple(fc.stringMatching(/^\w{0,5}$/), fc.constantFrom(...words), fc.stringMatching(/^\w{0,5}$/), fc.nat())
  .map(([before, word, after, mask]) =>
    [...`${before}${word}${after}`]
      .map((letter, at) => ((mask >> at) & 1 ? letter.toUpperCase() : letter))
      .join(''),
  );
const held = fc.oneof(
  fc.constant(SECRET),
  fc.constant([SECRET]),
  fc.constant({ any: { depth: SECRET } }),
  fc.constant(`x${SECRET}`),
);

/** Random JSON with named secrets at any depth, also in the form of error bodies. */
const { body } = fc.letrec<{ body: unknown; withSecret: unknown }>((tie) => ({
  withSecret: fc.oneof(
    fc.tuple(secretName, held).map(([name, value]) => ({ [name]: value })),
    fc
      .tuple(secretName, held)
      .map(([field, value]) => ({ field: `config.${field}`, value: JSON.stringify(value) })),
    fc.tuple(secretName, held).map(([name, value]) => ({ note: JSON.stringify({ [name]: value }) })),
  ),
  body: fc.oneof(
    { maxDepth: 4 },
    tie('withSecret'),
    fc.array(tie('body'), { minLength: 1, maxLength: 3 }),
    fc
      .tuple(fc.string(), fc.jsonValue(), fc.string(), tie('body'))
      .map(([a, b, c, d]) => ({ [a]: b, [c]: d })),
  ),
}));

/** The same JSON with some letters of its names as escape sequences. */
const escaped = (text: string, at: number) =>
  text.replace(/[a-z]/gi, (letter, place) =>
    place % 7 === at ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
  );

test('no secret survives in any shape of JSON', () => {
  fc.assert(
    fc.property(body, fc.nat(6), (value, at) => {
      const text = JSON.stringify(value);
      expect(redactSecrets(text)).not.toContain(SECRET);
      // Serializing removes escape sequences, so the secret would become visible.
      if (!text.includes('\\')) expect(redactSecrets(escaped(text, at))).not.toContain(SECRET);
    }),
  );
});

test('no secret survives in truncated JSON, or in JSON with trailing text', () => {
  fc.assert(
    fc.property(body, fc.nat(), fc.string({ minLength: 1 }), (value, at, more) => {
      const text = JSON.stringify(value);
      const beginning = text.slice(0, at % text.length);
      expect(redactSecrets(beginning)).not.toContain(SECRET);
      expect(redactSecrets(`${text}${more}`)).not.toContain(SECRET);
    }),
  );
});

/** URLs of receivers with a secret after the path, and malformed ones. */
const secretUrl = fc
  .tuple(
    fc.constantFrom(
      'https://hooks.example.com/a',
      'HTTP://h.example:8080',
      'https:/x',
      ' http://h',
      'see https://h/b',
    ),
    fc.constantFrom('?sig=', '?', '#', '?a=b&c=', '/?x#'),
  )
  .map(([path, query]) => `${path}${query}${SECRET}`);
const urlHolder = fc.oneof(
  secretUrl.map((url) => ({ data: { url, events: [] } })),
  secretUrl.map((url) => ({ data: [{ previousAttributes: { url } }] })),
  secretUrl.map((url) => ({ note: `{"url":"${url}"}` })),
  secretUrl.map((value) => ({ invalid: [{ field: 'url', value, code: 'url' }] })),
  fc.constantFrom(`//h?${SECRET}`, `h.example/x?${SECRET}`, `?${SECRET}`).map((url) => ({ data: { url } })),
  fc.constant({ invalid: [{ field: 'url', value: `h.example?${SECRET}`, code: 'url' }] }),
);

test('no query of a URL survives in any place of JSON', () => {
  fc.assert(
    fc.property(urlHolder, fc.nat(6), (value, at) => {
      const text = JSON.stringify(value);
      expect(redactSecrets(text)).not.toContain(SECRET);
      if (!text.includes('\\')) expect(redactSecrets(escaped(text, at))).not.toContain(SECRET);
      expect(redactSecrets(text.replaceAll('/', '\\/').replaceAll('?', '\\u003f'))).not.toContain(SECRET);
      expect(redactSecrets(text.slice(0, -1))).not.toContain(SECRET);
    }),
  );
});

test('no user name and password of a URL survive, also in a URL that was refused', () => {
  for (const url of [`https://${SECRET}:p@h.example/a`, `HTTP://me:${SECRET}@h`, `//${SECRET}@h.example/@b`])
    for (const value of [
      { data: { url } },
      { note: `see ${url}` },
      { invalid: [{ field: 'url', value: url }] },
    ]) {
      const text = JSON.stringify(value);
      expect(redactSecrets(text)).not.toContain(SECRET);
      expect(redactSecrets(text.replaceAll('/', '\\/'))).not.toContain(SECRET);
    }
  expect(redactSecrets('{"url":"https://me:pass@h.example/a@b"}')).toBe('{"url":"https://*@h.example/*"}');
  const harmless = '{"email":"ada@corp.example","location":"https://h.example/Users/ada@corp.example"}';
  expect(redactSecrets(harmless)).toBe(harmless);
});

test('of the URL of a webhook the host is kept, of another one the part before its query, and other texts completely', () => {
  const url = 'https://hooks.example.com/a/b?sig=1&x=2#y';
  expect(redactSecrets('{"url":"https://hooks.example.com/services/T0/B0/x"}')).toBe(
    '{"url":"https://hooks.example.com/*"}',
  );
  expect(redactSecrets('{"link":"https://h/a/b?c"}')).toBe('{"link":"https://h/a/b?*"}');
  expect(redactSecrets(JSON.stringify({ url, name: 'Why? #1', list: ['https://h/a', 7] }))).toBe(
    '{"url":"https://hooks.example.com/*","name":"Why? #1","list":["https://h/a",7]}',
  );
});

test('a parameter that holds a URL with a query has no value in the log', () => {
  const url = encodeURIComponent(`https://h.example/?sig=${SECRET}`);
  expect(redactQuery(`/api/webhooks?url=${url}&limit=1`)).toBe('/api/webhooks?url=*&limit=1');
  expect(redactQuery('/api/webhooks?url=https://h.example/a')).toBe('/api/webhooks?url=https://h.example/a');
});

test('each character of a secret name can be percent-encoded, and a filter stays as it was sent', () => {
  for (const word of words)
    for (const letter of word) {
      const name = word.replace(letter, `%${letter.charCodeAt(0).toString(16)}`);
      expect(redactQuery(`/scim/v2/Users?a=%22&${name}=${SECRET}`)).toBe(`/scim/v2/Users?a=%22&${name}=*`);
      expect(redactQuery(`/scim/v2/Users?a=${name}%3D${SECRET}`)).toBe('/scim/v2/Users?a=*');
    }
  const filter = '/scim/v2/Users?filter=userName%20eq%20%22ada%40corp.example%22&count=1';
  expect(redactQuery(filter)).toBe(filter);
});

test('texts without a secret stay unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!/secret|password|token|key|authorization|url|http|\\u/i.test(text));
      expect(redactSecrets(text)).toBe(text);
    }),
  );
});

test('everything except the secret is kept', () => {
  const text =
    '{"secret":"s","name":"n","list":[{"apiKey":1,"id":2}],"token":null,"__proto__":{"password":"p","x":1}}';
  expect(redactSecrets(text)).toBe(
    '{"secret":"*","name":"n","list":[{"apiKey":"*","id":2}],"token":null,"__proto__":{"password":"*","x":1}}',
  );
});

test('the value of a SCIM PATCH operation is redacted if its path names a secret', () => {
  const operation = { op: 'replace', path: 'password', value: SECRET };
  expect(redactSecrets(JSON.stringify({ Operations: [operation, { ...operation, path: 'title' }] }))).toBe(
    JSON.stringify({
      Operations: [
        { ...operation, value: '*' },
        { ...operation, path: 'title' },
      ],
    }),
  );
});

test('JSON that is too deep to be serialized is left out if it may contain a secret', () => {
  const deep = `${'['.repeat(200_000)}{"secret":"${SECRET}"}${']'.repeat(200_000)}`;
  expect(redactSecrets(deep)).not.toContain(SECRET);
});

test('a megabyte of text that resembles a secret takes no longer than any other', () => {
  const text = JSON.stringify({ note: 'key'.repeat(330_000) });
  const began = performance.now();
  expect(redactSecrets(text)).toBe(text);
  // Usually takes milliseconds; a search that is not linear takes minutes.
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('no secret parameter survives in a query, and the rest stays', () => {
  fc.assert(
    fc.property(secretName, fc.boolean(), (name, isEncoded) => {
      const hex = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`;
      const sent = isEncoded ? [...name].map(hex).join('') : name;
      expect(redactQuery(`/api/users?a=1&${sent}=${SECRET}&b=%`)).toBe(`/api/users?a=1&${sent}=*&b=%`);
    }),
  );
  expect(redactQuery('/api/tokens/1?sortBy=key')).toBe('/api/tokens/1?sortBy=key');
});

test('a text is kept up to 16,384 bytes of whole characters, and marked if it is truncated', () => {
  const unit = fc.constantFrom('a', 'é', '€', '🛫', '"');
  fc.assert(
    fc.property(
      fc.array(unit, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 100, max: 20_000 }),
      (some, times) => {
        const text = some.join('').repeat(Math.ceil(times / some.length));
        const { text: kept, cut } = redactBody(text, MAX_BYTES);
        const bytes = Buffer.byteLength(kept);
        expect(text.startsWith(kept)).toBe(true);
        expect(cut).toBe(Buffer.byteLength(text) > 16_384);
        if (cut) expect([bytes <= 16_384, bytes > 16_380]).toEqual([true, true]);
        else expect(kept).toBe(text);
      },
    ),
  );
});

test('a secret is redacted before the text is truncated', () => {
  const { text } = redactBody(
    JSON.stringify({ secret: `${'x'.repeat(16_380)}${SECRET}`, after: 1 }),
    MAX_BYTES,
  );
  expect(text).toBe('{"secret":"*","after":1}');
});

test('NUL characters, which no database stores, are replaced', () => {
  expect(redactBody('a\0b', MAX_BYTES).text).toBe('a\uFFFDb');
});
