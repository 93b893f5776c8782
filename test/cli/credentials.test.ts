import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { createApiKey, listApiKeys, revokeApiKey } from '../../src/cli/credentials.ts';
import { createClient, listClients, revokeClient } from '../../src/cli/oauth-clients.ts';
import { createDatabaseIn } from '../fixtures/data-folder.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { type RecordedShell, recordedShell } from '../fixtures/shell.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  createDatabaseIn(join(folder.path, 'data'));
});
afterEach(() => folder.remove());

const shell = (more: Record<string, string> = {}) =>
  recordedShell({ JETBRIDGE_DATA: join(folder.path, 'data'), ...more });
const idIn = (listed: RecordedShell) => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(listed.out.join('\n'))?.[0] ?? '';
const lookedInto = (text: string) =>
  readdirSync(join(folder.path, 'data')).filter((file) =>
    readFileSync(join(folder.path, 'data', file)).includes(text),
  );
const scim = { name: 'Entra', opens: { connection: 'default' }, keys: undefined } as const;

describe('npx jetbridge api-keys', () => {
  /** Creates a data folder in which the travel service has its first admin. */
  const withAdmin = () => startService({ JETBRIDGE_DATA: join(folder.path, 'data') }, { background: false });

  it('creates a key that is shown once, stored as a hash, and accepted until it is revoked', async () => {
    const service = await withAdmin();
    const made = await shell();
    expect(await createApiKey(made, { user: 'ADMIN@jetbridge.local', name: 'reports' })).toBe(0);
    const [key = ''] = made.out;
    expect(made.out).toEqual([expect.stringMatching(/^travel_[\w-]{43}$/)]);
    expect(made.err).toEqual(['Keep it: it is shown only now.']);
    const status = async () =>
      (await fetch(`${service.url}/api/whoami`, { headers: { Authorization: `Bearer ${key}` } })).status;
    expect(await status()).toBe(200);
    const listed = await shell();
    expect(await listApiKeys(listed)).toBe(0);
    const rows = listed.out.join('\n').split('\n');
    const row = rows.find((line) => line.includes('reports')) ?? '';
    expect(row).toContain('admin@jetbridge.local');
    expect(listed.out.join('\n')).not.toContain(key);
    expect(lookedInto(key)).toEqual([]);
    const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(row)?.[0] ?? '';
    expect(await revokeApiKey(await shell(), id)).toBe(0);
    expect(await status()).toBe(401);
    const again = await shell();
    expect(await revokeApiKey(again, id)).toBe(1);
    expect(again.err).toEqual([
      'There is no such key, or it was revoked before. "npx jetbridge api-keys list" shows them.',
    ]);
    const after = await shell();
    await listApiKeys(after);
    expect(after.out.join('\n')).toMatch(/reports.*revoked \d{4}-/);
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
    ] as const) {
      const recorded = await shell();
      const code = await createApiKey(recorded, { user, name: 'x' });
      expect([code, recorded.out]).toEqual([1, []]);
      expect(recorded.err).toEqual([`${text} A key belongs to an active user with the role admin.`]);
    }
  });

  it('refuses to create keys for a real travel API', async () => {
    const recorded = await shell({ TRAVEL_API_URL: 'https://travel.example.com', TRAVEL_API_KEY: 'x' });
    expect(await createApiKey(recorded, { user: 'a@b.example', name: 'x' })).toBe(1);
    expect(recorded.err).toEqual([
      'No connection uses the embedded travel service; the real one makes its keys itself.',
    ]);
  });
});

