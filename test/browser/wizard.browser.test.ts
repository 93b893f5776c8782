import { adminClient, signIn } from '../fixtures/admin.ts';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';

const fixture = pageFixture();

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
  const secret = page.getByText(/^scim_/);
  const idp: ScimClient = scimClient(fixture.service.url, (await secret.textContent()) ?? '');
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
