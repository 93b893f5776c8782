import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { accessibilityFaults, launchBrowser, openPage, signInOnPage } from '../fixtures/browser.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';

let fixture: AdminFixture;
let browser: Browser;
let person: string;
let webhook: string;
beforeAll(async () => {
  fixture = await startAdmin({}, { page: join(__dirname, '../../dist/admin/ui') });
  const { service, admin } = fixture;
  const idp = scimClient(service.url, service.scimToken);
  const { body } = await idp.send('POST', '/Users', { userName: 'grace', displayName: 'Grace Hopper' });
  person = `/admin/people/default/${body.id}`;
  // Disabled: nothing is sent.
  const hook = { url: 'https://expenses.example.com/', disabled: true };
  const made = await admin('POST', '/travel-api/webhooks', { body: { data: hook } });
  webhook = `/admin/travel-data/webhooks/${made.body.data.id}`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await fixture.close();
});

/** The session menu of the frame. */
const ofFrame = ['Signed in as admin', 'Signed in as admin > Keys'];

/** The elements that open a menu, a list of choices or a dialog in each view; after `>`, an element inside the opened one. */
const openers: Record<string, string[]> = {
  '/admin/people': [...ofFrame, 'State', 'Finding'],
  '/admin/mappings': [
    'Versions',
    ...['Which field', 'From what', 'Attribute', 'For whom', 'Add a transform'],
  ],
  '/admin/traffic': ['Keep bodies of reads…', 'Save as scenario', 'Direction', 'Method', 'Status'],
  '/admin/connect': ['Add a connection', 'Revoke first token'],
  '/admin/travel-data/keys': ['Create an API key', 'Create an API key > Acts for', 'Revoke first key'],
  '/admin/travel-data/webhooks': ['Create a webhook', 'Create a webhook > Events'],
  '/admin/travel-data/users': ['Create a user', 'Create a user > Manager'],
  '/admin/audit': ['Who', 'What'],
  '/admin/access/tokens': [
    'Create a token…',
    'Create a token… > Role',
    'Revoke admin of tests',
    'Revoke viewer of tests',
  ],
};

/** Some fifty checks of the page, on a machine that may have other work. */
const TIMEOUT_MS = 300_000;

test(
  'menus, lists of choices and dialogs have no fault of accessibility, close with Escape and give the focus back',
  async () => {
    const { page, faults } = await openPage(browser, fixture.service.url, { reducedMotion: 'reduce' });
    await signInOnPage(page, fixture.password);
    for (const [address, names] of Object.entries(openers)) {
      await open(page, address);
      if (address === '/admin/mappings') await page.getByRole('button', { name: 'Add a rule' }).click();
      expect({
        address,
        ...(await visitAll(page, page.locator(address === '/admin/people' ? 'body' : 'main'), names)),
      }).toEqual({
        address,
        names,
        faults: [],
      });
    }
    const ofDetails: [string, string[]][] = [
      [person, ['POST /scim/v2/Users']],
      [webhook, ['Edit…', 'Edit… > Events', 'Enable…', 'Renew the secret…', 'Delete…']],
    ];
    for (const [address, names] of ofDetails) {
      await open(page, address);
      expect(await visitAll(page, page.locator('main'), names)).toEqual({ names, faults: [] });
    }
    expect(faults).toEqual([]);
    await page.context().close();
  },
  TIMEOUT_MS,
);

test(
  'so do those of the frame on a narrow screen',
  async () => {
    const { page } = await openPage(browser, fixture.service.url, {
      ...{ viewport: { width: 390, height: 800 }, colorScheme: 'dark', reducedMotion: 'reduce' },
    });
    await signInOnPage(page, fixture.password);
    await open(page, '/admin/connect');
    const names = [...ofFrame, 'More', 'Add a connection', 'Revoke first token'];
    expect(await visitAll(page, page.locator('body'), names)).toEqual({ names, faults: [] });
    await page.context().close();
  },
  TIMEOUT_MS,
);

