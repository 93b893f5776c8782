import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const fixture = pageFixture({
  prepare: async ({ url, scimToken, travelApiKey, data }) => {
    const email = 'ada@corp.example';
    const { send } = scimClient(url, scimToken);
    const { body } = await send('POST', '/Users', { userName: email, emails: [{ value: email }] });
    const { travelUserId } = body['urn:ietf:params:scim:schemas:extension:travel:2.0:User'];
    const headers = { authorization: `Bearer ${travelApiKey}`, 'content-type': 'application/json' };
    const change = JSON.stringify({ data: { archived: true } });
    await fetch(`${url}/api/users/${travelUserId}`, { method: 'PATCH', headers, body: change });
    await runCommandLine(['restored'], { JETBRIDGE_DATA: data });
    await eventually(async () => {
      const found = await runCommandLine(['people', '--finding', 'restored'], { JETBRIDGE_DATA: data });
      if (!found.out.includes(email)) throw new Error('the traveler was not read yet');
    });
  },
});

test('after a restore the Overview says how many people differ, and has them sent again after a confirmation', async () => {
  const { page, faults } = await fixture.signIn();
  const attention = page.getByRole('region', { name: 'Needs attention' });
  const told = /The database was restored from a backup, and 1 traveler differs/;
  await page.getByRole('heading', { level: 1, name: told }).waitFor();
  expect(await page.getByText(told).count()).toBe(1);
  await takeScreenshot(page, 'restored');
  expect(await accessibilityFaults(page)).toEqual([]);
  await attention.getByRole('button', { name: 'Send again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send the stored values of default again?' });
  await takeScreenshot(page, 'restored-confirm');
  await dialog.getByRole('button', { name: 'Send the stored values of default' }).click();
  await attention.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
});
