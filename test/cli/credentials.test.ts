import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { runCommandLine } from '../fixtures/command-line.ts';
import { createDatabaseIn } from '../fixtures/data-folder.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  createDatabaseIn(join(folder.path, 'data'));
});
afterEach(() => folder.remove());

const run = (args: string[], more: Record<string, string> = {}) =>
  runCommandLine(args, { JETBRIDGE_DATA: join(folder.path, 'data'), ...more });
const idIn = (listed: string) => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(listed)?.[0] ?? '';
const lookedInto = (text: string) =>
  readdirSync(join(folder.path, 'data')).filter((file) =>
    readFileSync(join(folder.path, 'data', file)).includes(text),
  );

describe('npx jetbridge api-keys', () => {
  /** Creates a data folder in which the travel service has its first admin. */
  const withAdmin = () => startService({ JETBRIDGE_DATA: join(folder.path, 'data') }, { background: false });
  const create = (user: string, more?: Record<string, string>) =>
    run(['api-keys', 'create', '--user', user, '--name', 'reports'], more);

  it('creates a key that is shown once, stored as a hash, and accepted until it is revoked', async () => {
    const service = await withAdmin();
    const made = await create('ADMIN@jetbridge.local');
    const key = made.out.trim();
    expect(made).toEqual({
      code: 0,
      out: expect.stringMatching(/^travel_[\w-]{43}\n$/),
      err: 'Keep it: it is shown only now.\n',
    });
    const status = async () =>
      (await fetch(`${service.url}/api/whoami`, { headers: { Authorization: `Bearer ${key}` } })).status;
    expect(await status()).toBe(200);
    const listed = await run(['api-keys', 'list']);
    const row = listed.out.split('\n').find((line) => line.includes('reports')) ?? '';
    expect(row).toContain('admin@jetbridge.local');
    expect(listed.out).not.toContain(key);
    expect(lookedInto(key)).toEqual([]);
    const id = idIn(row);
    expect(await run(['api-keys', 'revoke', id])).toMatchObject({ code: 0, out: 'revoked\n' });
    expect(await status()).toBe(401);
    expect(await run(['api-keys', 'revoke', id])).toMatchObject({
      code: 1,
      err: 'There is no such API key, or it was revoked before.\n',
    });
    const after = await run(['api-keys', 'list', '--csv']);
    expect(after.out).toMatch(/reports,admin@jetbridge\.local,reads and writes,\S+,\S+,\d{4}-\S+Z\r\n/);
    await service.close();
  });

  it('refuses users that cannot have a key', async () => {
    const service = await withAdmin();
    const headers = { Authorization: `Bearer ${service.travelApiKey}`, 'Content-Type': 'application/json' };
    const people = [
      { email: 'guest@corp.example', roles: ['guest'] },
      { email: 'gone@corp.example', roles: ['admin'], archived: true },
    ];
    for (const data of people)
      await fetch(`${service.url}/api/users`, { method: 'POST', headers, body: JSON.stringify({ data }) });
    await service.close();
    for (const [user, text] of [
      ['nobody@corp.example', 'No user of the travel service has the address nobody@corp.example.'],
      ['guest@corp.example', 'The user guest@corp.example has not the role admin.'],
      ['gone@corp.example', 'The user gone@corp.example is archived.'],
    ] as const)
      expect(await create(user)).toEqual({ code: 1, out: '', err: `${text}\n` });
  });

  it('refuses to create keys for a real travel API', async () => {
    const real = { TRAVEL_API_URL: 'https://travel.example.com', TRAVEL_API_KEY: 'x' };
    expect(await create('a@b.example', real)).toMatchObject({
      code: 1,
      err: 'No connection uses the embedded travel service.\n',
    });
  });
});

