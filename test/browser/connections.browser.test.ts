import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';

const fixture = pageFixture();

test('a connection is added on the page, a policy of it is changed, and it is removed', async () => {
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 1800 } });
  await page.goto('/admin/connect');
  await page.getByRole('button', { name: 'Add a connection' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Okta');
  await page.getByRole('button', { name: 'Add the connection' }).click();
  await page.getByText('is no name of a connection').waitFor();
  faults.splice(0);
  await page.getByRole('textbox', { name: 'Name' }).fill('okta');
  await takeScreenshot(page, 'connections-add-1280-light');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add the connection' }).click();
  await page.getByRole('heading', { level: 1, name: 'Connection okta' }).waitFor();
  await page.getByRole('button', { name: 'Change deprovision' }).click();
  await page.getByRole('radio', { name: 'delete' }).check();
  await takeScreenshot(page, 'connections-policy-1280-light');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Put it in force' }).click();
  const policies = page.getByRole('table', { name: 'Policies' });
  await policies
    .getByRole('row', {
      name: /^Deleted users deprovision: delete When a user is deleted, the traveler is deleted/,
    })
    .waitFor();
  await page.getByRole('button', { name: 'Change safetyValve' }).click();
  await page.getByRole('textbox', { name: 'People in any case' }).fill('7');
  await page.getByRole('button', { name: 'Put it in force' }).click();
  await policies.getByText('When more than 7 people and more than 5 %').waitFor();
  await page.getByRole('button', { name: 'Change scim' }).click();
  await page.getByRole('radio', { name: 'strict' }).check();
  await page.getByRole('button', { name: 'Put it in force' }).click();
  await policies
    .getByRole('row', { name: /^SCIM requests scim: strict What the SCIM interoperability profile forbids/ })
    .waitFor();
  await page.getByRole('button', { name: 'Change the limits' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('textbox', { name: 'Requests in a second' }).fill('25');
  await form.getByRole('textbox', { name: 'Addresses' }).fill('idp.example');
  await form.getByRole('button', { name: 'Put them in force' }).click();
  await form.getByText('is neither an address nor a range').waitFor();
  faults.splice(0);
  await form.getByRole('textbox', { name: 'Addresses' }).fill('203.0.113.0/24\nloopback');
  await takeScreenshot(page, 'connections-limits-1280-light');
  expect(await accessibilityFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Put them in force' }).click();
  const limits = page.getByRole('table', { name: 'Limits' });
  await limits.getByRole('row', { name: /^requestsPerSecond 25 / }).waitFor();
  await limits.getByRole('row', { name: /^allowFrom \["203\.0\.113\.0\/24","loopback"\]/ }).waitFor();
  await page.getByRole('button', { name: 'Remove…' }).click();
  await page.getByText(/^\d (person|people), 0 deleted people and 0 groups go/).waitFor();
  await page.getByRole('button', { name: 'Remove okta' }).click();
  await page.getByRole('heading', { level: 1, name: 'Connections', exact: true }).waitFor();
  await page.getByRole('link', { name: 'okta', exact: true }).waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});

const looks = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
  { width: 390, height: 800, colorScheme: 'light' },
  { width: 390, height: 800, colorScheme: 'dark' },
] as const;

test.each(looks)(
  'what the settings file fixes is shown as such, on $width pixels in $colorScheme',
  async ({ width, height, colorScheme }) => {
    const { page, faults } = await fixture.signIn({ viewport: { width, height }, colorScheme });
    await page.goto('/admin/connect/connections/default');
    await page.getByText('The settings file fixes this connection.').waitFor();
    await page.getByText('When a user is deleted, the traveler is archived.').waitFor();
    expect(await page.getByRole('button', { name: /^(Change(?! the mode)|Remove)/ }).count()).toBe(0);
    await takeScreenshot(page, `connection-${width}-${colorScheme}`);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false);
    expect(faults).toEqual([]);
    await page.context().close();
  },
);
