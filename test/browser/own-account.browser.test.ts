import { adminClient, earlierToken, signIn } from '../fixtures/admin.ts';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';

const fixture = pageFixture();

test('an account sees its sessions, and ends one, which is signed out', async () => {
  const firefox = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  const other = await signIn(adminClient(fixture.service.url, firefox), 'admin', fixture.password);
  const { page, faults } = await fixture.signIn();
  await page.getByRole('button', { name: 'Signed in as admin' }).click();
  await page.getByRole('menuitem', { name: 'Your sessions' }).click();
  const rows = page.getByRole('table', { name: 'Your sessions' }).getByRole('row');
  await rows
    .filter({ hasText: 'this one' })
    .getByText(/^Chrome on Linux$/)
    .waitFor();
  await takeScreenshot(page, 'own-sessions');
  const found = await accessibilityFaults(page);
  await page.getByRole('button', { name: 'End the session in Firefox on Linux' }).click();
  await rows.filter({ hasText: 'Firefox' }).waitFor({ state: 'detached' });
  expect((await other('GET', '/session')).status).toBe(401);
  expect([found, faults]).toEqual([[], []]);
  await page.context().close();
});

test('the tokens of scripts are listed with maker and end, and one without an end is warned of', async () => {
  await earlierToken(fixture.service, 'nightly report');
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/accounts/tokens');
  await page.getByText('A token never expires').waitFor();
  await page.getByRole('button', { name: 'Create a token' }).click();
  expect(await page.getByRole('textbox', { name: 'Valid for' }).inputValue()).toBe('90');
  await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).fill('deployment');
  await takeScreenshot(page, 'new-admin-token');
  await page.getByRole('button', { name: 'Create the token' }).click();
  await page.getByRole('button', { name: 'Copy' }).and(page.locator(':focus')).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /^deployment viewer .* admin / }).waitFor();
  await takeScreenshot(page, 'admin-tokens');
  expect([await accessibilityFaults(page), faults]).toEqual([[], []]);
  await page.context().close();
});

test('a new password that is short or common is refused with what would be better, and the form stays', async () => {
  const { page, faults } = await fixture.signIn();
  await page.getByRole('button', { name: 'Signed in as admin' }).click();
  await page.getByRole('menuitem', { name: 'Change your password' }).click();
  await page.getByRole('textbox', { name: 'Present password' }).and(page.locator(':focus')).waitFor();
  await page.getByRole('textbox', { name: 'Present password' }).fill(fixture.password);
  await page.getByRole('textbox', { name: 'New password' }).fill('admin');
  await page.getByText('Too short: 7 more to go').waitFor();
  await page.getByRole('textbox', { name: 'New password' }).fill('administrator');
  await page.getByText('Long enough; longer is better').waitFor();
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('is one of the most common passwords: choose another one').waitFor();
  await page.getByRole('textbox', { name: 'New password' }).and(page.locator(':focus')).waitFor();
  await takeScreenshot(page, 'own-password');
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(faults.filter((fault) => !fault.includes('422'))).toEqual([]);
  await page.context().close();
});
