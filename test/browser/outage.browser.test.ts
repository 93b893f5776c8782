import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const fixture = pageFixture({
  // Nothing listens there.
  environment: {
    TRAVEL_API_URL: 'http://127.0.0.1:9',
    TRAVEL_API_KEY: 'travel_0123456789012345678901234567',
  },
  prepare: async ({ url, scimToken }) => {
    const { send } = scimClient(url, scimToken);
    for (const name of ['ada', 'bob']) await send('POST', '/Users', { userName: `${name}@corp.example` });
  },
});

test('an outage is told once, with what waits and that nothing is lost, and one click leads to its cause', async () => {
  const { page, faults } = await fixture.signIn();
  const sentence = page.getByRole('heading', {
    level: 1,
    name: /The travel API does not answer .*changes wait/,
  });
  await sentence.waitFor();
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText('Nothing is lost').waitFor();
  expect(await page.getByText(/does not answer/).count()).toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  await takeScreenshot(page, 'outage-1280-light');
  await attention.getByRole('link', { name: 'The calls' }).click();
  await page.getByRole('heading', { level: 1, name: 'Traffic' }).waitFor();
  await page
    .getByText(/✗ (ECONNREFUSED|.*refused)/)
    .first()
    .waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an outage is acknowledged for some time on Overview and told again, and its kind kept quiet in Alerts', async () => {
  const { page, faults } = await fixture.signIn();
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByRole('button', { name: /^Acknowledge: The travel API/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Acknowledge this condition' });
  await dialog.getByText('No alert tells it again until then').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await attention.getByText(/^Acknowledged by admin until/).waitFor();
  await takeScreenshot(page, 'acknowledged-1280-light');
  await attention.getByRole('button', { name: /^Tell again: The travel API/ }).click();
  await attention.getByRole('button', { name: /^Acknowledge: The travel API/ }).waitFor();
  await page.goto('/admin/alerts');
  await page.getByRole('button', { name: 'Keep a kind quiet…' }).click();
  const quiet = page.getByRole('dialog', { name: 'Keep a kind quiet' });
  await quiet.getByRole('combobox', { name: 'Kind of condition' }).click();
  await page.getByRole('option', { name: 'travel outage' }).click();
  await quiet.getByRole('button', { name: 'Keep travel outage quiet' }).click();
  const kinds = page.getByRole('table', { name: 'Quiet kinds' });
  await kinds.getByRole('row', { name: /travel outage/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await kinds.getByRole('button', { name: 'Tell again: travel outage' }).click();
  await page.getByText('Alerts tell every kind of condition.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
