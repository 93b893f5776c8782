import type { Page } from 'playwright-core';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const crew = ['Zoe', 'Yann', 'Xenia', 'Wim', 'Vera', 'Udo', 'Tess', 'Sven', 'Rita', 'Quinn', 'Pia'];

const fixture = pageFixture({
  prepare: async (service) => {
    const idp = scimClient(service.url, service.scimToken);
    await idp.send('POST', '/Users', { userName: 'bob', displayName: 'Bob' });
    await idp.send('POST', '/Users', {
      ...{ userName: 'grace@corp.example', displayName: 'Grace Hopper' },
      [enterprise]: { costCenter: 'R&D', manager: { value: 'bob' } },
    });
    for (const [number, name] of crew.entries())
      await idp.send('POST', '/Users', {
        ...{ userName: `${name}.featherstonehaugh@subsidiary.corp.example`, displayName: `${name} F.` },
        [enterprise]: { employeeNumber: `77-${number}` },
      });
  },
});

async function openPeople(options = {}): Promise<{ page: Page; faults: string[] }> {
  const opened = await fixture.signIn(options);
  await opened.page.goto('/admin/people');
  return opened;
}

test('a person is found by the surname and the keyboard alone, and the page says what is wrong with the cost center', async () => {
  const { page, faults } = await openPeople();
  await page.getByRole('heading', { name: 'People' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('hopper');
  // Enter opens the first person also if the list has not come yet.
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
  const findings = page.getByRole('list', { name: 'Findings' });
  expect(await findings.textContent()).toContain('The travel service has no such cost center.');
  const row = page
    .getByRole('table', { name: 'Fields' })
    .getByRole('row', { name: /^Cost center costCenterId/ });
  expect(await row.textContent()).toMatch(/R&D.*costCenter/);
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: 'Mapping', level: 1 }).waitFor();
  expect(page.url()).toMatch(/\/admin\/mappings\/?\?person=default%2F/);
  const rule = page.getByRole('table', { name: 'Rules besides the mapping' }).locator('[aria-current=true]');
  await rule.waitFor();
  expect(await rule.textContent()).toMatch(
    /^Cost center.*costCenterId.*enterprise:costCenter.*defaults\.costCenter.*everybody, default/,
  );
  await takeScreenshot(page, 'mappings-default-rule-1280-light');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the search finds ten people by a part of an address, and leads to the list of all with a count', async () => {
  const { page, faults } = await openPeople();
  await page.getByRole('heading', { name: 'People' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('stoneHAUGH@sub');
  const options = page.getByRole('option');
  await page.getByRole('option', { name: 'All people with “stoneHAUGH@sub”' }).click();
  await page.getByText('11 people, none of them with findings.').waitFor();
  expect(new URL(page.url()).search).toBe('?search=stoneHAUGH%40sub');
  expect(await page.getByRole('textbox', { name: 'Name, address, number or id' }).inputValue()).toBe(
    'stoneHAUGH@sub',
  );
  const rows = page.getByRole('table', { name: 'People' }).getByRole('row');
  // The rows are drawn after the sum of the list.
  await rows.nth(11).waitFor();
  expect(await rows.count()).toBe(12);
  await page.keyboard.press('/');
  await page.keyboard.type('77-');
  await page.getByRole('option', { name: 'All people with “77-”' }).waitFor();
  await options.nth(10).waitFor();
  expect(await options.count()).toBe(11);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('people are sorted by a click on a column, which is in the address', async () => {
  const { page } = await openPeople();
  const names = page.getByRole('table', { name: 'People' }).locator('.row-link');
  await page.getByRole('columnheader', { name: 'Name', exact: true }).getByRole('button').click();
  await page.waitForURL(/\?sort=name$/);
  await page.reload();
  await page
    .getByRole('columnheader', { name: 'Name', exact: true })
    .and(page.locator('[aria-sort=ascending]'))
    .waitFor();
  const sorted = await names.allTextContents();
  expect(sorted.filter((name) => name.endsWith(' F.'))).toEqual(crew.map((name) => `${name} F.`).reverse());
  await page.getByRole('button', { name: 'Changed' }).click();
  await page.waitForURL(/\?sort=changed$/);
  await page.getByRole('row').filter({ hasText: 'Pia F.' }).waitFor();
  expect((await names.allTextContents()).indexOf('Pia F.')).toBeLessThan(2);
  await page.context().close();
});

test('a click anywhere in a row opens the person, the middle button in another tab, and Enter on the link', async () => {
  const { page } = await openPeople();
  const row = page.getByRole('row').filter({ hasText: 'Pia F.' });
  for (const cell of [1, 2, 4]) {
    // The link of the row lies above the cell.
    await row.getByRole('cell').nth(cell).click({ force: true });
    await page.getByRole('heading', { name: 'Pia F.' }).waitFor();
    await page.goBack();
  }
  const opened = page.context().waitForEvent('page');
  await row.getByRole('cell').nth(1).click({ button: 'middle', force: true });
  await (await opened).getByRole('heading', { name: 'Pia F.' }).waitFor();
  await row.getByRole('link', { name: 'Pia F.' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Pia F.' }).waitFor();
  await page.context().close();
});

test('eight people fit on a narrow screen, and addresses are whole on a wide one', async () => {
  const { page } = await openPeople({ viewport: { width: 390, height: 844 } });
  const cards = page.getByRole('list', { name: 'People' }).getByRole('listitem');
  await cards.nth(8).waitFor();
  const bar = await page.getByRole('navigation', { name: 'Views' }).boundingBox();
  const eighth = await cards.nth(7).boundingBox();
  expect((eighth?.y ?? 0) + (eighth?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
  await page.setViewportSize({ width: 1280, height: 800 });
  const address = page.getByRole('cell', { name: 'Quinn.featherstonehaugh@subsidiary.corp.example' });
  expect(
    await address.locator('div').evaluate((cell) => {
      // The types of the tests do not know elements of a page.
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = Object(cell);
      return [scrollWidth <= clientWidth, scrollHeight <= clientHeight];
    }),
  ).toEqual([true, true]);
  await page.context().close();
});

test.each(['light', 'dark'] as const)(
  'the search with an active row has no serious fault of accessibility in %s',
  async (colorScheme) => {
    const { page } = await openPeople({ colorScheme });
    await page.getByRole('heading', { name: 'People' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('grace');
    await page
      .getByRole('option', { name: /Grace Hopper/ })
      .and(page.locator('[data-combobox-selected]'))
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.context().close();
  },
);

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
  await page.getByRole('option', { name: 'incomplete' }).click();
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
