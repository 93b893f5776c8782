// Takes the pictures of the admin page for README.md and docs/admin-page.md: builds, starts a service of its own, plays the demo day, lets
// the identity provider work for an hour, and takes docs/images/*.png. The clock, the time zone, the window and the font are always the same; ids
// and durations in milliseconds differ. CHROMIUM names the browser, /usr/bin/chromium by default.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { withPalette } from './png.mjs';

/** The start of the demo day. */
const START = Date.parse('2026-11-20T09:00:00Z');
const MINUTE_MS = 60_000;
const MINUTES = 56;
const MAX_BYTES = 200_000;
const PASSWORD = 'a-password-of-the-pictures';
const WINDOW = { width: 1200, height: 735 };

const root = fileURLToPath(new URL('..', import.meta.url));
const images = join(root, 'docs/images');
const folder = mkdtempSync(join(tmpdir(), 'jetbridge-pictures-'));
const shiftFile = join(folder, 'shift');
await import('./build.mjs');
setClock(START);
const { url, stop } = await startService();
try {
  await playDemoDay();
  await takePictures();
} finally {
  await stop();
  rmSync(folder, { recursive: true });
}

/** Sets the wall clock of the service, which reads the shift from a file. */
function setClock(time) {
  writeFileSync(shiftFile, String(Math.round(time - Date.now())));
}

async function startService() {
  const preload = pathToFileURL(join(root, 'test/fixtures/shifting-clock.mjs')).href;
  const service = spawn(process.execPath, [join(root, 'dist/main.js'), 'serve'], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, PORT: '0', JETBRIDGE_DATA: join(folder, 'data'), LOG_LEVEL: 'silent' },
      ...{ ADMIN_PASSWORD: PASSWORD, SHIFT_FILE: shiftFile, NODE_OPTIONS: `--import ${preload}` },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  for await (const text of service.stderr) {
    printed += text;
    const [, address] = /serves on (\S+)/.exec(printed) ?? [];
    if (!address) continue;
    const stopService = async () => {
      service.kill('SIGTERM');
      await once(service, 'exit');
    };
    return { url: address, stop: stopService };
  }
  throw new Error(`the service has not started: ${printed}`);
}

/** Plays the demo day, then sends what an identity provider sends within an hour, with a token. */
async function playDemoDay() {
  const signedIn = await send('POST', '/admin/api/sign-in', {}, { name: 'admin', password: PASSWORD });
  const [cookie] = signedIn.headers.get('set-cookie').split(';');
  const headers = { Cookie: cookie, 'X-CSRF-Token': (await signedIn.json()).csrfToken };
  const read = async (path) => (await send('GET', `/admin/api${path}`, headers)).json();
  await send('POST', '/admin/api/demo-day', headers);
  while ((await read('/overview')).demoDay !== 'played') await wait(100);
  const credential = { connection: 'default', name: 'okta', days: 30 };
  const { token } = await (await send('POST', '/admin/api/tokens', headers, credential)).json();
  const { people } = await read('/people');
  const ids = people
    .filter(({ isActive, userName }) => isActive && userName.endsWith('@demo.example'))
    .map(({ id }) => id);
  for (let minute = 1; minute < MINUTES; minute += 1) {
    setClock(START + minute * MINUTE_MS);
    await wait(5);
    await sendMinute(minute, {
      ids,
      headers: { Authorization: `Bearer ${token}`, 'User-Agent': 'Okta SCIM Client 1.0.0' },
    });
  }
}

/** Reads, and now and then a change. The numbers follow from the minute alone. */
async function sendMinute(minute, { ids, headers }) {
  const reads = 3 + ((minute * 7) % 11) + (minute % 13 === 0 ? 14 : 0);
  for (let count = 0; count < reads; count += 1)
    await send('GET', `/scim/v2/Users/${ids[(minute + count) % ids.length]}`, headers);
  if (minute % 3 !== 0) return;
  const path = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';
  const value = ['Research', 'Operations', 'Sales', 'Finance'][minute % 4];
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
  const body = { schemas, Operations: [{ op: 'replace', path, value }] };
  await send('PATCH', `/scim/v2/Users/${ids[(minute / 3) % 3]}`, headers, body);
}

async function send(method, path, headers, body) {
  const type = path.startsWith('/scim') ? 'application/scim+json' : 'application/json';
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body ? { 'Content-Type': type } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function takePictures() {
  mkdirSync(images, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-sync',
    ],
    env: { ...process.env, FONTCONFIG_FILE: fontSettings() },
  });
  const now = START + MINUTES * MINUTE_MS;
  setClock(now);
  const page = await browser.newPage({
    ...{ baseURL: url, viewport: WINDOW, timezoneId: 'UTC', locale: 'en-GB', colorScheme: 'light' },
    deviceScaleFactor: 2,
  });
  await page.clock.install({ time: now });
  await page.goto('/admin');
  await page.getByRole('textbox', { name: 'Name' }).fill('admin');
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Traffic' }).locator('canvas').waitFor();
  await take(page, 'overview');
  await page.goto('/admin/people');
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await page.getByRole('heading', { name: 'Fields' }).waitFor();
  await take(page, 'person');
  await browser.close();
}

async function take(page, name) {
  await page.waitForLoadState('networkidle');
  await page.mouse.move(0, 0);
  const picture = withPalette(await page.screenshot({ animations: 'disabled' }));
  if (picture.length > MAX_BYTES)
    throw new Error(`the picture ${name} has ${picture.length} bytes, and may have ${MAX_BYTES}`);
  writeFileSync(join(images, `${name}.png`), picture);
}

/** Settings by which the page has the same font on every Linux machine that has it. */
function fontSettings() {
  const file = join(folder, 'fonts.conf');
  const prefer = (family) =>
    `<match target="pattern"><test name="family"><string>${family}</string></test><edit name="family" mode="assign" binding="strong"><string>Liberation Sans</string></edit></match>`;
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include>/etc/fonts/fonts.conf</include>${['system-ui', 'sans-serif'].map(prefer).join('')}</fontconfig>`,
  );
  return file;
}
