import { basic, type OAuthFixture, oauthFixture, type TokenAnswer } from '../fixtures/oauth.ts';

let fixture: OAuthFixture;
let client: { id: string; secret: string };
beforeEach(async () => {
  fixture = await oauthFixture();
  client = await fixture.register();
});
afterEach(() => fixture.close());

const grant = { grant_type: 'client_credentials' };
const inBody = (more: Record<string, string> = {}) => ({
  ...grant,
  client_id: client.id,
  client_secret: client.secret,
  ...more,
});

/** RFC 6749 §5.1 */
function expectToken(answer: TokenAnswer): string {
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      access_token: expect.stringMatching(/^access_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'scim',
    },
  ]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('pragma')).toBe('no-cache');
  return String(answer.body['access_token']);
}

/** RFC 6749 §5.2 */
function expectError(answer: TokenAnswer, status: number, error: string): void {
  expect([answer.status, answer.body]).toEqual([status, { error, error_description: expect.any(String) }]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="oauth"' : null);
}

describe('a client with a secret', () => {
  it('sends the secret in the body', async () => {
    const token = expectToken(await fixture.ask(inBody()));
    expect(await fixture.opened(token)).toEqual({ kind: 'scim', connection: 'default' });
  });

  it('sends the secret in the header (RFC 6749 §2.3.1)', async () => {
    const sent = { Authorization: basic(client.id, client.secret) };
    expectToken(await fixture.ask(grant, sent));
    expectToken(await fixture.ask({ ...grant, client_id: client.id }, sent));
    expectToken(await fixture.ask(grant, { Authorization: sent.Authorization.replace('Basic', 'basic') }));
  });

  it('gets its own scope, whichever scope or other parameter it sends', async () => {
    expectToken(await fixture.ask(inBody({ scope: 'everything', resource: 'x', client_assertion: '' })));
  });

  it('gets a new token each time, valid for an hour', async () => {
    const first = expectToken(await fixture.ask(inBody()));
    fixture.pass(1_000);
    const second = expectToken(await fixture.ask(inBody()));
    expect(second).not.toBe(first);
    fixture.pass(3_598_999);
    expect([await fixture.opened(first), await fixture.opened(second)]).not.toContain(undefined);
    fixture.pass(1);
    expect(await fixture.opened(first)).toBeUndefined();
    expect(await fixture.opened(second)).toBeDefined();
  });

  it('loses access at once when it is revoked, with its tokens', async () => {
    const token = expectToken(await fixture.ask(inBody()));
    await fixture.revoke(client.id);
    expect(await fixture.opened(token)).toBeUndefined();
    expectError(await fixture.ask(inBody()), 401, 'invalid_client');
  });

  it('gets no token when its connection no longer exists', async () => {
    fixture.closeConnection();
    expectError(await fixture.ask(inBody()), 400, 'unauthorized_client');
  });
});

describe('an unauthenticated client gets 401 invalid_client', () => {
  it('with the same response for every reason', async () => {
    const other = await fixture.register();
    const answers = await Promise.all([
      fixture.ask(inBody({ client_secret: 'wrong' })),
      fixture.ask(inBody({ client_secret: other.secret })),
      fixture.ask(inBody({ client_id: 'nobody' })),
      fixture.ask({ ...grant, client_id: client.id }),
      fixture.ask({ ...grant, client_secret: client.secret }),
      fixture.ask(grant),
      fixture.ask(grant, { Authorization: basic(client.id, 'wrong') }),
      fixture.ask(grant, { Authorization: basic(client.id, '') }),
      fixture.ask(grant, { Authorization: 'Basic' }),
      fixture.ask(grant, { Authorization: 'Basic ####' }),
      fixture.ask(grant, { Authorization: `Basic ${Buffer.from('%E0%A4%A:x').toString('base64')}` }),
      fixture.ask(grant, { Authorization: `Basic ${Buffer.from(client.id).toString('base64')}` }),
      fixture.ask(grant, { Authorization: `Bearer ${client.secret}` }),
    ]);
    for (const answer of answers) expectError(answer, 401, 'invalid_client');
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});

describe('a malformed request is 400', () => {
  it('with two authentication methods (RFC 6749 §2.3)', async () => {
    const Authorization = basic(client.id, client.secret);
    expectError(await fixture.ask(inBody(), { Authorization }), 400, 'invalid_request');
    expectError(
      await fixture.ask({ ...grant, client_id: 'other' }, { Authorization }),
      400,
      'invalid_request',
    );
    expectError(await fixture.ask(inBody({ client_assertion: 'a.b.c' })), 400, 'invalid_request');
  });

  it('without a grant type, or with an empty one (§3.2)', async () => {
    expectError(await fixture.ask({ ...inBody(), grant_type: '' }), 400, 'invalid_request');
    expectError(await fixture.ask(''), 400, 'invalid_request');
  });

  it.each(['password', 'authorization_code', 'refresh_token', 'Client_Credentials'])(
    'the grant type %s',
    async (grant_type) =>
      expectError(await fixture.ask(inBody({ grant_type })), 400, 'unsupported_grant_type'),
  );

  it('with a parameter given twice (§3.2)', async () => {
    const twice = `${new URLSearchParams(inBody())}&grant_type=client_credentials`;
    expectError(await fixture.ask(twice), 400, 'invalid_request');
  });

  it.each(['application/json', 'multipart/form-data; boundary=x', 'text/plain'])(
    'a body of %s',
    async (type) => {
      expectError(
        await fixture.ask(JSON.stringify(inBody()), { 'Content-Type': type }),
        400,
        'invalid_request',
      );
    },
  );

  it('with an unknown encoding', async () => {
    expectError(await fixture.ask(inBody(), { 'Content-Encoding': 'rot13' }), 400, 'invalid_request');
  });

  it('a body above 16 KB is 413', async () => {
    expectError(await fixture.ask(inBody({ scope: 'x'.repeat(20_000) })), 413, 'invalid_request');
  });

  it.each(['GET', 'PUT', 'DELETE'])('%s is 405', async (method) => {
    const answer = await fixture.ask('', {}, method);
    expectError(answer, 405, 'invalid_request');
    expect(answer.headers.get('allow')).toBe('POST');
  });
});

describe('guessing secrets', () => {
  it('is limited to a hundred failures a minute, and successes do not count', async () => {
    const wrong = inBody({ client_secret: 'wrong' });
    for (let asked = 0; asked < 60; asked += 1) expectToken(await fixture.ask(inBody()));
    for (let asked = 0; asked < 100; asked += 1) expect((await fixture.ask(wrong)).status).toBe(401);
    const refused = await fixture.ask(wrong);
    expectError(refused, 429, 'invalid_request');
    expect(refused.headers.get('retry-after')).toBe('60');
  });

  it('for one client does not lock out another client of the same address', async () => {
    const other = inBody({ client_id: 'somebody', client_secret: 'wrong' });
    for (let asked = 0; asked <= 100; asked += 1) await fixture.ask(other);
    expectError(await fixture.ask(other), 429, 'invalid_request');
    expectToken(await fixture.ask(inBody()));
  });
});
