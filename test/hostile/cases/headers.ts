import { type Hostile, request, TOKEN } from '../request.ts';

/** Malformed and malicious headers. */
export const headers: Hostile[][] = [tokens(), conditions(), ids(), sizes()];

function get(
  title: string,
  more: Record<string, string | undefined>,
  status: number | number[],
  path = '/Users?count=0',
): Hostile {
  return { title: `header: ${title}`, bytes: request('GET', path, { headers: more }), status };
}

function tokens(): Hostile[] {
  const odd = [
    '',
    ' ',
    'Bearer',
    'Bearer ',
    `Bearer  ${TOKEN} x`,
    `Bearer ${TOKEN}=x`,
    `bearer:${TOKEN}`,
    `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN}${TOKEN}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer "${TOKEN}"`,
    `Bearer ${'x'.repeat(8000)}`,
    `Bearer ${' '.repeat(8000)}x`,
    `Bearer ${'='.repeat(8000)}`,
    'Digest username="x"',
    '\u00ff\u00fe',
    '__proto__',
    'null',
    `${'Bearer '.repeat(1000)}`,
  ];
  return odd
    .map((Authorization) =>
      get(`Authorization ${JSON.stringify(Authorization).slice(0, 70)}`, { Authorization }, 401),
    )
    .concat([
      get('no Authorization', { Authorization: undefined }, 401),
      get(
        'a token in the query',
        { Authorization: undefined },
        401,
        `/Users?access_token=${TOKEN}&token=${TOKEN}`,
      ),
      get(
        'a token in another header',
        { Authorization: undefined, 'Proxy-Authorization': `Bearer ${TOKEN}`, Cookie: `token=${TOKEN}` },
        401,
      ),
      {
        title: 'header: a megabyte for nobody',
        bytes: request('POST', '/Users', {
          headers: { Authorization: 'Bearer nobody' },
          body: 'x'.repeat(1_000_000),
        }),
        status: 401,
      },
      {
        title: 'header: three megabytes for nobody',
        bytes: request('POST', '/Users', {
          headers: { Authorization: 'Bearer nobody' },
          body: 'x'.repeat(3_000_000),
        }),
        status: 401,
      },
    ]);
}

function conditions(): Hostile[] {
  const odd = [
    '*',
    '**',
    'W/',
    '"',
    '""',
    'W/"1"',
    'W/"1',
    "'1'",
    '1',
    ',',
    '"a","b",',
    `${'"a",'.repeat(3000)}`,
    `"${'a'.repeat(8000)}"`,
    'W/'.repeat(4000),
    '"\u00e9"',
  ];
  return odd.flatMap((tag) =>
    ['If-Match', 'If-None-Match', 'If-Modified-Since'].map((name) =>
      get(`${name} ${tag.slice(0, 60)}`, { [name]: tag }, [200, 404, 412], '/Users/nobody'),
    ),
  );
}

function ids(): Hostile[] {
  return ['', 'a b', '\u00e9', '<script>', `${'x'.repeat(8000)}`, '{"level":60}', '\t', '"', '\\n'].map(
    (id) => get(`X-Request-Id ${id.slice(0, 40)}`, { 'X-Request-Id': id }, 200),
  );
}

function sizes(): Hostile[] {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, 'y']));
  return [
    get('1,000 of them', many(1000), 200),
    get('3,000 of them', many(3000), 431),
    get('one of 20 KB', { 'X-Long': 'x'.repeat(20_000) }, 431),
    get('a name of 20 KB', { ['X'.repeat(20_000)]: 'x' }, 431),
    get('a space in a name', { 'X Y': 'z' }, 400),
    get('a line that is folded', { 'X-Fold': 'a\r\n b' }, [200, 400]),
    get('a line feed alone', { 'X-Line': 'a\nb' }, 400),
    get('a NUL', { 'X-Nul': 'a\0b' }, 400),
    get('no Host', { Host: undefined }, 400),
    get('an Expect other than 100-continue', { Expect: '200-maybe' }, 417),
    get('an odd Host', { Host: '../../<x>:99999@evil' }, 200),
    get('a Host of 8 KB', { Host: 'x'.repeat(8000) }, 200),
    get(
      'forwarded from somewhere',
      { 'X-Forwarded-Host': 'evil', 'X-Forwarded-Proto': 'javascript', Forwarded: 'for=evil' },
      200,
    ),
    get('another method', { 'X-HTTP-Method-Override': 'DELETE' }, 200),
    // Node does not answer such a malformed request, and closes the connection after the idle timeout.
    {
      ...get(
        'an upgrade',
        { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Key': 'x' },
        [200, 400],
      ),
      isLast: true,
    },
    get('Accept of nothing we have', { Accept: 'text/html;q=0.9' }, 200),
    get('Accept-Encoding', { 'Accept-Encoding': `${'gzip,'.repeat(1000)}` }, 200),
    get('a range', { Range: 'bytes=0-1,0-1,0-1' }, 200),
  ];
}
