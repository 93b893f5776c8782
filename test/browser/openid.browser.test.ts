import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { accessibilityFaults, launchBrowser, openPage, takeScreenshot } from '../fixtures/browser.ts';
import { freePort } from '../fixtures/free-port.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { CLIENT, type SignInProvider, signInProvider } from '../fixtures/sign-in-provider.ts';

let provider: SignInProvider;
let service: RunningService;
/** A service to which passwords are no way in. */
let other: RunningService;
let removeSettings: () => void;
let browser: Browser;
beforeAll(async () => {
  provider = await signInProvider();
  const admins = { claim: 'groups', values: ['travel admins'] };
  const openid = { label: 'Corp', issuer: provider.issuer, clientId: CLIENT.clientId, admins };
  const { path, remove } = writeSettingsFile({ adminPage: { openid: { ...openid, timeoutMs: 30_000 } } });
  const alone = { passwordSignIn: false, openid: { ...openid, timeoutMs: 30_000 } };
  const withoutPasswords = writeSettingsFile({ adminPage: alone });
  removeSettings = () => {
    remove();
    withoutPasswords.remove();
  };
  service = await startPage(path);
  other = await startPage(withoutPasswords.path);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.close();
  await other.close();
  await provider.close();
  removeSettings();
});

/** Starts a service to which the provider sends browsers back. */
async function startPage(settings: string): Promise<RunningService> {
  const port = String(await freePort());
  const environment = {
    ...{ JETBRIDGE_CONFIG: settings, ADMIN_OPENID_CLIENT_SECRET: CLIENT.clientSecret },
    ...{ PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` },
  };
  const started = await startService(environment, { page: join(__dirname, '../../dist/admin/ui') });
  await started.makeFirstAdmin();
  return started;
}

const ada = { preferred_username: 'ada@corp.example', groups: ['travel admins'] };

test('a person without a role reads why, and with one comes back to the same address', async () => {
  const { page, faults } = await openPage(browser, service.url);
  provider.behave({ claims: { ...ada, groups: [] } });
  await page.goto('/admin/access');
  await page.getByRole('link', { name: 'Sign in with Corp' }).click();
  const reason = page.getByRole('alert').getByText('You have no role here.');
  await reason.waitFor();
  expect(new URL(page.url()).search).toBe('');
  await takeScreenshot(page, 'sign-in-openid');
  const found = await accessibilityFaults(page);

  provider.behave({ claims: ada });
  await page.getByRole('link', { name: 'Sign in with Corp' }).click();
  await page
    .getByRole('row', { name: /ada@corp\.example/ })
    .getByText('this one')
    .waitFor();
  await page.getByRole('button', { name: 'Signed in as ada@corp.example' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  await takeScreenshot(page, 'access-openid');
  expect(faults.filter((fault) => !fault.includes(provider.issuer))).toEqual([]);
  expect(found).toEqual([]);
});

test('where passwords do not open the page, the form has the provider only', async () => {
  const { page, faults } = await openPage(browser, other.url);
  provider.behave({ claims: ada });
  await page.goto('/admin/access');
  await page.getByRole('textbox', { name: 'Password' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Sign in with Corp' }).waitFor();
  expect(await page.getByText('or with a password').count()).toBe(0);
  await takeScreenshot(page, 'sign-in-openid-alone');
  const found = await accessibilityFaults(page);
  await page.getByRole('link', { name: 'Sign in with Corp' }).click();
  await page.getByRole('row', { name: /ada@corp\.example/ }).waitFor();
  expect(faults.filter((fault) => !fault.includes(provider.issuer))).toEqual([]);
  expect(found).toEqual([]);
});
