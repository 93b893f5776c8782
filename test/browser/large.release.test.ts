import type { Page } from 'playwright-core';
import { adminClient, signIn } from '../fixtures/admin.ts';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const PEOPLE = 2_000;
const SENT_AT_ONCE = 20;
const RULES = 200;
const CONDITIONS = 40;

/** Names of 80 characters, with and without a place to break, and names that are read from right to left. */
const names = {
  long: 'Maximiliana Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh of Berg-Thal X',
  unbroken: 'X'.repeat(80),
  hebrew: 'מונה אבו-עלי בת־שבע כהן',
  arabic: 'محمد بن موسى الخوارزمي',
};

const ids: Record<string, string> = {};

const fixture = pageFixture({
  prepare: async ({ url, scimToken }) => {
    const { send } = scimClient(url, scimToken);
    for (const [key, displayName] of Object.entries(names)) {
      const userName = `${key === 'unbroken' ? 'u'.repeat(80) : key}@corp.example`;
      ids[key] = (await send('POST', '/Users', { userName, displayName })).body.id;
    }
    const members = Object.values(ids).map((value) => ({ value }));
    for (const displayName of [names.long, names.unbroken, names.hebrew])
      await send('POST', '/Groups', { displayName, members });
    for (let sent = 0; sent < PEOPLE; sent += SENT_AT_ONCE)
      await Promise.all(
        Array.from({ length: SENT_AT_ONCE }, (_, at) =>
          send('POST', '/Users', {
            userName: `p${sent + at}@corp.example`,
            displayName: `Person ${sent + at}`,
          }),
        ),
      );
    const admin = await signIn(adminClient(url), 'admin', fixture.password);
    for (let number = 0; number < CONDITIONS; number += 1)
      await admin('POST', '/tokens', { body: { connection: 'default', name: `short ${number}`, days: 1 } });
    const { generation } = (await admin('GET', '/mappings/default')).body.version;
    const scimUserMapping = Array.from({ length: RULES }, (_, number) => ({
      ...{ scimAttribute: 'nickName', userAttribute: 'firstName', when: `userType eq "Kind ${number}"` },
    }));
    const text = JSON.stringify({ scimUserMapping });
    expect((await admin('PUT', '/mappings/default', { body: { text, generation } })).status).toBe(200);
  },
});

const looks = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 390, height: 800, colorScheme: 'dark' },
] as const;

async function open({ width, height, colorScheme }: (typeof looks)[number]) {
  return fixture.signIn({ viewport: { width, height }, colorScheme });
}

/** The page fits its width, and has no fault. */
async function expectInOrder(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  await takeScreenshot(page, `large-${name}`);
  const isTooWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
  expect([name, isTooWide, await accessibilityFaults(page)]).toEqual([name, false, []]);
}

test.each(looks)(
  'names of 80 characters and from right to left fit $width pixels',
  async (look) => {
    const { page, faults } = await open(look);
    for (const [key, name] of Object.entries(names)) {
      await page.goto(`/admin/people?search=${key === 'unbroken' ? 'uuuuuu' : key}`);
      await page.getByRole('link', { name }).waitFor();
      await expectInOrder(page, `${key} in a list`);
      await page.goto(`/admin/people/default/${ids[key]}`);
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await expectInOrder(page, key);
    }
    for (const view of ['people/groups', 'people/findings', 'travel-data/users?search=X', 'traffic']) {
      await page.goto(`/admin/${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectInOrder(page, view);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  },
  120_000,
);

test.each(looks)('two thousand people are scrolled through to the end, on $width pixels', async (look) => {
  const { page, faults } = await open(look);
  await page.goto('/admin/people');
  await page.getByText(/^2,004 people, /).waitFor();
  const rows = page.locator('.row-link');
  await rows.first().waitFor();
  await eventually(async () => {
    await page.mouse.wheel(0, 1_000_000);
    expect(await page.getByText('2,004 people.').count()).toBe(1);
  });
  await page.getByRole('link', { name: names.unbroken }).waitFor();
  expect(await rows.count()).toBeLessThan(100);
  await expectInOrder(page, 'people at the end');
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each(looks)('of forty conditions the first ten are shown, then all, on $width pixels', async (look) => {
  const { page, faults } = await open(look);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByRole('listitem').nth(9).waitFor();
  expect(await attention.getByRole('listitem').count()).toBe(10);
  await attention.getByRole('button', { name: /^Show all/ }).click();
  await attention
    .getByRole('listitem')
    .nth(CONDITIONS - 1)
    .waitFor();
  await expectInOrder(page, 'conditions');
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each(looks)(
  'a mapping of 200 rules is shown, and the last rule changed, on $width pixels',
  async (look) => {
    const { page, faults } = await open(look);
    await page.goto('/admin/mappings');
    await page.getByText('userType is Kind 199').waitFor();
    await expectInOrder(page, 'rules');
    await page.getByRole('button', { name: 'Edit the rule for First name' }).last().click();
    const form = page.getByRole('region', { name: 'Rule 200: First name' });
    await form.getByRole('combobox', { name: 'Value of these people' }).fill('Kind 0 again');
    await page.getByText('userType is Kind 0 again').waitFor();
    await page.getByText('This would change nobody of').waitFor();
    await form.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Versions' }).click();
    await page.getByRole('button', { name: '200 rules added' }).click();
    await page.getByText('+ First name ← nickName, for userType is Kind 199').waitFor();
    await expectInOrder(page, 'versions');
    expect(faults).toEqual([]);
    await page.context().close();
  },
  120_000,
);
