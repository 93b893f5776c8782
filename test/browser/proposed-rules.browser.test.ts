import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const CROWD = 101;

const fixture = pageFixture({
  prepare: async (service) => {
    const scim = scimClient(service.url, service.scimToken);
    const travel = travelAdmin(service.url, service.travelApiKey);
    const field = { dataType: 'text', name: 'Job title', resourceType: 'user' };
    const customFieldId = await travel.make('/custom-fields', field);
    for (let n = 0; n < CROWD; n += 1) {
      const userName = `p${n}@corp.example`;
      const { status } = await scim.send('POST', '/Users', {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        ...{ userName, emails: [{ value: userName, primary: true }], title: n === 0 ? 'Boss' : 'Buyer' },
      });
      expect(status).toBe(201);
    }
    await eventually(async () => {
      const travelers = await travel.travelers();
      expect(travelers.filter(({ email }) => String(email).startsWith('p'))).toHaveLength(CROWD);
    });
    await travel.make('/scim-user-mappings', { scimAttribute: 'title', customFieldId });
  },
});

test('proposed rules are shown with their whole effect, field by field with examples, and an admin accepts them', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/mappings');
  await page.getByRole('link', { name: 'Decide' }).click();
  const panel = page.getByRole('region', { name: 'Proposed rules' });
  await panel.getByText('until an admin decides', { exact: false }).waitFor();
  await panel.getByText('+ Job title ← title').waitFor();
  await panel.getByText('This would change 101 of 101 people: 101 Job title.').waitFor();
  await panel.getByRole('button', { name: 'Show examples' }).click();
  await panel.getByText('Job title: nothing → Buyer').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await takeScreenshot(page, 'mappings-proposed-1280-light');
  await panel.getByRole('button', { name: 'Accept…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Put the proposed rules in force for default?' });
  await dialog.getByRole('button', { name: 'Accept' }).click();
  await panel.waitFor({ state: 'detached' });
  const travel = travelAdmin(fixture.service.url, fixture.service.travelApiKey);
  await eventually(async () => {
    const titled = (await travel.travelers()).filter(({ customFields = [] }) => customFields.length > 0);
    expect(titled).toHaveLength(CROWD);
  });
  expect(faults).toEqual([]);
  await page.context().close();
});
