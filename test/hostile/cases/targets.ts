import { type Hostile, rawRequest, request, TOKEN } from '../request.ts';

const LONG = 'a'.repeat(8000);

/** Malformed and malicious paths, query strings and methods. */
export const targets: Hostile[][] = [paths(), queries(), methods()];

function get(path: string, status: number | number[], scimType?: string): Hostile {
  return {
    title: `GET ${path.slice(0, 80)}`,
    bytes: request('GET', path),
    status,
    ...(scimType ? { scimType } : {}),
  };
}

function paths(): Hostile[] {
  const ids = [
    '%00',
    'a%00b',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e',
    '%252e%252e%252f',
    '%E2%82%AC',
    '%f0%9f%98%80',
    '%ef%bf%bf',
    "'%20or%201=1--",
    '%22%20or%20id%20pr',
    '%3Cscript%3E',
    '__proto__',
    'constructor',
    '%0d%0aX-Evil:1',
    'a;b=c',
    '~',
    '*',
    '%20',
    `${LONG}`,
    '..;',
    '%5c',
    'nul',
    '-1',
    '1e9',
  ];
  return [
    ...ids.flatMap((id) => [get(`/Users/${id}`, 404), get(`/Groups/${id}`, 404)]),
    ...['DELETE', 'PUT', 'PATCH'].map(
      (method): Hostile => ({
        title: `${method} /Users/%00`,
        bytes: request(method, '/Users/%00', {
          body: '{"userName":"x","schemas":[],"Operations":[{"op":"remove","path":"title"}]}',
        }),
        status: method === 'PATCH' ? [400, 404] : 404,
      }),
    ),
    get('/Users/%', 400, 'invalidSyntax'),
    get('/Users/%zz', 400, 'invalidSyntax'),
    get('/Users/%ff', 400, 'invalidSyntax'),
    get('/Users/%c0%af', 400, 'invalidSyntax'),
    get('/Users/%ed%a0%80', 400, 'invalidSyntax'),
    get('/Users/a/b', 404),
    get('/Users/a%2Fb', 404),
    get('//Users', 200),
    get('/Users//', 200),
    get('/./Users', 404),
    get('/../v2/Users', 404),
    get('/Users/../Users', 404),
    get('/Usersx', 404),
    get('/%55sers%00', 404),
    get('/Schemas/%00', 404),
    get('/Schemas/__proto__', 404),
    get(`/Schemas/${LONG}`, 404),
    get('/ResourceTypes/constructor', 404),
    get('/Bulk', 501),
    get('/Me', 501),
    get('/Me/../../Users', 501),
    { title: 'a target of 20 KB', bytes: request('GET', `/Users/${'a'.repeat(20_000)}`), status: 431 },
    { title: 'an absolute target', bytes: absolute(), status: [200, 404] },
  ];
}

function absolute(): Buffer {
  return rawRequest('GET', 'http://evil.example/scim/v2/Users?count=0', {
    headers: { Authorization: `Bearer ${TOKEN}` },
  });
}

function queries(): Hostile[] {
  const many = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, n) => make(n)).join('&');
  return [
    get('/Users?filter=', 400, 'invalidFilter'),
    get('/Users?filter=id+pr&filter=id+pr', 400, 'invalidFilter'),
    get('/Users?filter=%zz', 400, 'invalidFilter'),
    // Ignoring the filter would return all users.
    get(`/Users?${many(1500, (n) => `a${n}`)}&filter=broken`, 400, 'invalidFilter'),
    get('/Users?filter=%00', 400, 'invalidFilter'),
    get('/Users?filter=userName+eq+%22%5Cu0000%22', 400, 'invalidFilter'),
    get(`/Users?filter=id+eq+%22${LONG}%22&count=0`, 200),
    get('/Users?attributes=id&excludedAttributes=userName', 400, 'invalidValue'),
    get('/Users?count=0&attributes=__proto__,constructor,toString,%00,%22,urn:,.,..,a.b.c,*', 200),
    get(`/Users?count=0&attributes=${LONG}`, 200),
    get(`/Users?count=0&attributes=${Array.from({ length: 4000 }, () => 'a').join(',')}`, 200),
    get(
      `/Users?count=0&excludedAttributes=${Array.from({ length: 900 }, (_, n) => `urn:x:y:2.0:U${n}:a`).join(',')}`.slice(
        0,
        15_000,
      ),
      200,
    ),
    get('/Users?count=0&attributes[]=id&attributes[a][b]=c', 200),
    get('/Users?count=0&__proto__=1&constructor.prototype=2', 200),
    get(`/Users?count=0&${many(2500, (n) => `a${n}`)}`, 200),
    get(`/Users?count=0&${'&'.repeat(14_000)}`, 200),
    get(`/Users?count=0&${'%41'.repeat(4500)}`, 200),
    get('/Users?count=0&sortBy=__proto__&sortOrder=%00', 200),
    get('/Users?count=0&sortBy=emails%5Btype+eq', 200),
    ...[
      'abc',
      '-1',
      '1e309',
      'NaN',
      '%00',
      '99999999999999999999',
      '0x10',
      '1.5',
      '',
      '-9007199254740993',
      'Infinity',
      '[object Object]',
    ].flatMap((number) => [
      get(`/Users?count=${number}`, [200, 400]),
      get(`/Users?count=0&startIndex=${number}`, [200, 400]),
    ]),
    ...cursors(),
    get('/ServiceProviderConfig?filter=id+pr', 403),
  ];
}

/** Cursors that are malformed or belong to another list. */
function cursors(): Hostile[] {
  const odd = [
    'x',
    '%00',
    'e30',
    'bnVsbA',
    'eyJwb3NpdGlvbiI6MX0',
    '__proto__',
    '../..',
    '%F0%9F%98%80',
    '%22',
    LONG,
  ];
  return ['/Users', '/Groups', '']
    .flatMap((path) => odd.map((cursor) => get(`${path}/?cursor=${cursor}`, 400, 'invalidCursor')))
    .concat([
      get('/Users?cursor=&startIndex=2', 400),
      get('/Users?cursor=&count=-1', [200, 400]),
      get('/Users?cursor=&cursor=', [200, 400]),
    ]);
}

function methods(): Hostile[] {
  const refused = ['OPTIONS', 'TRACE', 'PROPFIND', 'LINK', 'MOVE', 'SEARCH', 'PURGE', 'QUERY'].map(
    (method): Hostile => ({
      title: `the method ${method}`,
      bytes: request(method, '/Users'),
      // A method that Node's parser does not know is 400.
      status: [400, 405],
    }),
  );
  const unreadable = ['get', 'FOO', 'GETS', 'G\0T', '', 'GET GET', 'POST\t'].map(
    (method): Hostile => ({
      title: `the method ${JSON.stringify(method)}`,
      bytes: request(method, '/Users'),
      status: 400,
    }),
  );
  return [
    ...refused,
    ...unreadable,
    { title: 'a request of HTTP/2', bytes: Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), status: 400 },
    { title: 'a request of TLS', bytes: Buffer.from('16030100f8010000f40303', 'hex'), status: 400 },
    { title: 'no request at all', bytes: Buffer.from('\0'.repeat(100)), status: 400 },
    { title: 'a request without a version', bytes: Buffer.from('GET /scim/v2/Users\r\n\r\n'), status: 401 },
    { title: 'a request of HTTP/9.9', bytes: Buffer.from('GET / HTTP/9.9\r\nHost: x\r\n\r\n'), status: 400 },
  ];
}
