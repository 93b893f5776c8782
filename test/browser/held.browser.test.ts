import { accessibilityFaults, pageFixture } from '../fixtures/browser.ts';
import { patchOp } from '../fixtures/scim.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const policies = { safetyValve: { share: 0, minimum: 1, windowMinutes: 60 } };
const settings = writeSettingsFile({}, { default: { policies } });
afterAll(() => settings.remove());

const fixture = pageFixture({
  environment: { JETBRIDGE_CONFIG: settings.path },
  prepare: async (service) => {
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
  },
});

test('held departures are found and decided about, one and all, each under its consequence in numbers', async () => {
  const { page, faults } = await fixture.signIn();
  const entry = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: /Decisions/ });
  await entry.getByText('2', { exact: true }).waitFor();
  await entry.click();
  await page.getByText('more people left within 60 minutes').waitFor();
  const held = page.getByRole('table', { name: 'Held: Departures' });
  await held.getByRole('row', { name: /bob Held.*has access → archived, without access/ }).waitFor();
  await page.getByRole('button', { name: 'Discard bob Held' }).click();
  await page.getByRole('dialog').getByText('1 traveler stays as it is; 1 other person stays held.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Approve all 2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve for 2 people?' });
  await dialog.getByText('2 travelers will be archived and lose access.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve for 2 people' }).click();
  await page.getByText('Approved for 2 people.').waitFor();
  await page.getByText('Nothing waits for a decision.').waitFor();
  await page.getByText('It is carried out.').waitFor();
  await page.getByRole('link', { name: 'Show the people' }).first().click();
  const list = page.getByRole('table', { name: 'People of the decision' });
  await list.getByRole('link', { name: 'bob@corp.example' }).waitFor();
  await list.getByRole('link', { name: 'cyd@corp.example' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});
