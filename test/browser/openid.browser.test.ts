import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { accessibilityFaults, launchBrowser, openPage, takeScreenshot } from '../fixtures/browser.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { CLIENT, type SignInProvider, signInProvider } from '../fixtures/sign-in-provider.ts';

let provider: SignInProvider;
let settings: ReturnType<typeof writeSettingsFile>;
let service: RunningService;
let browser: Browser;
beforeAll(async () => {
  provider = await signInProvider();
  const admins = { claim: 'groups', values: ['travel admins'] };
  const openid = { label: 'Corp', issuer: provider.issuer, clientId: CLIENT.clientId, admins };
  settings = writeSettingsFile({ adminPage: { openid: { ...openid, timeoutMs: 30_000 } } });
  service = await startService(
    { JETBRIDGE_CONFIG: settings.path, ADMIN_OPENID_CLIENT_SECRET: CLIENT.clientSecret },
    { page: join(__dirname, '../../dist/admin/ui') },
  );
  await service.makeFirstAdmin();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.close();
  await provider.close();
  settings.remove();
});

const ada = { preferred_username: 'ada@corp.example', groups: ['travel admins'] };

test('a person without a role reads why, and with one comes back to the same address', async () => {
  const { page, faults } = await openPage(browser, service.url);
  provider.behave({ claims: { ...ada, groups: [] } });
  await page.goto('/admin/accounts');
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
    .getByText('OpenID provider')
    .waitFor();
  await page.getByRole('button', { name: 'Signed in as ada@corp.example' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  expect(await page.getByRole('menuitem', { name: /password/ }).count()).toBe(0);
  await takeScreenshot(page, 'accounts-openid');
  expect(faults.filter((fault) => !fault.includes(provider.issuer))).toEqual([]);
  expect(found).toEqual([]);
});
