import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { accessibilityFaults, launchBrowser, openPage, signInOnPage } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';

let fixture: AdminFixture;
let browser: Browser;
let person: string;
let webhook: string;
beforeAll(async () => {
  fixture = await startAdmin({}, { page: join(__dirname, '../../dist/admin/ui') });
  const { service, admin } = fixture;
  await admin('POST', '/accounts', { body: { name: 'bob', role: 'viewer' } });
  const idp = scimClient(service.url, service.scimToken);
  const { body } = await idp.send('POST', '/Users', { userName: 'grace', displayName: 'Grace Hopper' });
  person = `/admin/people/default/${body.id}`;
  // Disabled: nothing is sent.
  const hook = { url: 'https://expenses.example.com/', disabled: true };
  const made = await admin('POST', '/travel/webhooks', { body: hook });
  webhook = `/admin/travel/webhooks/${made.body.webhook.id}`;
  browser = await launchBrowser();
}, 120_000);
afterAll(async () => {
  await browser.close();
  await fixture.close();
});

/** The account of the frame. */
const ofFrame = [
  'Signed in as admin',
  'Signed in as admin > Change your password…',
  'Signed in as admin > Keys',
];

/** What opens a menu, a list of choices or a dialog in each view; after `>`, what the menu or dialog opens itself. */
const openers: Record<string, string[]> = {
  '/admin/people': [...ofFrame, 'State', 'Finding'],
  '/admin/mappings': ['Versions', 'Add a rule', 'Person'],
  '/admin/traffic': ['Keep bodies of reads…', 'Save as scenario', 'Direction', 'Method', 'Status'],
  '/admin/connect': ['Revoke first token'],
  '/admin/travel': [...['Create an API key', 'Create an API key > Acts for', 'Revoke first key']],
  '/admin/travel/webhooks': ['Create a webhook', 'Create a webhook > Events'],
  '/admin/audit': ['Who', 'What'],
  '/admin/accounts': [
    ...['Add an account…', 'Add an account… > Role', 'Change bob'],
    ...['Change bob > Make admin…', 'Change bob > Reset the password…', 'Change bob > Revoke bob…'],
  ],
  '/admin/accounts/tokens': [
    'Create a token…',
    'Create a token… > Role',
    'Revoke admin of tests…',
    'Revoke viewer of tests…',
  ],
};

/** Tests are read by people who do not know how long a machine under load takes. */
const TIMEOUT_MS = 300_000;

test(
  'menus, lists of choices and dialogs have no fault of accessibility, close with Escape and give the focus back',
  async () => {
    const { page, faults } = await openPage(browser, fixture.service.url, { reducedMotion: 'reduce' });
    await signInOnPage(page, fixture.password);
    for (const [address, names] of Object.entries(openers)) {
      await open(page, address);
      if (address === '/admin/mappings') await page.getByText('Table', { exact: true }).click();
      expect({
        address,
        ...(await visitAll(page, page.locator(address === '/admin/people' ? 'body' : 'main'))),
      }).toEqual({
        address,
        names,
        faults: [],
      });
    }
    await open(page, person);
    expect(await visitAll(page, page.locator('main'))).toEqual({
      names: ['POST /scim/v2/Users'],
      faults: [],
    });
    await open(page, webhook);
    expect(await visitAll(page, page.locator('main'))).toEqual({
      names: ['Edit…', 'Edit… > Events', 'Delete…'],
      faults: [],
    });
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
    const names = [...ofFrame, 'More', 'Revoke first token'];
    expect(await visitAll(page, page.locator('body'))).toEqual({ names, faults: [] });
    await page.context().close();
  },
  TIMEOUT_MS,
);

test('the keys open views, the search and their own list, and do nothing while somebody types', async () => {
  const { page } = await openPage(browser, fixture.service.url);
  await signInOnPage(page, fixture.password);
  await open(page, '/admin/overview');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await page.keyboard.press('Shift+?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.waitFor();
  expect(await keys.getByRole('row').count()).toBe(11);
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

/** Opens all that can be opened, also from what has been opened. Returns the names of what opened it, and the faults. */
async function visitAll(page: Page, scope: Locator): Promise<{ names: string[]; faults: string[] }> {
  const [names, faults]: [string[], string[]] = [[], []];
  const visit = async (path: number[], label: string): Promise<void> => {
    names.push(label);
    const found = await lookAt(page, scope, path);
    faults.push(...found.faults.map((fault) => `${label}: ${fault}`));
    for (const [index, name] of found.nested.entries()) await visit([...path, index], `${label} > ${name}`);
  };
  for (const [index, name] of (await namesIn(scope)).entries()) await visit([index], name);
  return { names, faults };
}

/** Opens one thing from another, each by its place, and checks the page. Closes all, and returns what the last one opens itself. */
async function lookAt(
  page: Page,
  scope: Locator,
  path: number[],
): Promise<{ faults: string[]; nested: string[] }> {
  let within = scope;
  for (const index of path) {
    await openersIn(within).nth(index).click();
    within = overlayOf(page);
    await within.waitFor();
  }
  const [faults, nested] = [await accessibilityFaults(page), await namesIn(within)];
  for (let count = await overlays(page).count(); count > 0; count -= 1) await page.keyboard.press('Escape');
  await overlayOf(page).waitFor({ state: 'detached' });
  const first = openersIn(scope).nth(path[0] ?? 0);
  await first.and(page.locator(':focus')).waitFor();
  return { faults, nested };
}

function overlays(page: Page): Locator {
  return page.locator('[role=dialog]:visible, [role=menu]:visible, [role=listbox]:visible');
}

/** The open menu, list of choices or dialog on top of the others. */
function overlayOf(page: Page): Locator {
  return overlays(page).last();
}

/** The buttons and fields that open something. The search has nothing to show before somebody types. */
function openersIn(scope: Locator): Locator {
  return scope.locator('[aria-haspopup]:visible:not([disabled]):not([aria-label="Search people"])');
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