describe('npx jetbridge oauth-clients', () => {
  const create = (args: string[], more?: Record<string, string>) =>
    run(['oauth-clients', 'create', '--name', 'Entra', ...args], more);
  const forScim = ['--connection', 'default'];
  const listed = async () => (await run(['oauth-clients', 'list'])).out;

  it('creates a client whose secret is shown once and stored as a hash', async () => {
    const { code, out, err } = await create(forScim, { PUBLIC_URL: 'https://bridge.example.com/' });
    expect(code).toBe(0);
    const [id, secret = ''] = out.split('\n');
    expect(id).toMatch(/^client_id=[0-9a-f-]{36}$/);
    expect(secret).toMatch(/^client_secret=client_[\w-]{43}$/);
    expect(err).toBe(
      'Keep the secret: it is shown only now. Tokens are asked for at https://bridge.example.com/oauth/token.\n',
    );
    expect(lookedInto(secret.split('=')[1] ?? '')).toEqual([]);
    const list = await listed();
    expect(list).toMatch(/Entra +│ default +│ - +│ secret +│ \d{4}-.* │ - +│ - +│/);
    expect(`client_id=${idIn(list)}`).toBe(id);
    expect(await run(['oauth-clients', 'revoke', idIn(list)])).toMatchObject({ code: 0 });
    expect(await run(['oauth-clients', 'revoke', idIn(list)])).toMatchObject({
      code: 1,
      err: 'There is no such client, or it was revoked before.\n',
    });
  });

  it('reports connections, admins and clients that do not exist', async () => {
    expect(await create(['--connection', 'mars'])).toMatchObject({
      code: 1,
      err: 'The input is not valid.\n  connection: is not in the settings, which have default\n',
    });
    expect(await create(['--travel-admin', 'no@corp.example'])).toMatchObject({
      code: 1,
      err: 'No user of the travel service has the address no@corp.example.\n',
    });
    for (const both of [[], [...forScim, '--travel-admin', 'no@corp.example']])
      expect(await create(both)).toMatchObject({
        code: 1,
        err: 'The input is not valid.\n  connection: is needed, or a travelAdmin instead of it\n',
      });
    expect(idIn(await listed())).toBe('');
  });

  it('accepts a file of public keys instead of a secret', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const file = join(folder.path, 'keys.json');
    writeFileSync(file, JSON.stringify({ keys: [await exportJWK(publicKey)] }));
    expect(
      await create([...forScim, '--jwks-file', file], { PUBLIC_URL: 'https://bridge.example.com' }),
    ).toEqual({
      code: 0,
      out: expect.stringMatching(/^client_id=\S+\n$/),
      err: 'Its assertions must have the client_id as iss and sub, and https://bridge.example.com/oauth/token as aud.\n',
    });
    const local = await create([...forScim, '--jwks-uri', 'https://idp.example/keys']);
    expect(local.err).toContain('<PUBLIC_URL>/oauth/token as aud.');
    expect((await listed()).match(/│ keys +│/g)).toHaveLength(2);
  });

  it('refuses keys at a private address, unless the settings allow it', async () => {
    const keys = [...forScim, '--jwks-uri', 'https://10.0.0.1/keys'];
    expect(await create(keys)).toEqual({
      code: 1,
      out: '',
      err: 'The input is not valid.\n  jwksUri: leads to a private address, which the setting oauthClients.allowPrivate does not allow\n',
    });
    const settings = writeSettingsFile({ oauthClients: { allowPrivate: true } });
    expect(await create(keys, { JETBRIDGE_CONFIG: settings.path })).toMatchObject({ code: 0 });
    settings.remove();
  });

  it.each<[string, unknown, string]>([
    ['that is not there', undefined, 'keys.json: does not exist'],
    ['that is no JSON', '{', 'keys.json: is not JSON'],
    ['that is something else', {}, 'jwks: is no JSON Web Key Set, an object with "keys"'],
    ['without keys', { keys: [] }, 'jwks: is no JSON Web Key Set, an object with "keys"'],
    ['of what is no key', { keys: ['x'] }, 'jwks: has an entry in "keys" that is no key: each has a "kty"'],
    ['of a private key', { keys: [{ kty: 'EC', d: 'x' }] }, 'jwks: has a private key; give the public ones'],
    ['of a shared key', { keys: [{ kty: 'oct', k: 'x' }] }, 'jwks: has a private key; give the public ones'],
  ])('tells what is wrong with a file %s', async (_title, content, text) => {
    const file = join(folder.path, 'keys.json');
    if (content !== undefined)
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    const { code, out, err } = await create([...forScim, '--jwks-file', file]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(text);
  });
});
