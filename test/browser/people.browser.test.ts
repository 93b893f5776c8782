import type { Page } from 'playwright-core';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const fixture = pageFixture({
  prepare: async (service) => {
    const idp = scimClient(service.url, service.scimToken);
    await idp.send('POST', '/Users', { userName: 'bob', displayName: 'Bob' });
    await idp.send('POST', '/Users', {
      ...{ userName: 'grace@corp.example', displayName: 'Grace Hopper' },
      [enterprise]: { costCenter: 'R&D', manager: { value: 'bob' } },
    });
  },
});

async function openPeople(options = {}): Promise<{ page: Page; faults: string[] }> {
  const opened = await fixture.signIn(options);
  await opened.page.goto('/admin/people');
  return opened;
}

test('a person is found by the keyboard alone, and the page says what is wrong with the cost center', async () => {
  const { page, faults } = await openPeople();
  await page.getByRole('heading', { name: 'People' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('grace');
  await page.getByRole('option', { name: /Grace Hopper/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
  const findings = page.getByRole('list', { name: 'Findings' });
  expect(await findings.textContent()).toContain('The travel service has no such cost center.');
  const row = page.getByRole('table', { name: 'Fields' }).getByRole('row', { name: /^costCenterId/ });
  expect(await row.textContent()).toMatch(/R&D.*costCenter/);
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: 'Mappings', level: 1 }).waitFor();
  expect(page.url()).toMatch(/\/admin\/mappings\/?\?person=default%2F/);
  const rule = page.getByRole('table', { name: 'Rules besides the mapping' }).locator('[aria-current=true]');
  await rule.waitFor();
  expect(await rule.textContent()).toMatch(
    /^costCenterId.*enterprise:costCenter.*defaults\.costCenter.*default, always/,
  );
  await takeScreenshot(page, 'mappings-default-rule-1280-light');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a click on an entry of the timeline opens both bodies', async () => {
  const { page } = await openPeople();
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await page.getByRole('button', { name: 'POST /scim/v2/Users' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('region', { name: 'Response ✓ 201' }).waitFor();
  expect(await dialog.getByRole('region', { name: 'Request' }).textContent()).toContain(
    '"costCenter": "R&D"',
  );
  await page.context().close();
});

test('a name that is HTML is shown as text, in the list and on the page of the person', async () => {
  const name = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  const idp = scimClient(fixture.service.url, fixture.service.scimToken);
  const { body } = await idp.send('POST', '/Users', { userName: 'mallory', displayName: name });
  const { page, faults } = await openPeople();
  await page.getByRole('link', { name }).click();
  await page.getByRole('heading', { name }).waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  expect(await page.title()).not.toMatch(/^[12]$/);
  expect(faults).toEqual([]);
  await page.context().close();
  await idp.send('DELETE', `/Users/${body.id}`);
});

test('the filters are in the address, which shows the same people again', async () => {
  const { page } = await openPeople();
  await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'no traveler' }).click();
  await page.getByRole('link', { name: 'Grace Hopper' }).waitFor({ state: 'detached' });
  expect(page.url()).toMatch(/\/admin\/people\/?\?state=pending$/);
  await page.reload();
  await page.getByRole('link', { name: 'Bob' }).waitFor();
  expect(await page.getByRole('link', { name: 'Grace Hopper' }).count()).toBe(0);
  await page.context().close();
});

test.each([
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 390, height: 800, colorScheme: 'dark' },
] as const)(
  'a person has no serious fault of accessibility and fits $width pixels',
  async ({ width, height, colorScheme }) => {
    const { page, faults } = await openPeople({ viewport: { width, height }, colorScheme });
    await page.getByRole('link', { name: 'Grace Hopper' }).click();
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false);
    expect(faults).toEqual([]);
    await takeScreenshot(page, `person-${width}-${colorScheme}`);
    await page.context().close();
  },
);
