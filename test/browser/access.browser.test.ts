import { adminClient, signIn } from '../fixtures/admin.ts';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';

const fixture = pageFixture();

test('an admin sees the sessions, and ends one, which is signed out', async () => {
  const firefox = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  const other = await signIn(adminClient(fixture.service.url, firefox), 'admin', fixture.password);
  const { page, faults } = await fixture.signIn();
  await page.getByRole('button', { name: 'Signed in as admin' }).click();
  await page.getByRole('menuitem', { name: 'Sessions' }).click();
  const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row');
  await rows
    .filter({ hasText: 'this one' })
    .getByText(/^Chrome on Linux$/)
    .waitFor();
  await takeScreenshot(page, 'sessions');
  const found = await accessibilityFaults(page);
  await page.getByRole('button', { name: 'End the session of admin in Firefox on Linux' }).click();
  await rows.filter({ hasText: 'Firefox' }).waitFor({ state: 'detached' });
  expect((await other('GET', '/session')).status).toBe(401);
  expect([found, faults]).toEqual([[], []]);
  await page.context().close();
});

test('"Sign out everywhere else" ends the other sessions of the admin', async () => {
  const others = [
    await signIn(adminClient(fixture.service.url), 'admin', fixture.password),
    await signIn(adminClient(fixture.service.url), 'admin', fixture.password),
  ];
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/access');
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.getByRole('button', { name: 'Sign out everywhere else' }).waitFor({ state: 'detached' });
  const statuses = await Promise.all(others.map(async (one) => (await one('GET', '/session')).status));
  expect([statuses, faults]).toEqual([[401, 401], []]);
  await page.context().close();
});

test('the tokens of scripts are listed with maker and end', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/access/tokens');
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