test('the keys open views, the search and their own list, and do nothing while somebody types', async () => {
  const { page } = await openPage(browser, fixture.service.url);
  await signInOnPage(page, fixture.password);
  await open(page, '/admin/overview');
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await page.keyboard.press('Shift+?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.waitFor();
  expect(await keys.getByRole('row').count()).toBe(10);
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  const search = page.getByRole('combobox', { name: 'Search people' });
  await page.keyboard.type('?gp/');
  expect(await search.inputValue()).toBe('?gp/');
  await page.keyboard.press('Escape');
  await search.and(page.locator(':not(:focus)')).waitFor();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Audit');
  await page.context().close();
});

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
}

/**
 * Opens what the listed names open, one after the other, and checks the page. Returns the names of all that opens something
 * before anything is open, each followed by its listed names, and the faults.
 */
async function visitAll(
  page: Page,
  scope: Locator,
  listed: string[],
): Promise<{ names: string[]; faults: string[] }> {
  const [names, faults]: [string[], string[]] = [[], []];
  for (const [index, name] of (await namesIn(scope)).entries()) {
    const nested = listed.filter((one) => one.startsWith(`${name} > `));
    for (const label of [name, ...nested]) {
      names.push(label);
      const [, inner] = label.split(' > ');
      const found = await lookAt(page, openersIn(scope).nth(index), inner);
      faults.push(...found.map((fault) => `${label}: ${fault}`));
    }
  }
  return { names, faults };
}

/**
 * Opens a menu, list or dialog, and what `inner` opens in it; checks the page, closes all with Escape, and checks that the focus
 * is back. Returns the faults of accessibility.
 */
async function lookAt(page: Page, opener: Locator, inner: string | undefined): Promise<string[]> {
  await opener.click();
  await overlays(page).first().waitFor();
  if (inner !== undefined) await openInside(page, inner);
  const faults = await accessibilityFaults(page);
  // A list of choices can open a moment after its dialog, so that the number of keys is not known.
  await eventually(async () => {
    const open = await overlays(page).count();
    if (open === 0) return;
    await page.keyboard.press('Escape');
    throw new Error(`${open} did not close with Escape`);
  });
  await opener.and(page.locator(':focus')).waitFor();
  return faults;
}

/** Opens something from the open menu or dialog, unless it is a list of choices that is open already. */
async function openInside(page: Page, name: string): Promise<void> {
  const panel = page.locator('[role=dialog]:visible, [role=menu]:visible').last();
  const all = openersIn(panel);
  const index = (await namesIn(panel)).indexOf(name);
  if (index < 0) throw new Error(`nothing of the name ${name} opens something`);
  const opener = all.nth(index);
  if ((await opener.getAttribute('aria-haspopup')) !== 'listbox') {
    await opener.click();
    await page.getByRole('dialog').last().waitFor();
    return;
  }
  // By the keyboard: the list of the field before can cover this one, and closes as soon as this field has the focus.
  await opener.focus();
  const isOpen = opener.and(page.locator('[aria-expanded="true"]'));
  if ((await isOpen.count()) === 0) await page.keyboard.press('ArrowDown');
  await isOpen.waitFor();
}

function overlays(page: Page): Locator {
  return page.locator('[role=dialog]:visible, [role=menu]:visible, [role=listbox]:visible');
}

/** The buttons and fields that open something. Those that find people have nothing to show before somebody types. */
function openersIn(scope: Locator): Locator {
  const finders = '[placeholder^="Search"], [placeholder="Person"], [placeholder^="Find "]';
  return scope.locator(`[aria-haspopup]:visible:not([disabled]):not(${finders})`);
}

async function namesIn(scope: Locator): Promise<string[]> {
  const all = await openersIn(scope).all();
  return Promise.all(all.map(nameOf));
}

async function nameOf(opener: Locator): Promise<string> {
  const name = await opener.getAttribute('aria-label');
  const label = opener.page().locator(`label[for="${await opener.getAttribute('id')}"]`);
  return name ?? (await ((await label.count()) > 0 ? label : opener).textContent()) ?? '';
}
