import type { Page } from 'playwright-core';
import { signInPerson } from '../fixtures/admin.ts';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

// Webhooks may lead to this machine.
const settings = writeSettingsFile({ travelService: { webhooks: { allowPrivate: true } } });
afterAll(() => settings.remove());

const fixture = pageFixture({
  environment: { JETBRIDGE_CONFIG: settings.path },
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
      ids.push(
        (
          await send('POST', '/Users', {
            userName: `${userName}@corp.example`,
            displayName: `${userName} smith`,
          })
        ).body.id,
      );
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

test('a cost center is created, renamed and archived', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/travel-data');
  await page.getByRole('link', { name: 'Cost centers' }).click();
  await page.getByRole('button', { name: 'Create a cost center' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Legal');
  await page.getByRole('button', { name: 'Create the cost center' }).click();
  await page.getByRole('heading', { name: 'Legal' }).waitFor();
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Law');
  await expectNoFaults(page, faults, 'travel-data-edit-1280-light');
  await page.getByRole('button', { name: 'Save the cost center' }).click();
  await page.getByRole('heading', { name: 'Law' }).waitFor();
  await page.getByRole('button', { name: 'Archive…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive Law' }).click();
  await page.getByRole('button', { name: 'Restore…' }).waitFor();
  await expectNoFaults(page, faults, 'travel-data-cost-center-1280-light');
  await page.getByRole('link', { name: '← Cost centers' }).click();
  const table = page.getByRole('table', { name: 'Cost centers' });
  await table.getByRole('row', { name: /^Law archived/ }).waitFor();
  await page.getByRole('textbox', { name: 'Contains' }).fill('ar');
  await table.getByRole('row', { name: /^Sales/ }).waitFor({ state: 'detached' });
  await table.getByRole('row', { name: /^Marketing/ }).waitFor();
  expect(new URL(page.url()).search).toBe('?search=ar');
  await page.goto('/admin/audit');
  await page
    .getByRole('row', { name: /change travel data.*PATCH/ })
    .first()
    .waitFor();
  await page.context().close();
});

test('a fault of a new billing profile is shown at its field, and what was typed stays', async () => {
  const { page } = await fixture.signIn();
  await page.goto('/admin/travel-data/billing-profiles');
  await page.getByRole('button', { name: 'Create a billing profile' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Paris');
  await page.getByRole('textbox', { name: 'Email' }).fill('nowhere');
  await page.getByText('Address', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Country' }).fill('Nowhere');
  await page.getByRole('button', { name: 'Create the billing profile' }).click();
  await page.getByText('must be a valid email address').waitFor();
  await page.getByText('must be a two-letter country code').waitFor();
  expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Paris');
  await page.context().close();
});

test('a custom field has its options, and a user leads to the cost center and the person', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/travel-data/custom-fields');
  await page.getByRole('link', { name: 'Floor' }).click();
  await page.getByRole('button', { name: 'Create a custom field option' }).click();
  await page.getByRole('textbox', { name: 'Data', exact: true }).fill('7');
  await page.getByRole('button', { name: 'Create the custom field option' }).click();
  await page.getByRole('heading', { name: '7', exact: true }).waitFor();
  await page.getByRole('link', { name: '← Back' }).click();
  await page.getByRole('table', { name: 'Custom field options' }).getByRole('row', { name: /^7/ }).waitFor();
  await expectNoFaults(page, faults, 'travel-data-options-1280-light');
  await page.goto('/admin/travel-data/users?search=grace');
  await page.getByRole('link', { name: /grace/ }).first().click();
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByRole('combobox', { name: 'Cost center' }).click();
  await page.getByRole('option', { name: 'Research' }).click();
  await page.getByRole('button', { name: 'Save the user' }).click();
  await page.getByRole('link', { name: 'Research' }).waitFor();
  await page.getByRole('link', { name: 'Who the identity provider says this is' }).click();
  await page.getByRole('link', { name: 'grace smith' }).waitFor();
  await page.context().close();
});

test('an invoice is looked at with its operations and the trip that they are for', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/travel-data/sample-data');
  await page.getByRole('button', { name: 'Create Corvanne' }).click();
  await page.getByRole('button', { name: 'Remove Corvanne…' }).waitFor({ timeout: 60_000 });
  await page.goto('/admin/travel-data/invoices');
  await page
    .getByRole('table', { name: 'Invoices' })
    .getByRole('row', { name: /Bookings/ })
    .first()
    .getByRole('link')
    .first()
    .click();
  const operations = page.getByRole('table', { name: 'Billing operations' });
  await operations.getByRole('row').nth(1).waitFor();
  await page.waitForLoadState('networkidle');
  await expectNoFaults(page, faults, 'travel-data-invoice-1280-light');
  await operations.getByRole('link', { name: /→/ }).first().click();
  await page.getByRole('heading', { level: 2, name: /→/ }).waitFor();
  await page.waitForLoadState('networkidle');
  await expectNoFaults(page, faults, 'travel-data-trip-1280-light');
  await page.context().close();
}, 120_000);

test('a webhook is made, tested and gets a new secret', async () => {
  const { page, faults } = await fixture.signIn();
  await page.goto('/admin/travel-data/webhooks');
  await page.getByRole('button', { name: 'Create a webhook' }).click();
  // Nobody listens there.
  await page.getByRole('textbox', { name: 'Url' }).fill('https://127.0.0.1:9/events');
  await page.getByRole('button', { name: 'Create the webhook' }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('link', { name: 'https://127.0.0.1:9/events' }).click();
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByText(/^✗ The test event was not delivered/).waitFor();
  await expectNoFaults(page, faults, 'travel-data-webhook-1280-light');
  await page.getByRole('button', { name: 'Renew the secret…' }).click();
  await page.getByRole('button', { name: 'Renew the secret', exact: true }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.context().close();
});

test('a viewer sees every list, and nothing to write', async () => {
  const { page, faults } = await fixture.open();
  const { service } = fixture;
  const { headers } = await signInPerson(service, { name: 'Vera', role: 'viewer' });
  await page
    .context()
    .addCookies([{ name: 'jetbridge', value: headers['Cookie']?.split('=')[1] ?? '', url: service.url }]);
  await page.goto('/admin/travel-data/cost-centers');
  const research = page.getByRole('link', { name: 'Research', exact: true });
  await research.waitFor();
  expect(await page.getByRole('button', { name: /Create/ }).count()).toBe(0);
  await research.click();
  await page.getByRole('table', { name: 'Fields' }).waitFor();
  expect(await page.getByRole('button', { name: /Edit|Archive|Delete/ }).count()).toBe(0);
  await page.goto('/admin/travel-data/webhooks');
  await page.getByRole('table', { name: 'Webhooks' }).waitFor();
  expect(await page.getByRole('button', { name: /Create/ }).count()).toBe(0);
  expect(faults).toEqual([]);
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
    await page.goto('/admin/people');
    await page.getByRole('link', { name: 'Groups' }).click();
    await page.getByRole('link', { name: 'Everybody' }).waitFor();
    await expectNoFaults(page, faults, `groups-${width}-${colorScheme}`);
    await page.getByRole('textbox', { name: 'Name contains' }).fill('managers');
    await page.getByRole('link', { name: 'Travel managers' }).click();
    await page.getByRole('link', { name: 'grace smith' }).waitFor();
    await expectNoFaults(page, faults, `group-${width}-${colorScheme}`);
    await page.getByRole('link', { name: 'grace smith' }).click();
    await page.getByRole('heading', { level: 1, name: 'grace smith' }).waitFor();
    await page.context().close();
  },
);

test.each(looks)(
  'the resources, one of them and its form fit $width pixels in $colorScheme',
  async ({ width, height, colorScheme }) => {
    const { page, faults } = await fixture.signIn({ viewport: { width, height }, colorScheme });
    for (const list of ['users', 'travel-policies', 'trip-projects', 'billing-operations', 'events']) {
      await page.goto(`/admin/travel-data/${list}`);
      await page.getByText(/in all\.$|here yet\.$|further…$/).waitFor();
      await page.waitForLoadState('networkidle');
      await expectNoFaults(page, faults, `travel-data-${list}-${width}-${colorScheme}`);
    }
    await page.goto('/admin/travel-data/travel-policies');
    await page.getByRole('button', { name: 'Create a travel policy' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Gold');
    await page.getByRole('combobox', { name: 'Control' }).click();
    await page.getByRole('option', { name: 'none' }).click();
    await expectNoFaults(page, faults, `travel-data-form-${width}-${colorScheme}`);
    await page.getByRole('button', { name: 'Create the travel policy' }).click();
    await page.getByRole('heading', { name: 'Gold' }).waitFor();
    await page.waitForLoadState('networkidle');
    await expectNoFaults(page, faults, `travel-data-policy-${width}-${colorScheme}`);
    await page.context().close();
  },
  60_000,
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
  await page.getByRole('link', { name: 'Travel data' }).click();
  await page
    .getByRole('table', { name: 'Cost centers' })
    .getByRole('row', { name: /^Research/ })
    .waitFor();
  await page.getByText(`It is at ${fixture.service.url}, and is changed there`).waitFor();
  expect(await page.getByRole('button', { name: /^(Create|Edit|Archive)/ }).count()).toBe(0);
  await page.getByText('Custom fields', { exact: true }).click();
  await page.getByRole('row', { name: /^Floor option/ }).waitFor();
  await page.context().close();
  await bridge.close();
});
