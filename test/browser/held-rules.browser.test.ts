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

test('a held change of rules shows its cause, the exact number of people, values and examples, and what the approval has done', async () => {
  const { page, faults } = await fixture.signIn();
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: /Held/ }).click();
  const card = page.getByRole('region', { name: 'Other rules or lookups, default' });
  await card.getByText('101 people', { exact: false }).first().waitFor();
  await card.getByText('nothing → "Buyer" (100), nothing → "Boss" (1)').waitFor();
  await card.getByText('Caused by rules of scimUserMapping: title is new.', { exact: false }).waitFor();
  await card.getByRole('button', { name: 'Show examples' }).click();
  await card.getByRole('table', { name: 'Examples' }).getByRole('link').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goto('/admin/mappings');
  await page.getByText(/The change is held, because it changes more than 100 people/).waitFor();
  await takeScreenshot(page, 'mappings-held-1280-light');
  await page.getByRole('link', { name: 'Approve or discard' }).click();
  await card.getByRole('button', { name: 'Approve all 101 people…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve for 101 people?' });
  await dialog.getByText('101 travelers will be changed.').waitFor();
  await dialog.getByRole('button', { name: 'Approve for 101 people' }).click();
  await page.getByText('Approved for 101 people.').waitFor();
  await page.getByText('It is carried out: the change affects 101 people.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
