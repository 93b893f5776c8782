import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const person = (name: string) => ({
  userName: `${name.toLowerCase()}@corp.example`,
  name: { givenName: name, familyName: 'Shadow' },
  emails: [{ value: `${name.toLowerCase()}@corp.example`, primary: true }],
});

const settings = writeSettingsFile({}, { default: { mode: 'shadow' } });
afterAll(settings.remove);

const fixture = pageFixture({
  environment: { JETBRIDGE_CONFIG: settings.path },
  prepare: async ({ url, scimToken, travelApiKey }) => {
    const { send } = scimClient(url, scimToken);
    const { make } = travelAdmin(url, travelApiKey);
    await make('/users', { email: 'grace@corp.example', firstName: 'Grace', lastName: 'Shadow' });
    await make('/users', { email: 'joan@corp.example', firstName: 'Joanna', lastName: 'Shadow' });
    await send('POST', '/Users', person('Ada'));
    await send('POST', '/Users', { userName: 'nobody' });
    await send('POST', '/Users', { ...person('Grace'), active: false });
    await send('POST', '/Users', person('Joan'));
  },
});

test('the view Shadow shows what going live would do, and goes live with it', async () => {
  const { page, faults } = await fixture.signIn();
  await page.getByRole('link', { name: 'Connections' }).click();
  await page.getByRole('link', { name: 'Shadow report' }).click();
  await page.getByText('Everything is planned and reported').waitFor();
  await takeScreenshot(page, 'shadow-modes');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'What going live would do' }).click();
  const table = page.getByRole('table', { name: 'People', exact: true });
  await table.getByRole('link', { name: 'Ada Shadow' }).waitFor();
  await takeScreenshot(page, 'shadow-report');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await takeScreenshot(page, 'shadow-report-narrow');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('button', { name: 'Pilot…' }).click();
  const pilot = page.getByRole('dialog', { name: 'Pilot of default' });
  const filter = pilot.getByRole('textbox', { name: 'SCIM filter of these people' });
  await filter.fill('userName is "joan"');
  await pilot.getByText('an operator was expected (at 9)').waitFor();
  await filter.fill('userName sw "joan"');
  await pilot.getByText('1 person enters the pilot').waitFor();
  await takeScreenshot(page, 'shadow-pilot');
  expect(await accessibilityFaults(page)).toEqual([]);
  await pilot.getByRole('button', { name: 'Give default this pilot' }).click();
  await page.getByText('with a pilot: 1 live, 3 planned.').waitFor();
  await takeScreenshot(page, 'shadow-with-pilot');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Go live…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Go live with default?' });
  await dialog.getByText('1 traveler is created, 0 linked, 0 changed, 1 archived or deleted.').waitFor();
  await takeScreenshot(page, 'shadow-go-live');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Go live with default' }).click();
  await page.getByText('default is live: 1 departure was approved as planned.').waitFor();
  // The service answers 422 to the faulty filter.
  expect(faults.filter((fault) => !fault.includes('422'))).toEqual([]);
});