describe('npx jetbridge oauth-clients', () => {
  it('creates a client whose secret is shown once and stored as a hash', async () => {
    const made = await shell({ PUBLIC_URL: 'https://bridge.example.com/' });
    expect(await createClient(made, scim)).toBe(0);
    expect(made.out).toEqual([
      expect.stringMatching(/^client_id=[0-9a-f-]{36}$/),
      expect.stringMatching(/^client_secret=client_[\w-]{43}$/),
    ]);
    expect(made.err).toEqual([
      'Keep the secret: it is shown only now. Tokens are asked for at https://bridge.example.com/oauth/token.',
    ]);
    expect(lookedInto(made.out[1]?.split('=')[1] ?? '')).toEqual([]);
    const listed = await shell();
    expect(await listClients(listed)).toBe(0);
    expect(listed.out.join('\n')).toMatch(/Entra +│ SCIM of default +│ secret +│ \d{4}-.* │ never/);
    expect(`client_id=${idIn(listed)}`).toBe(made.out[0]);
    expect(await revokeClient(await shell(), idIn(listed))).toBe(0);
    const again = await shell();
    expect(await revokeClient(again, idIn(listed))).toBe(1);
    expect(again.err).toEqual([
      'There is no such client, or it was revoked before. "npx jetbridge oauth-clients list" shows them.',
    ]);
  });

  it('reports connections, admins and clients that do not exist', async () => {
    const nowhere = await shell();
    expect(await createClient(nowhere, { ...scim, opens: { connection: 'mars' } })).toBe(1);
    expect(nowhere.err).toEqual(['There is no connection mars; the settings have default.']);
    const nobody = await shell();
    expect(await createClient(nobody, { ...scim, opens: { travelAdmin: 'no@corp.example' } })).toBe(1);
    expect(nobody.err).toEqual([
      'No user of the travel service has the address no@corp.example. A client acts for an active user with the role admin.',
    ]);
    const listed = await shell();
    await listClients(listed);
    expect(idIn(listed)).toBe('');
  });

  it('accepts a file of public keys instead of a secret', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const file = join(folder.path, 'keys.json');
    writeFileSync(file, JSON.stringify({ keys: [await exportJWK(publicKey)] }));
    const made = await shell({ PUBLIC_URL: 'https://bridge.example.com' });
    expect(await createClient(made, { ...scim, keys: { file } })).toBe(0);
    expect(made.out).toEqual([expect.stringMatching(/^client_id=/)]);
    expect(made.err).toEqual([
      'Its assertions must have the client_id as iss and sub, and https://bridge.example.com/oauth/token as aud.',
    ]);
    const local = await shell();
    expect(await createClient(local, { ...scim, keys: { uri: 'https://idp.example/keys' } })).toBe(0);
    expect(local.err).toEqual([
      'Set PUBLIC_URL for the server: assertions must name <PUBLIC_URL>/oauth/token as their audience.',
    ]);
    const listed = await shell();
    await listClients(listed);
    expect(listed.out.join('\n').match(/│ keys +│/g)).toHaveLength(2);
  });

  it('refuses keys at a private address, unless the settings allow it', async () => {
    const keys = { uri: 'https://10.0.0.1/keys' };
    const refused = await shell();
    expect(await createClient(refused, { ...scim, keys })).toBe(1);
    expect(refused.out).toEqual([]);
    expect(refused.err).toEqual([
      'https://10.0.0.1/keys leads to a private address, which the setting oauthClients.allowPrivate does not allow.',
    ]);
    const settings = writeSettingsFile({ oauthClients: { allowPrivate: true } });
    const allowed = await shell({ JETBRIDGE_CONFIG: settings.path });
    expect(await createClient(allowed, { ...scim, keys })).toBe(0);
    settings.remove();
  });

  it.each<[string, unknown, string]>([
    ['that is not there', undefined, 'does not exist'],
    ['that is no JSON', '{', 'is not JSON'],
    ['that is something else', {}, 'is no JSON Web Key Set, an object with "keys"'],
    ['without keys', { keys: [] }, 'is no JSON Web Key Set, an object with "keys"'],
    ['of what is no key', { keys: ['x'] }, 'has an entry in "keys" that is no key: each has a "kty"'],
    ['of a private key', { keys: [{ kty: 'EC', d: 'x' }] }, 'has a private key; give the public ones'],
    ['of a shared key', { keys: [{ kty: 'oct', k: 'x' }] }, 'has a private key; give the public ones'],
  ])('tells what is wrong with a file %s', async (_title, content, text) => {
    const file = join(folder.path, 'keys.json');
    if (content !== undefined)
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    const recorded = await shell();
    expect(await createClient(recorded, { ...scim, keys: { file } })).toBe(1);
    expect(recorded.out).toEqual([]);
    expect(recorded.err).toHaveLength(1);
    expect(recorded.err[0]).toContain(`${file}: ${text}`);
  });
});
