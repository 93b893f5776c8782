import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const fixture = pageFixture({
  prepare: async ({ url, scimToken, data }) => {
    await scimClient(url, scimToken).send('POST', '/Users', { userName: 'ada@corp.example' });
    await runCommandLine(['restored'], { JETBRIDGE_DATA: data });
  },
});

test('the Overview says that a connection is paused after a restore, and lets it go on after a confirmation', async () => {
  const { page, faults } = await fixture.signIn();
  const notice = page.getByRole('status').filter({ hasText: 'The connection default is paused' });
  await notice.waitFor();
  await page.getByText('the connection is paused').waitFor();
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText('The connection default is paused, by an admin or after a restore').waitFor();
  await takeScreenshot(page, 'paused');
  expect(await accessibilityFaults(page)).toEqual([]);
  await notice.getByRole('button', { name: 'Let it go on' }).click();
  const dialog = page.getByRole('dialog', { name: 'Let default go on?' });
  await dialog.getByText('No changes wait.').waitFor();
  await takeScreenshot(page, 'paused-confirm');
  await dialog.getByRole('button', { name: 'Let default go on' }).click();
  await notice.waitFor({ state: 'detached' });
  await attention.waitFor({ state: 'detached' });
  await page.getByText('✓ are made').waitFor();
  expect(faults).toEqual([]);
});
