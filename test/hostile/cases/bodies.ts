import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { chunked, type Hostile, request } from '../request.ts';

const EXT = 'urn:example:acme:2.0:User';

/** Malformed and malicious bodies of POST, PUT, PATCH and searches. None of them may change stored data. Each list is of one kind. */
export const bodies: Hostile[][] = [nested(), wide(), odd(), encoded(), framed(), patches(), searches()];

function post(title: string, body: string | Buffer, scimType = 'invalidValue'): Hostile {
  return { title: `body: ${title}`, bytes: request('POST', '/Users', { body }), status: 400, scimType };
}

function deep(open: string, close: string, times: number, inside = ''): string {
  return open.repeat(times) + inside + close.repeat(times);
}

function nested(): Hostile[] {
  const refused = (title: string, body: string) => post(title, body, 'invalidSyntax');
  return [10_000, 200_000]
    .flatMap((times) => [
      refused(`arrays ${times} deep in an unknown attribute`, `{"junk":${deep('[', ']', times)}}`),
      refused(
        `arrays ${times} deep in an extension`,
        `{"userName":"x","${EXT}":{"a":${deep('[', ']', times)}}}`,
      ),
      refused(`arrays ${times} deep in emails`, `{"userName":"x","emails":${deep('[', ']', times)}}`),
      refused(`arrays ${times} deep as userName`, `{"userName":${deep('[', ']', times)}}`),
      refused(`arrays ${times} deep as schemas`, `{"userName":"x","schemas":${deep('[', ']', times)}}`),
      refused(`arrays ${times} deep as the whole`, deep('[', ']', times)),
      refused(`arrays ${times} deep, never closed`, '['.repeat(times)),
    ])
    .concat(
      [10_000, 80_000].flatMap((times) => [
        refused(
          `objects ${times} deep in an extension`,
          `{"userName":"x","${EXT}":${deep('{"a":', '}', times, '1')}}`,
        ),
        refused(`objects ${times} deep in name`, `{"name":${deep('{"a":', '}', times, '1')}}`),
        refused(
          `objects ${times} deep in manager`,
          `{"userName":"x","manager":${deep('{"value":', '}', times, '1')}}`,
        ),
      ]),
      refused('one level deeper than the limit', `{"userName":"x","junk":${deep('[', ']', 64)}}`),
      // Undeclared attributes that are nested too deeply are dropped, so the error is the missing userName.
      post('as deep as the limit', `{"junk":${deep('[', ']', 63)}}`),
    );
}

function wide(): Hostile[] {
  const many = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, n) => make(n)).join(',');
  const text = 'x'.repeat(1_000_000);
  return [
    post('a megabyte of userName', `{"userName":"${text}"}`),
    post('a megabyte in an extension', `{"userName":"x","${EXT}":{"a":"${text}"}}`),
    post('a megabyte of a name', `{"userName":"x","${EXT}":{"${text}":1}}`),
    post('a megabyte of an URN', `{"urn:${text}:2.0:User":{"a":1}}`),
    post('a megabyte of white space', `{${' '.repeat(1_000_000)}}`),
    post(
      'a megabyte in sixteen texts',
      `{"userName":"x","${EXT}":{${many(16, (n) => `"a${n}":"${'y'.repeat(60_000)}"`)}}}`,
    ),
    post('half a million emails', `{"userName":"x","emails":[${many(250_000, () => '"a"')}]}`),
    post('half a million numbers for one', `{"userName":[${many(500_000, () => '1')}]}`),
    post(
      'half a million numbers in an extension',
      `{"userName":"x","${EXT}":{"a":[${many(500_000, () => '1')}]}}`,
    ),
    post(
      'lists of lists',
      `{"userName":"x","${EXT}":{"a":[${many(240, () => `[${many(1_900, () => '1')}]`)}]}}`,
    ),
    post('a hundred thousand names', `{"userName":"x",${many(90_000, (n) => `"a${n}":1`)}}`),
    post(
      'a hundred thousand names in an extension',
      `{"userName":"x","${EXT}":{${many(90_000, (n) => `"a${n}":1`)}}}`,
    ),
    post('a hundred thousand names in name', `{"name":{${many(90_000, (n) => `"a${n}":1`)}}}`),
    post(
      'twenty thousand extensions',
      `{"userName":"x",${many(20_000, (n) => `"urn:x${n}:y:2.0:User:a":1`)}}`,
    ),
    post(
      'twenty thousand schemas',
      `{"schemas":[${many(20_000, (n) => `"urn:x${n}:y:2.0:User"`)}]}`,
      'invalidSyntax',
    ),
  ];
}

