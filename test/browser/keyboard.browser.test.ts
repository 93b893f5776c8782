import type { Locator, Page } from 'playwright-core';
import { pageFixture } from '../fixtures/browser.ts';
import { patchOp } from '../fixtures/scim.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const policies = { safetyValve: { share: 0, minimum: 1, windowMinutes: 60 } };
const settings = writeSettingsFile({}, { default: { policies } });
afterAll(() => settings.remove());

const fixture = pageFixture({
  environment: { JETBRIDGE_CONFIG: settings.path },
  prepare: async ({ url, scimToken }) => {
    const { send } = scimClient(url, scimToken);
    for (const name of ['ada', 'bob', 'cyd', 'dan']) {
      const userName = `${name}@corp.example`;
      const { body } = await send('POST', '/Users', {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        ...{ userName, active: true, nickName: `The ${name}`, emails: [{ value: userName, primary: true }] },
        name: { givenName: name, familyName: 'Keys' },
      });
      if (name !== 'dan')
        await send('PATCH', `/Users/${body.id}`, patchOp({ op: 'replace', path: 'active', value: false }));
    }
  },
});

const MAX_TABS = 150;

/** Presses Tab until the target has the focus, which must be seen. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let pressed = 0; pressed < MAX_TABS; pressed += 1) {
    if ((await target.and(page.locator(':focus-visible')).count()) > 0) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${target} is not reached with ${key}`);
}

/** Presses a button or follows a link, reached with Tab. */
async function pressWithKeys(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await tabTo(page, target, key);
  await page.keyboard.press('Enter');
}

async function goTo(page: Page, key: string, heading: string): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press(key);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}

test('held departures are decided with the keyboard alone', async () => {
  const { page, faults } = await fixture.signIn();
  await goTo(page, 'd', 'Decisions');
  await pressWithKeys(page, page.getByRole('button', { name: 'Approve all 2' }));
  const dialog = page.getByRole('dialog', { name: 'Approve for 2 people?' });
  await pressWithKeys(page, dialog.getByRole('button', { name: 'Approve for 2 people' }));
  await page.getByText('Approved for 2 people.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a rule is added, put in force and taken back with the keyboard alone', async () => {
  const { page, faults } = await fixture.signIn();
  await goTo(page, 'm', 'Mapping');
  await pressWithKeys(page, page.getByRole('button', { name: 'Add a rule' }));
  await tabTo(page, page.getByRole('combobox', { name: 'Which field' }));
  await page.keyboard.type('Last');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('combobox', { name: 'Attribute', exact: true }));
  await page.keyboard.type('nickName');
  const form = page.getByRole('region', { name: 'Rule 1: Last name' });
  await pressWithKeys(page, form.getByRole('button', { name: 'Done' }));
  await page.getByText(/^This would change \d/).waitFor();
  await pressWithKeys(page, page.getByRole('button', { name: 'Apply…' }), 'Shift+Tab');
  await pressWithKeys(page, page.getByRole('button', { name: 'Apply to default' }));
  await page.getByText(/Version 2 of default, by admin/).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await pressWithKeys(page, page.getByRole('button', { name: 'Versions' }));
  await pressWithKeys(page, page.getByRole('button', { name: 'Restore version 1…' }));
  await pressWithKeys(page, page.getByRole('button', { name: 'Restore version 1', exact: true }));
  await page.getByText(/Version 3 of default, by admin/).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a token is made and a cost center created with the keyboard alone', async () => {
  const { page, faults } = await fixture.signIn();
  await goTo(page, 'c', 'Connections');
  await pressWithKeys(page, page.getByRole('link', { name: /^Okta/ }));
  await pressWithKeys(page, page.getByRole('button', { name: 'Create a token' }));
  await page.getByText(/^scim_/).waitFor();
  await goTo(page, 'v', 'Travel data');
  await pressWithKeys(page, page.getByRole('link', { name: 'Cost centers' }));
  await pressWithKeys(page, page.getByRole('button', { name: 'Create a cost center' }));
  await page.getByRole('textbox', { name: 'Name', exact: true }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('Legal');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Legal' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
