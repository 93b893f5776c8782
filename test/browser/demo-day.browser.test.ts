import { join } from 'node:path';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';

const fixture = pageFixture({ options: { demo: join(__dirname, '../../demo') } });

test('a visitor plays the demo day, looks at a person with a finding, and removes it', async () => {
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.getByRole('button', { name: 'Play the demo day' }).click();
  await page.getByText('You see the demo day').waitFor();
  await page.getByRole('heading', { level: 1, name: '19 of 21 people are in step' }).waitFor();
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
