// Prints how long scripts run until Overview and People of the built page are there: node scripts/bench/first-paint.mjs [people].
// The figures are CPU time of the main thread of the page. CHROMIUM names the browser, /usr/bin/chromium by default.
import { chromium } from 'playwright-core';
import { dataFolder } from './data.mjs';
import { jetbridge } from './service.mjs';
import { spread } from './statistics.mjs';
import { workplace } from './workplace.mjs';

const ROUNDS = 7;
const PASSWORD = 'a-password-of-the-bench';
/** What is there when a view is painted. */
const VIEWS = { overview: 'h1', people: 'tbody tr:nth-child(10)' };

const place = workplace();
try {
  const { folder } = await dataFolder(place, Number(process.argv[2] ?? 1_000));
  const environment = { JETBRIDGE_DATA: folder, ADMIN_PASSWORD: PASSWORD };
  const { url } = await jetbridge(place, 'first-paint', environment);
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  place.onClose(() => browser.close());
  const context = await browser.newContext({ baseURL: url });
  await signIn(await context.newPage());
  for (const [view, selector] of Object.entries(VIEWS)) {
    const figures = [];
    for (let round = 0; round < ROUNDS; round += 1) figures.push(await scriptTime(context, view, selector));
    const { median, min, max } = spread(figures);
    const [shown, least, most] = [median, min, max].map((ms) => ms.toFixed(0));
    process.stdout.write(`${view}: ${shown} ms of script (${least} to ${most})\n`);
  }
} finally {
  await place.close();
}

async function signIn(page) {
  await page.goto('/admin');
  await page.getByRole('textbox', { name: 'Name' }).fill('admin');
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Views' }).waitFor();
}

/** The time for which scripts run until a view is there, in milliseconds. Each round has a tab of its own. */
async function scriptTime(context, view, selector) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(`/admin/${view}`);
  await page.locator(selector).first().waitFor();
  const { metrics } = await session.send('Performance.getMetrics');
  await page.close();
  return metrics.find(({ name }) => name === 'ScriptDuration').value * 1_000;
}
