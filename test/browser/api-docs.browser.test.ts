import { pageFixture, takeScreenshot } from '../fixtures/browser.ts';

const fixture = pageFixture();

test('the page /api/docs finds an operation, shows its fields and failures, and copies a call of it', async () => {
  const { page, faults } = await fixture.open({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto('/api/docs');
  await page.getByRole('textbox', { name: 'Filter' }).fill('create a user');
  await page.getByRole('link', { name: 'Create a user' }).click();
  await page.getByRole('heading', { name: 'Create a user' }).waitFor();
  await page.getByRole('button', { name: '409' }).click();
  await page.getByText('Another resource has the same unique value').waitFor();
  await takeScreenshot(page, 'api-docs-1280');
  await page.getByRole('button', { name: 'Python' }).click();
  await page.getByRole('button', { name: /^copy code samples$/i }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('requests.post(');
  expect(faults).toEqual([]);
});
