import { join } from 'node:path';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const fixture = pageFixture({ options: { demo: join(__dirname, '../../demo') } });

test('a visitor plays the demo day, looks at a person with a finding, and removes it', async () => {
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.getByRole('button', { name: 'Play the demo day' }).click();
  await page.getByText('The demo day is on this service').waitFor();
  await page.getByRole('heading', { level: 1, name: 'Demo day: 18 of 20 people are in step' }).waitFor();
  expect(await page.getByText('(done)').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await takeScreenshot(page, 'demo-day');
  await page.getByRole('link', { name: 'People', exact: true }).last().click();
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await page.getByText('Correct the phone number in the identity provider').waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByRole('button', { name: 'Remove the demo day' }).click();
  const question = page.getByRole('dialog', { name: 'Remove the demo day?' });
  await question.getByRole('button', { name: 'Remove the demo day' }).click();
  await page
    .getByRole('heading', { level: 1, name: 'No identity provider has sent a person yet.' })
    .waitFor();
  await page.getByRole('button', { name: 'Play the demo day' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('beside real people the demo day is played from Travel service, and the Overview speaks of them alone', async () => {
  const { url, scimToken } = fixture.service;
  await scimClient(url, scimToken).send('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    ...{ userName: 'real@corp.example', name: { givenName: 'Real', familyName: 'Person' } },
    emails: [{ value: 'real@corp.example', type: 'work', primary: true }],
  });
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto('/admin/travel/sample-data');
  await page.getByRole('button', { name: 'Play the demo day' }).click();
  await page.getByText('The demo day is on this service').waitFor();
  await takeScreenshot(page, 'demo-day-in-sample-data');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goto('/admin/overview');
  await page.getByRole('heading', { level: 1, name: 'All 2 people are in step' }).waitFor();
  await takeScreenshot(page, 'demo-day-beside-real-people');
  await page.getByText('The demo day is on this service').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
