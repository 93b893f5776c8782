import type { Page } from 'playwright-core';
import { helpPages } from '../../src/admin/ui/help.ts';
import { accessibilityFaults, pageFixture, signInOnPage, takeScreenshot } from '../fixtures/browser.ts';
import { playDay, scenariosOf } from '../fixtures/recorded-days.ts';
import { scimClient } from '../fixtures/scim-client.ts';

let views: string[];
/** The address of each view, and of each place in a view. */
const places = Object.keys(helpPages).map((path) => `/admin${path}`);
const personName = 'Grace Hopper';
let personId: string;
const fixture = pageFixture({
  prepare: async (service) => {
    await playDay(service, scenariosOf('okta').slice(0, 15));
    const idp = scimClient(service.url, service.scimToken);
    const { body } = await idp.send('POST', '/Users', { userName: 'grace', displayName: personName });
    personId = body.id;
    for (let count = 0; count < 150; count += 1) await idp.send('GET', '/Users?count=1');
  },
});
beforeAll(async () => {
  const { page } = await fixture.signIn();
  views = await viewsOf(page);
  await page.context().close();
});

/** The address of each view in the navigation. */
async function viewsOf(page: Page): Promise<string[]> {
  const links = await page.getByRole('navigation', { name: 'Views' }).getByRole('link').all();
  return Promise.all(links.map(async (link) => (await link.getAttribute('href')) ?? ''));
}

const widths = [1280, 390];
const height = 800;
const schemes = ['light', 'dark'] as const;

/** Calls `look` with each colour scheme. The page follows that of the system without being loaded again. */
async function inEachScheme(page: Page, look: (scheme: string) => Promise<void>): Promise<void> {
  for (const scheme of schemes) {
    await page.emulateMedia({ colorScheme: scheme });
    await look(scheme);
  }
}

