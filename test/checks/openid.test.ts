import { runDoctor } from '../../src/checks/doctor.ts';
import { check } from '../../src/cli/service/check.ts';
import { readSettings } from '../../src/config/settings.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { CLIENT, type SignInProvider, signInProvider } from '../fixtures/sign-in-provider.ts';

let provider: SignInProvider;
let settings: ReturnType<typeof writeSettingsFile>;
let data: ReturnType<typeof temporaryFolder>;
beforeAll(async () => {
  provider = await signInProvider();
  const admins = { claim: 'groups', values: ['travel admins'] };
  const openid = { label: 'Corp', issuer: provider.issuer, clientId: CLIENT.clientId, admins };
  settings = writeSettingsFile({ adminPage: { openid: { ...openid, timeoutMs: 30_000 } } });
  data = temporaryFolder();
});
afterAll(async () => {
  await provider.close();
  settings.remove();
  data.remove();
});

const shell = () =>
  recordedShell({
    JETBRIDGE_CONFIG: settings.path,
    JETBRIDGE_DATA: data.path,
    ADMIN_OPENID_CLIENT_SECRET: CLIENT.clientSecret,
    PUBLIC_URL: 'https://bridge.example',
  });

/** Returns the result of the doctor's check of the provider. */
async function doctorResult() {
  const { environment, home } = await shell();
  const results = await runDoctor(readSettings(environment, home), Date.now());
  return results.find(({ check }) => check === 'OpenID provider');
}

test('a provider that can be used is named, and nothing is wrong with it', async () => {
  provider.behave({});
  const shown = await shell();
  expect(await check(shown)).toBe(0);
  expect(shown.out).toContain(`  admin page   also by Corp, ${provider.issuer}`);
  expect(shown.out.join()).not.toMatch(/was not checked: it|secret of the client/);
  expect(await doctorResult()).toMatchObject({ state: 'ok' });
});

test('a provider that does not answer is no fault, because passwords work', async () => {
  provider.behave({ instead: { path: '/.well-known/openid-configuration', status: 503 } });
  const shown = await shell();
  expect(await check(shown)).toBe(0);
  expect(shown.out).toContain('The OpenID provider of the admin page was not checked: it answers 503.');
  expect(await doctorResult()).toMatchObject({
    state: 'warning',
    text: `${provider.issuer} cannot be used: it answers 503`,
  });
});

test('a wrong issuer is a fault', async () => {
  provider.behave({ instead: { path: '/.well-known/openid-configuration', status: 404 } });
  await expect(check(await shell())).rejects.toThrow(
    'adminPage.openid.issuer: is of a provider that cannot be used: it answers 404.',
  );
  expect(await doctorResult()).toMatchObject({ state: 'fault' });
});

test('without calls the provider is not read', async () => {
  provider.requestedPaths.length = 0;
  const shown = await shell();
  expect(await check(shown, { isOffline: true, json: true })).toBe(0);
  expect(JSON.parse(shown.out.join('')).openid).toEqual({
    ...{ label: 'Corp', issuer: provider.issuer, isOnlyWay: false },
    unchecked: 'the option --offline is given',
  });
  expect(provider.requestedPaths).toEqual([]);
});
