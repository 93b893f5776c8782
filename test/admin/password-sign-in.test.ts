import { runDoctor } from '../../src/checks/doctor.ts';
import { check } from '../../src/cli/service/check.ts';
import { readSettings } from '../../src/config/settings.ts';
import { adminClient, signIn } from '../fixtures/admin.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { CLIENT, type SignInProvider, signInProvider } from '../fixtures/sign-in-provider.ts';

/** The service without password sign-in, on the data of one that had it. */
let service: RunningService;
let provider: SignInProvider;
let settings: ReturnType<typeof writeSettingsFile>;
let password: string;
/** What the browser and the script send that were let in before. */
let cookie: string;
let token: string;
const environment: Record<string, string> = {
  ADMIN_OPENID_CLIENT_SECRET: CLIENT.clientSecret,
  PUBLIC_URL: 'https://bridge.example',
};
const data = { JETBRIDGE_DATA: createDataFolder('jetbridge-passwords-') };
beforeAll(async () => {
  const before = await startService(data);
  password = (await before.makeFirstAdmin()) ?? '';
  const client = adminClient(before.url);
  const signedIn = await client('POST', '/sign-in', { body: { name: 'admin', password } });
  [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
  const browser = await signIn(client, 'admin', password);
  const body = { name: 'script', role: 'admin' };
  ({ token } = (await browser('POST', '/admin-tokens', { body })).body);
  await before.close();

  provider = await signInProvider();
  const admins = { claim: 'groups', values: ['travel admins'] };
  const openid = { label: 'Corp', issuer: provider.issuer, clientId: CLIENT.clientId, admins };
  const adminPage = { passwordSignIn: false, openid: { ...openid, timeoutMs: 30_000 } };
  settings = writeSettingsFile({ adminPage });
  environment['JETBRIDGE_CONFIG'] = settings.path;
  service = await startService({ ...data, ...environment });
});
afterAll(async () => {
  await service.close();
  await provider.close();
  settings.remove();
});

test('the page learns that passwords do not open it, and a right one is refused with the way to sign in', async () => {
  const anonymous = adminClient(service.url);
  expect((await anonymous('GET', '/sign-in')).body).toEqual({ password: false, openid: { label: 'Corp' } });
  expect((await anonymous('GET', '/sign-in?failure=unavailable')).body.failure).toBe(
    'The OpenID provider does not answer. Try again later.',
  );
  const { status, body } = await anonymous('POST', '/sign-in', { body: { name: 'admin', password } });
  expect([status, body.message]).toEqual([
    403,
    'Passwords do not open this page (adminPage.passwordSignIn). Sign in through the OpenID provider.',
  ]);
});

test('a session that began with a password is over, and a token goes on', async () => {
  expect((await adminClient(service.url, { Cookie: cookie })('GET', '/session')).status).toBe(401);
  const script = adminClient(service.url, { Authorization: `Bearer ${token}` });
  expect((await script('GET', '/session')).status).toBe(200);
});

test('no password is made while passwords do not open the page', async () => {
  const other = { ...environment, JETBRIDGE_DATA: createDataFolder('jetbridge-no-password-') };
  const alone = await startService(other);
  expect(await alone.makeFirstAdmin()).toBeUndefined();
  await alone.close();
});

test('the commands say that the provider is the only way in, and a fault is told while it is away', async () => {
  provider.behave({ instead: { path: '/.well-known/openid-configuration', status: 503 } });
  const shell = await recordedShell({ ...data, ...environment });
  expect(await check(shell)).toBe(0);
  expect(shell.out).toContain(`  admin page   only by Corp, ${provider.issuer}`);
  const results = await runDoctor(readSettings(shell.environment, shell.home), Date.now());
  provider.behave({});
  expect(results.find(({ check }) => check === 'OpenID provider')).toMatchObject({
    state: 'fault',
    remedy: expect.stringContaining('unless adminPage.passwordSignIn is removed'),
  });
});

test('without the setting, the password opens the page again', async () => {
  await service.close();
  service = await startService(data);
  await signIn(adminClient(service.url), 'admin', password);
});
