import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../fixtures/command-line.ts';
import { home, runJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { startService } from '../fixtures/service.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const KEY = 'the-key-of-the-first-administrator';
const few = ['sample-data', '--users', '30', '--trips', '20', '--now', '2026-11-20'];

/** An empty data folder for each test. */
let folder: ReturnType<typeof temporaryFolder>;
let environment: Record<string, string>;
beforeEach(() => {
  folder = temporaryFolder();
  environment = { JETBRIDGE_DATA: join(folder.path, 'data'), TRAVEL_API_KEY: KEY };
});
afterEach(() => folder.remove());

it('creates a company before the first start, and prints its contents and requests to try', async () => {
  const ran = await runCommandLine(few, environment);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.out).toContain('Corvanne is there, its addresses end with @corvanne.example.\n');
  expect(ran.out).toMatch(/│ users +│ 30 +│/);
  expect(ran.out).toMatch(/│ trip projects +│ 20 +│/);
  const server = await startService(environment);
  // Every printed request works, sent to the port of this server.
  const paths = [...ran.out.matchAll(/^curl .*"http:\/\/127\.0\.0\.1:8080(\/api\/[^"]+)"$/gm)].map(
    (m) => m[1],
  );
  expect(paths.length).toBeGreaterThan(3);
  for (const path of paths) {
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
    expect({ path, status: answer.status }).toEqual({ path, status: 200 });
  }
  await server.close();
});

it('the same seed creates the same company, and is refused if the company exists', async () => {
  const again = await runCommandLine(few, environment);
  const elsewhere = await runCommandLine(few, { ...environment, JETBRIDGE_DATA: join(folder.path, 'other') });
  expect(again.out).toBe(elsewhere.out);
  const refused = await runCommandLine(few, environment);
  expect(refused).toEqual({
    code: 1,
    out: '',
    err: 'Corvanne (corvanne.example) is here already, perhaps of a run that was ended early: choose another --seed.\n',
  });
  const another = await runCommandLine([...few, '--seed', '2'], environment);
  expect(another).toMatchObject({ code: 0, err: '' });
  expect(another.out).toContain('Solvane is there');
});

it('works while a server runs, whose clients go on reading and writing', async () => {
  const server = await startService(environment);
  try {
    const admin = travelAdmin(server.url, KEY);
    let done = false;
    const making = runJetbridge(['sample-data', '--users', '3000', '--trips', '30'], environment).finally(
      () => {
        done = true;
      },
    );
    let written = 0;
    // A refused request throws and ends the test.
    for (; !done; written += 1) await admin.make('/cost-centers', { name: `Written meanwhile ${written}` });
    expect(await making).toMatchObject({ code: 0, err: '' });
    expect(written).toBeGreaterThan(2);
    expect(await admin.travelers()).toHaveLength(3001);
  } finally {
    await server.close();
  }
});

it('is created in the embedded travel service only', async () => {
  const real = { ...environment, TRAVEL_API_URL: 'http://127.0.0.1:1' };
  expect(await runCommandLine(few, real)).toEqual({
    code: 1,
    out: '',
    err: 'No connection uses the embedded travel service: sample data is made nowhere else.\n',
  });
});

it('an account with a mandatory custom field is refused', async () => {
  const server = await startService(environment);
  const field = { dataType: 'text', mandatory: true, name: 'Badge', resourceType: 'user' };
  await travelAdmin(server.url, KEY).make('/custom-fields', field);
  await server.close();
  expect(await runCommandLine(few, environment)).toEqual({
    code: 1,
    out: '',
    err: 'The custom field "Badge" is mandatory, and sample data has nothing for it.\n',
  });
});

it('other commands load neither the lists of names nor the service', async () => {
  // A loader hook of Node prints the URL of every module that is loaded.
  const hooks = asModule(`import { writeSync } from 'node:fs';
    export async function load(url, context, next) {
      writeSync(2, url + '\\n');
      return next(url, context);
    }`);
  const registering = asModule(`import { register } from 'node:module'; register(${JSON.stringify(hooks)});`);
  const ran = await runJetbridge(['--version'], { NODE_OPTIONS: `--import=${registering}` });
  expect(ran.code).toBe(0);
  expect(ran.err).toContain('dist/cli/cli.js');
  for (const file of ['chunks/@faker-js/faker.js', 'server/start.js']) {
    expect(existsSync(join(home, 'dist', file))).toBe(true);
    expect(ran.err).not.toContain(file);
  }
});

function asModule(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
