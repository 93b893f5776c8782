import { join } from 'node:path';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';

const fixture = pageFixture({ options: { demo: join(__dirname, '../../demo') } });

test('a visitor plays the demo day, learns that its people are invented, and looks at one with a finding', async () => {
  const { page, faults } = await fixture.signIn({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.getByRole('button', { name: 'Play the demo day' }).click();
  await page.getByText('The people here are invented').waitFor();
  await page.getByText('To begin for real, stop the service, remove its data folder').waitFor();
  await page.getByRole('heading', { level: 1, name: /people are in step/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Play the demo day' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await takeScreenshot(page, 'demo-day');
  await page.getByRole('link', { name: 'People', exact: true }).last().click();
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await page.getByText('Correct the phone number in the identity provider').waitFor();
  expect(faults).toEqual([]);
});