function odd(): Hostile[] {
  const userName = (json: string) => `{"userName":${json}}`;
  return [
    // If it reached a prototype, the user would have a userName.
    post('__proto__', '{"__proto__":{"userName":"x"}}'),
    post('constructor.prototype', '{"constructor":{"prototype":{"userName":"x"}}}'),
    post('toString for a name', '{"toString":"x","hasOwnProperty":1,"valueOf":null,"__defineGetter__":{}}'),
    post('a name twice, the last without a value', '{"userName":"x","userName":null}'),
    post('a name twice in other case, the last without a value', '{"userName":"x","USERNAME":" "}'),
    post('NUL', userName('"a\\u0000b"')),
    post('half a surrogate pair', userName('"\\ud800"')),
    post('the other half', userName('"\\udfff"')),
    post('a number beyond range', `{"userName":"x","${EXT}":{"a":1e999}}`),
    post('a number that rounds', `{"userName":"x","employeeNumber":123456789012345678901234567890}`),
    post('a boolean for a name', userName('true')),
    post('an object for a name', userName('{"value":"x"}')),
    post('a blank name', userName('" \\t\\n"')),
    post(
      'the schema of another thing',
      '{"userName":"x","schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"]}',
      'invalidSyntax',
    ),
    post('a byte order mark and nothing', '\ufeff'),
    post('a byte order mark', '\ufeff{"displayName":"x"}'),
    post(
      'bytes that are no UTF-8',
      Buffer.from([...Buffer.from('{"userName":"'), 0xff, 0xfe, 0xc0, 0xaf, ...Buffer.from('"}')]),
      'invalidSyntax',
    ),
    ...[
      '',
      ' ',
      '{',
      '{"userName":',
      '{"userName":"x"}}',
      "{'userName':'x'}",
      '{userName:"x"}',
      '{"userName":"x",}',
      '{"userName":"\n"}',
      '{"userName":NaN}',
      '{"userName":0x10}',
      '{"userName":"\\x41"}',
      '[]',
      'null',
      'true',
      '0',
      '"x"',
      '<xml/>',
      'userName=x',
      '{}{}',
      '\0',
      '/**/{}',
    ].map((body) => post(`the text ${JSON.stringify(body)}`, body, 'invalidSyntax')),
  ];
}

function encoded(): Hostile[] {
  const bomb = Buffer.from(`{"userName":"${'0'.repeat(50_000_000)}"}`);
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const typed = (
    title: string,
    headers: Record<string, string>,
    body: string | Buffer,
    status: number,
    scimType?: string,
  ): Hostile => ({
    title: `body: ${title}`,
    bytes: request('POST', '/Users', { headers, body }),
    status,
    ...(scimType ? { scimType } : {}),
  });
  return [
    typed('a gzip bomb', { 'Content-Encoding': 'gzip' }, gzipSync(bomb), 413),
    typed('a brotli bomb', { 'Content-Encoding': 'br' }, brotliCompressSync(bomb, fast), 413),
    typed('gzip that is none', { 'Content-Encoding': 'gzip' }, '{"userName":"x"}', 400, 'invalidSyntax'),
    typed(
      'gzip that ends early',
      { 'Content-Encoding': 'gzip' },
      gzipSync('{"userName":"x"}').subarray(0, 20),
      400,
      'invalidSyntax',
    ),
    typed('gzip twice', { 'Content-Encoding': 'gzip, gzip' }, gzipSync(gzipSync('{}')), 415),
    typed('an unknown encoding', { 'Content-Encoding': 'rot13' }, '{"userName":"x"}', 415),
    ...[
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/json-patch+json',
      'application/scim+json;charset=latin1',
      'application/scim+json; charset=utf-7',
      'json',
      '*/*',
      ';',
      'application/scim+jsonx',
      `application/${'x'.repeat(8000)}`,
    ].map((type) =>
      typed(`the type ${type.slice(0, 60)}`, { 'Content-Type': type }, '{"userName":"x"}', 415),
    ),
  ];
}

