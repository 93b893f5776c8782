import type { Page } from 'playwright-core';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { startService } from '../fixtures/service.ts';

const fixture = pageFixture({
  prepare: async ({ url, scimToken, travelApiKey }) => {
    const travel = async (path: string, data: object) => {
      const headers = { Authorization: `Bearer ${travelApiKey}`, 'Content-Type': 'application/json' };
      const made = await fetch(`${url}/api${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ data }),
      });
      expect(made.status).toBe(201);
    };
    for (const name of ['Research', 'Marketing', 'Sales']) await travel('/cost-centers', { name });
    await travel('/custom-fields', { name: 'Floor', dataType: 'option', resourceType: 'user' });
    const { send } = scimClient(url, scimToken);
    const ids: string[] = [];
    for (const userName of ['ada', 'grace', 'linus'])
      ids.push((await send('POST', '/Users', { userName, displayName: `${userName} smith` })).body.id);
    for (const displayName of [
      'Everybody',
      'Travel managers',
      ...Array.from({ length: 150 }, (_, n) => `Team ${n}`),
    ])
      await send('POST', '/Groups', { displayName, members: ids.map((value) => ({ value })) });
  },
});

async function expectNoFaults(page: Page, faults: string[], name: string): Promise<void> {
  await takeScreenshot(page, name);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false);
  expect(faults).toEqual([]);
}

test('a cost center is created, renamed and archived on the page', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/lists');
  const table = page.getByRole('table', { name: 'Cost centers' });
  await page.getByRole('button', { name: 'Create a cost center' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Legal');
  await page.getByRole('button', { name: 'Create the cost center' }).click();
  await table.getByRole('row', { name: /^Legal/ }).waitFor();
  await page.getByRole('button', { name: 'Rename Legal' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Law');
  await expectNoFaults(page, faults, 'lists-rename-1280-light');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByRole('button', { name: 'Archive Law' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive Law' }).click();
  await table.getByRole('row', { name: /^Law archived/ }).waitFor();
  await page.getByRole('textbox', { name: 'Name contains' }).fill('ar');
  await table.getByRole('row', { name: /^Sales/ }).waitFor({ state: 'detached' });
  await page.getByText('2 found.').waitFor();
  expect(new URL(page.url()).search).toBe('?search=ar');
  await page.context().close();
});

test('a fault of a new billing profile is shown at its field, and what was typed stays', async () => {
  const { page } = await fixture.signIn();
  await page.goto('/admin/lists/default/billing-profiles');
  await page.getByRole('button', { name: 'Create a billing profile' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Paris');
  await page.getByRole('textbox', { name: 'Email' }).fill('nowhere');
  await page.getByRole('button', { name: 'Create the billing profile' }).click();
  await page.getByText('must be a valid email address').waitFor();
  expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Paris');
  await page.context().close();
});

test('a custom field leads to its options', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/lists/default/custom-fields');
  await page.getByRole('link', { name: 'Floor' }).click();
  await page.getByRole('heading', { name: 'Options of Floor' }).waitFor();
  await page.getByRole('button', { name: 'Create an option' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('7');
  await page.getByRole('button', { name: 'Create the option' }).click();
  await page.getByRole('table', { name: 'Options' }).getByRole('row', { name: /^7/ }).waitFor();
  await expectNoFaults(page, faults, 'lists-options-1280-light');
  await page.context().close();
});

const looks = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 390, height: 800, colorScheme: 'dark' },
] as const;

test.each(looks)(
  'a group leads to its members, and a member to the person, on $width pixels in $colorScheme',
  async ({ width, height, colorScheme }) => {
    const { page, faults } = await fixture.signIn({ viewport: { width, height }, colorScheme });
    await page.goto('/admin/lists/default/groups');
    await page.getByRole('link', { name: 'Everybody' }).waitFor();
    await expectNoFaults(page, faults, `lists-groups-${width}-${colorScheme}`);
    await page.getByRole('textbox', { name: 'Name contains' }).fill('managers');
    await page.getByRole('link', { name: 'Travel managers' }).click();
    await page.getByRole('link', { name: 'grace smith' }).waitFor();
    await expectNoFaults(page, faults, `lists-group-${width}-${colorScheme}`);
    await page.getByRole('link', { name: 'grace smith' }).click();
    await page.getByRole('heading', { level: 1, name: 'grace smith' }).waitFor();
    await page.context().close();
  },
);

test('the lists of another travel service are read-only, and the page says why', async () => {
  const bridge = await startService(
    {
      TRAVEL_API_URL: fixture.service.url,
      TRAVEL_API_KEY: fixture.service.travelApiKey,
      ADMIN_PASSWORD: fixture.password,
    },
    { page: `${__dirname}/../../dist/admin/ui` },
  );
  await bridge.makeFirstAdmin();
  const { page } = await fixture.open({ baseURL: bridge.url });
  await page.goto('/admin');
  await page.getByRole('textbox', { name: 'Name' }).fill('admin');
  await page.getByRole('textbox', { name: 'Password' }).fill(fixture.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Lists' }).click();
  await page
    .getByRole('table', { name: 'Cost centers' })
    .getByRole('row', { name: /^Research/ })
    .waitFor();
  await page.getByText(`It is at ${fixture.service.url}, so a cost center is created`).waitFor();
  expect(await page.getByRole('button', { name: /^(Create|Rename|Archive)/ }).count()).toBe(0);
  await page.context().close();
  await bridge.close();
});
