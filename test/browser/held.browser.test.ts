import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { accessibilityFaults, launchBrowser, openPage, signInOnPage } from '../fixtures/browser.ts';
import { patchOp } from '../fixtures/scim.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const PASSWORD = 'correct-horse-battery';
const policies = { safetyValve: { share: 0, minimum: 1, windowMinutes: 60 } };

let settings: ReturnType<typeof writeSettingsFile>;
let service: RunningService;
let browser: Browser;
beforeAll(async () => {
  settings = writeSettingsFile({}, { default: { policies } });
  service = await startService(
    { ADMIN_PASSWORD: PASSWORD, JETBRIDGE_CONFIG: settings.path },
    { page: join(__dirname, '../../dist/admin/ui') },
  );
  await service.makeFirstAdmin();
  const scim = scimClient(service.url, service.scimToken);
  for (const name of ['ada', 'bob', 'cyd']) {
    const { body } = await scim.send('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...{ userName: `${name}@corp.example`, active: true },
      name: { givenName: name, familyName: 'Held' },
      emails: [{ value: `${name}@corp.example`, primary: true }],
    });
    await scim.send('PATCH', `/Users/${body.id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  }
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.close();
  settings.remove();
});

test('a held safety valve is found and approved with three clicks, the last one under its consequence in numbers', async () => {
  const { page, faults } = await openPage(browser, service.url);
  await signInOnPage(page, PASSWORD);
  const entry = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: /Held/ });
  await entry.getByText('2 !').waitFor();
  await entry.click();
  await page.getByRole('button', { name: 'Approve all 2 people…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve for 2 people?' });
  await dialog.getByText('2 travelers will be archived and lose access.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve for 2 people' }).click();
  await page.getByText('Approved for 2 people.').waitFor();
  await page.getByText('Nothing is held.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
