import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { accessibilityFaults, pageFixture, takeScreenshot } from '../fixtures/browser.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const fixture = pageFixture({
  prepare: async (service) => {
    const idp = scimClient(service.url, service.scimToken);
    const people = [
      ['ada', 'CC-999'],
      ['bob', 'CC-999'],
      ['cem', 'CC-1'],
    ];
    for (const [name, costCenter] of people)
      await idp.send('POST', '/Users', {
        ...{ userName: `${name}@corp.example`, displayName: `Zoë ${name}`, [enterprise]: { costCenter } },
      });
  },
});

/** Clicks on "Download CSV" and returns the lines of the file. */
async function download(page: Page): Promise<string[]> {
  const started = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download CSV' }).click();
  return readFileSync(await (await started).path(), 'utf8').split('\r\n');
}

test('a click on a kind of finding shows its values, and one on a value the people, who are downloaded and reconciled', async () => {
  const { page, faults } = await fixture.signIn();
  await page.getByRole('region', { name: 'Findings' }).getByRole('link', { name: '3' }).click();
  await page.getByRole('heading', { name: 'Findings by value' }).waitFor();
  const values = page.getByRole('table', { name: 'Findings by value' });
  await values.getByRole('row', { name: /CC-999.*2 people.*cost center unknown.*costCenterId/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await takeScreenshot(page, 'finding-values-1280-light');
  expect(await download(page)).toContainEqual(
    expect.stringMatching(/^default,costCenterUnknown,costCenterId,CC-1,false,1,/),
  );

  await values.getByRole('link', { name: '2 people' }).click();
  await page.getByText('2 people with these filters.').waitFor();
  await page.reload();
  await page.getByText('2 people with these filters.').waitFor();
  await page.getByRole('button', { name: 'costCenterId: CC-999, remove the filter' }).waitFor();
  const [names, ...people] = await download(page);
  expect(names?.startsWith('\ufeffconnection,id,userName,')).toBe(true);
  expect(people.map((line) => line.split(',')[3])).toEqual(['Zoë ada', 'Zoë bob', undefined]);

  await page.getByRole('button', { name: 'Bring these up to date…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Bring 2 people up to date?' });
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Bring 2 people up to date' }).click();
  await page.getByText('2 people are brought up to date now.').waitFor();
  await page.keyboard.press('Escape');

  await page.goto('/admin/audit');
  await page.getByRole('row', { name: /reconcile people.*value: CC-999.*people: 2/ }).waitFor();
  expect((await download(page))[1]).toContain(',reconcilePeople,200,');
  expect(faults).toEqual([]);
  await page.context().close();
});

const times = 'since=2026-01-01T00:00:00.000Z&until=2126-01-01T00:00:00.000Z';

test.each([
  [
    '/people',
    'connection=default&state=pending&finding=noEmail&field=email&value=x&search=b&sort=name&archived=true',
    '/people',
  ],
  ['/people/findings', 'connection=default&finding=noEmail', '/people/findings'],
  ['/audit', `actor=admin&action=signIn&${times}`, '/audit'],
  [
    '/traffic',
    `connection=default&person=p-1&direction=scim&method=POST&status=2xx&path=%2Fscim&${times}`,
    '/exchanges',
  ],
])('the address of %s has all filters: after a reload the same is shown', async (view, filters, list) => {
  const { page } = await fixture.signIn();
  /** The parameters of the next request for the list. */
  const requested = async (load: () => Promise<unknown>) => {
    const request = page.waitForRequest((one) => new URL(one.url()).pathname === `/admin/api${list}`);
    await load();
    return [...new URL((await request).url()).searchParams];
  };
  const expected = expect.arrayContaining([...new URLSearchParams(filters)]);
  expect(await requested(() => page.goto(`/admin${view}?${filters}`))).toEqual(expected);
  expect(await requested(() => page.reload())).toEqual(expected);
  await page.context().close();
});
