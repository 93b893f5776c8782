import type { Page } from 'playwright-core';
import { adminClient, signIn } from '../fixtures/admin.ts';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { eventually } from '../fixtures/eventually.ts';
import { playDay, scenariosOf } from '../fixtures/recorded-days.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';

const fixture = pageFixture();

/** The token that the page has just made. */
async function shownToken(page: Page): Promise<string> {
  return (await page.getByText(/^scim_/).textContent()) ?? '';
}

/** Sends a request with a wrong token, and waits until the page could show it. */
async function sendRefused(): Promise<void> {
  const { url } = fixture.service;
  expect((await scimClient(url, 'wrong-token').send('GET', '/Users')).status).toBe(401);
  const client = await signIn(adminClient(url), 'admin', fixture.password);
  await eventually(async () => {
    const { attempts } = (await client('GET', '/recent-attempts?connection=default')).body;
    expect(attempts).toContainEqual(expect.objectContaining({ status: 401 }));
  });
}

test('the wizard begins without earlier errors, shows what arrives, and ends with the first person', async () => {
  await sendRefused();
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 900 } });
  await page.goto('/admin/connect/entra');
  const check = page.getByRole('region', { name: 'Live check' });
  await check.getByText('Waiting for Entra ID’s test call…').waitFor();
  await page.getByRole('button', { name: 'Create a token' }).click();
  const idp: ScimClient = scimClient(fixture.service.url, await shownToken(page));
  await idp.send('GET', '/Users');
  await check.getByText(/✓ Arrived .* ago: 200/).waitFor();
  await check.getByText(/It is done when the first person has arrived/).waitFor();
  await takeScreenshot(page, 'wizard-works-1280-light');
  const created = await idp.send('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    ...{ userName: 'ada@corp.example', name: { givenName: 'Ada', familyName: 'King' } },
    emails: [{ value: 'ada@corp.example', type: 'work' }],
  });
  expect(created.status).toBe(201);
  await check.getByText('✓ Done: people arrive in default').waitFor();
  await check.getByRole('link', { name: 'Ada King' }).waitFor();
  expect(await check.getByText('401').count()).toBe(0);
  await takeScreenshot(page, 'wizard-done-1280-light');
  expect(await accessibilityFaults(page)).toEqual([]);
  await check.getByRole('link', { name: 'Ada King' }).click();
  await page.getByRole('heading', { level: 1, name: 'Ada King' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a connection is made and connected by the wizard, and a recorded day of Okta provisions people into it', async () => {
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 900 } });
  await page.goto('/admin/connect');
  await page.getByRole('button', { name: 'Add a connection' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('okta');
  await page.getByRole('button', { name: 'Add the connection' }).click();
  await page.getByRole('heading', { level: 1, name: 'Connection okta' }).waitFor();
  await page.getByRole('link', { name: '← Connections' }).click();
  await page.getByRole('link', { name: /^Okta/ }).click();
  await page.getByRole('combobox', { name: 'Connection' }).click();
  await page.getByRole('option', { name: 'okta' }).click();
  await page.getByRole('button', { name: 'Create a token' }).click();
  const service = { ...fixture.service, scimToken: await shownToken(page) };
  const day = scenariosOf('okta').slice(0, 5);
  expect((await playDay(service, day)).mismatches).toEqual([]);
  const check = page.getByRole('region', { name: 'Live check' });
  await check.getByText('✓ Done: people arrive in okta').waitFor();
  await check.getByRole('link').first().click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByText('connection okta').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a token is replaced by another one without a failed request of the identity provider', async () => {
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 900 } });
  const make = async (name: string) => {
    await page.goto('/admin/connect/other');
    await page.getByRole('textbox', { name: 'Name, for your own use' }).fill(name);
    await page.getByRole('button', { name: 'Create a token' }).click();
    return shownToken(page);
  };
  const old = await make('before');
  let token = old;
  const statuses: number[] = [];
  let isOver = false;
  const requests = (async () => {
    while (!isOver)
      statuses.push((await scimClient(fixture.service.url, token).send('GET', '/Users')).status);
  })();
  token = await make('after');
  await page.goto('/admin/connect');
  const used = page.getByRole('table', { name: 'Bearer tokens' }).getByRole('row', { name: /^after / });
  await eventually(async () => {
    await page.reload();
    await used.waitFor();
    // It never expires, and was used.
    expect(await used.getByText('never').count()).toBe(1);
  });
  await page.getByRole('button', { name: 'Revoke before' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke before' }).click();
  await page.getByRole('row', { name: /^before / }).waitFor({ state: 'detached' });
  const count = statuses.length;
  await eventually(async () => expect(statuses.length).toBeGreaterThan(count + 5));
  isOver = true;
  await requests;
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect((await scimClient(fixture.service.url, old).send('GET', '/Users')).status).toBe(401);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a workload of Entra ID is trusted by the wizard, and removed on the page of its connection', async () => {
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 1400 } });
  await page.goto('/admin/connect');
  await page.getByRole('button', { name: 'Add a connection' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('entra');
  await page.getByRole('button', { name: 'Add the connection' }).click();
  await page.getByRole('heading', { level: 1, name: 'Connection entra' }).waitFor();
  await page.goto('/admin/connect/entra');
  await page.getByText('Without a secret').click();
  const workload = page.getByRole('region', { name: 'The workload' });
  const tenant = 'ce5f061f-abe6-4e40-9615-301f87bcb7f0';
  const enter = async (subject: string) => {
    await workload.getByRole('textbox', { name: 'Issuer, or the id of your tenant' }).fill(tenant);
    await workload.getByRole('textbox', { name: 'Subject' }).fill(subject);
    await workload.getByRole('textbox', { name: 'Audience' }).fill('api://b5ba7a93');
  };
  await enter('d2f8ee76');
  // The connection of the settings file is changed there.
  await workload.getByText('The settings file fixes the connection default.').waitFor();
  await takeScreenshot(page, 'wizard-workload-file-1280-light');
  await page.getByRole('combobox', { name: 'Connection' }).click();
  await page.getByRole('option', { name: 'entra' }).click();
  await enter('d2f8ee76');
  await workload.getByRole('button', { name: 'Trust this workload' }).click();
  await workload.getByText('✓ entra trusts this workload.').waitFor();
  await page.getByRole('region', { name: 'The connection' }).getByText('entra', { exact: true }).waitFor();
  await takeScreenshot(page, 'wizard-workload-1280-light');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goto('/admin/connect/connections/entra');
  const trusted = page.getByRole('table', { name: 'Workloads' });
  const row = trusted.getByRole('row', {
    name: new RegExp(`^https://login.microsoftonline.com/${tenant}/v2.0 d2f8ee76 api://b5ba7a93`),
  });
  await row.waitFor();
  await row.getByRole('button', { name: 'Remove the workload d2f8ee76' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the workload' }).click();
  await trusted.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});