test.each(widths)(
  'each view has a heading, no fault, no serious fault of accessibility, and fits %d pixels, in light and dark',
  async (width) => {
    const { page, faults } = await fixture.open({ viewport: { width, height } });
    const found: string[] = [];
    const examine = (name: string) =>
      inEachScheme(page, async (scheme) => {
        await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' });
        const ofView = await accessibilityFaults(page);
        found.push(...ofView.map((fault) => `${name} in ${scheme}: ${fault}`));
        const isTooWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
        if (isTooWide) found.push(`${name}: wider than ${width} pixels`);
        await takeScreenshot(page, `${name}-${width}-${scheme}`);
      });
    await page.goto('/admin');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await examine('sign-in');
    await signInOnPage(page, fixture.password);
    for (const href of places) {
      await page.goto(href);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      await examine(href.split('/').at(-1) ?? '');
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  120_000,
);

test('each view has a link to its document', async () => {
  const { page } = await fixture.signIn();
  for (const href of places) {
    await page.goto(href);
    const help = page.getByRole('link', { name: 'Help' });
    await help.waitFor();
    const address = Object.entries(helpPages).find(([path]) => href === `/admin${path}`)?.[1];
    expect([href, await help.getAttribute('href')]).toEqual([href, `/docs/${address}`]);
  }
  await page.context().close();
});

test.each(widths)(
  'a document has no serious fault of accessibility, and fits %d pixels, in light and dark',
  async (width) => {
    const { page, faults } = await fixture.open({ viewport: { width, height } });
    for (const name of ['index', 'operations/alerts', 'operations/somebody-has-no-traveler', 'settings']) {
      await page.goto(`/docs/${name}.html`);
      await inEachScheme(page, async (scheme) => {
        expect([name, scheme, await accessibilityFaults(page)]).toEqual([name, scheme, []]);
        const isTooWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
        expect([name, isTooWide]).toEqual([name, false]);
        await takeScreenshot(page, `docs-${name.replace('/', '-')}-${width}-${scheme}`);
      });
    }
    expect(faults).toEqual([]);
    await page.context().close();
  },
);

test('on a narrow screen the less frequent views are in a menu', async () => {
  const { page } = await fixture.signIn({ viewport: { width: 390, height: 800 } });
  const inBar = await viewsOf(page);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Settings' }).waitFor();
  const items = await page.getByRole('menuitem').all();
  const inMenu = await Promise.all(items.map(async (item) => (await item.getAttribute('href')) ?? ''));
  expect([...inBar, ...inMenu].toSorted()).toEqual(views.toSorted());
  await page.getByRole('menuitem', { name: 'Settings' }).click();
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Audit');
  await page.context().close();
});

test('of a long list of exchanges, only those in view are in the document', async () => {
  const { page } = await fixture.signIn();
  await page.goto('/admin/traffic');
  const firstPage = await page.waitForResponse(/exchanges\?hidesPolls=true&limit=100$/);
  const { exchanges } = await firstPage.json();
  expect(exchanges).toHaveLength(100);
  const rows = page.getByRole('table', { name: 'Exchanges' }).getByRole('row');
  await rows.nth(1).waitFor();
  expect(await rows.count()).toBeLessThan(60);
  const older = page.waitForResponse(/exchanges\?.*before=/);
  await page.mouse.wheel(0, 100_000);
  expect((await older).status()).toBe(200);
  await page.context().close();
});

test('on a narrow screen traffic is filtered by the name of a person, behind a button', async () => {
  const { page } = await fixture.signIn({ viewport: { width: 390, height: 800 } });
  await page.goto('/admin/traffic');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Person', exact: true }).fill(personName);
  await page.getByRole('option', { name: personName }).waitFor();
  await page.keyboard.press('Enter');
  const chip = page.getByRole('button', { name: `Person ${personName}, remove the filter` });
  await chip.waitFor();
  expect(new URL(page.url()).searchParams.get('person')).toBe(personId);
  await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
  await page
    .getByRole('list', { name: 'Exchanges' })
    .getByRole('link', { name: personName })
    .first()
    .waitFor();
  await chip.click();
  await page.getByRole('combobox', { name: 'Person', exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.context().close();
});

test('a session that ends elsewhere shows the form again', async () => {
  const { page } = await fixture.signIn();
  const second = await page.context().newPage();
  await second.goto('/admin/audit');
  await second.getByRole('button', { name: 'Signed in as admin' }).click();
  await second.getByRole('menuitem', { name: 'Sign out' }).click();
  await second.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.goto('/admin/audit');
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.context().close();
});

test('a wrong password is told, and what was typed stays', async () => {
  const { page } = await fixture.open();
  await page.goto('/admin');
  await page.getByRole('textbox', { name: 'Name' }).fill('grace');
  await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('The name or the password is wrong.');
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('grace');
  await page.context().close();
});

test('at sign-in the first field has the focus, and after a failure the password, which what is typed replaces', async () => {
  const { page } = await fixture.open();
  await page.goto('/admin');
  await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('admin');
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('admin');
  await page.keyboard.press('Tab');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.getByRole('textbox', { name: 'Password' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type(fixture.password);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Views' }).waitFor();
  await page.context().close();
});

test('Traffic hides the calls that the bridge makes at an interval, until a switch shows them', async () => {
  const { page } = await fixture.signIn();
  await page.goto('/admin/traffic?direction=travel');
  const rows = page.getByRole('table', { name: 'Exchanges' }).getByRole('row');
  await rows.filter({ hasText: 'POST /api/users' }).first().waitFor();
  const ofFeed = rows.filter({ hasText: 'GET /api/cost-centers' });
  expect(await ofFeed.count()).toBe(0);
  await page.getByRole('switch', { name: 'Calls at an interval' }).click();
  await ofFeed.first().waitFor();
  expect(new URL(page.url()).search).toBe('?direction=travel&polls=true');
  await page.context().close();
});

test('on a narrow screen the tabs stay in one row, and the chosen one is in view', async () => {
  const { page } = await fixture.signIn({ viewport: { width: 390, height: 844 } });
  await page.goto('/admin/travel-data/sample-data');
  const tabs = page.getByRole('navigation', { name: 'Places of the view' }).getByRole('link');
  await tabs.filter({ hasText: 'Sample data' }).waitFor();
  const boxes = await Promise.all((await tabs.all()).map((tab) => tab.boundingBox()));
  expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
  const chosen = boxes.at(-1);
  expect((chosen?.x ?? 0) + (chosen?.width ?? 0)).toBeLessThanOrEqual(390);
  await page.context().close();
});

test('without scripts the page says what it needs', async () => {
  const { page } = await fixture.open({ javaScriptEnabled: false });
  await page.goto('/admin');
  expect(await page.locator('noscript').textContent()).toContain('The admin page needs JavaScript.');
  await page.context().close();
});