function framed(): Hostile[] {
  const length = (value: string, body: string | Buffer, status: number): Hostile => ({
    title: `body: Content-Length ${value}`,
    bytes: request('POST', '/Users', { headers: { 'Content-Length': value }, body }),
    status,
  });
  const pieces = (title: string, body: Buffer, status: number, scimType?: string): Hostile => ({
    title: `body: ${title}`,
    bytes: request('POST', '/Users', {
      headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' },
      body,
    }),
    status,
    ...(scimType ? { scimType } : {}),
  });
  return [
    length('1048577', 'x'.repeat(1_048_577), 413),
    length('5000000', 'x'.repeat(5_000_000), 413),
    length('-1', '{}', 400),
    length('0x10', '{}', 400),
    length('1e3', '{}', 400),
    length('99999999999999999999999999', '{}', 400),
    length('2, 2', '{}', 400),
    pieces('chunks beyond the limit', chunked(`{"userName":"${'x'.repeat(2_000_000)}"}`), 413),
    pieces(
      'a hundred thousand chunks of one byte',
      chunked(`{"a":"${'x'.repeat(100_000)}"}`, 1),
      400,
      'invalidValue',
    ),
    pieces('no chunks', chunked(''), 400, 'invalidValue'),
    pieces('a chunk of broken length', Buffer.from('zz\r\n{}\r\n0\r\n\r\n'), 400),
    pieces('a chunk of negative length', Buffer.from('-2\r\n{}\r\n0\r\n\r\n'), 400),
    {
      title: 'body: a length and chunks at once',
      bytes: request('POST', '/Users', {
        headers: { 'Content-Length': '2', 'Transfer-Encoding': 'chunked' },
        body: chunked('{}'),
      }),
      status: 400,
    },
    {
      title: 'body: an unknown transfer encoding',
      bytes: request('POST', '/Users', {
        headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'gzip' },
        body: '{}',
      }),
      status: [400, 501],
    },
  ];
}

function patches(): Hostile[] {
  const patch = (title: string, Operations: string, scimType: string): Hostile => ({
    title: `patch: ${title}`,
    bytes: request('PATCH', '/Users/nobody', {
      body: `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":${Operations}}`,
    }),
    status: 400,
    scimType,
  });
  return [
    patch('Operations nested 100,000 deep', deep('[', ']', 100_000), 'invalidSyntax'),
    patch('a million numbers for Operations', `[${Array(250_000).fill('1').join(',')}]`, 'invalidSyntax'),
    patch('Operations that are an object', '{"op":"add"}', 'invalidSyntax'),
    patch('an op of a megabyte', `[{"op":"${'x'.repeat(1_000_000)}"}]`, 'invalidSyntax'),
    patch('an op that is an object', '[{"op":{"toString":"add"},"path":"title","value":1}]', 'invalidSyntax'),
    patch('a path that is an array', '[{"op":"add","path":["title"],"value":1}]', 'invalidPath'),
  ];
}

function searches(): Hostile[] {
  const search = (title: string, body: string, scimType: string): Hostile[] =>
    ['/.search', '/Users/.search', '/Groups/.search'].map((path) => ({
      title: `search at ${path}: ${title}`,
      bytes: request('POST', path, { body }),
      status: 400,
      scimType,
    }));
  const of = (members: string) =>
    `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],${members}}`;
  return [
    ...search('without schemas', '{"filter":"userName pr"}', 'invalidSyntax'),
    ...search('a filter that is an object', of('"filter":{"toString":"x"}'), 'invalidValue'),
    ...search(
      'a filter nested 100,000 deep',
      of(`"filter":"${deep('(', ')', 100_000, 'id pr')}"`),
      'invalidFilter',
    ),
    ...search(
      'a filter of a megabyte that is not closed',
      of(`"filter":"id eq \\"${'a'.repeat(1_000_000)}"`),
      'invalidFilter',
    ),
    ...search(
      'a filter of sixty thousand terms',
      of(`"filter":"${Array(60_000).fill('id pr').join(' or ')}"`),
      'invalidFilter',
    ),
    ...search(
      'a filter of five hundred and one terms',
      of(`"filter":"${Array(501).fill('id pr').join(' or ')}"`),
      'invalidFilter',
    ),
    ...search(
      'a hundred thousand attributes',
      of(`"attributes":[${Array.from({ length: 90_000 }, (_, n) => `"a${n}"`).join(',')}]`),
      'invalidValue',
    ),
    ...search('a filter that is an array', of('"filter":["id pr"]'), 'invalidValue'),
    ...search('a count that is an object', of('"count":{}'), 'invalidValue'),
    ...search('attributes of numbers', of('"attributes":[1,2]'), 'invalidValue'),
    ...search(
      'attributes nested 100,000 deep',
      of(`"attributes":${deep('[', ']', 100_000)}`),
      'invalidSyntax',
    ),
    ...search('a count beyond range', of('"count":1e999'), 'invalidValue'),
  ];
}
