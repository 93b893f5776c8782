import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

/** The generators in the versions of a lock file of their own, in a folder that is as that of a user. */
let workplace: string;
let fixture: Fixture;
let server: Server;
let url: string;

beforeAll(async () => {
  workplace = mkdtempSync(join(tmpdir(), 'clients-'));
  cpSync(__dirname, workplace, { recursive: true, filter: (path) => !path.includes('node_modules') });
  await run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  for (const name of readdirSync(workplace).filter((one) => one.endsWith('.txt')))
    copyFileSync(join(workplace, name), join(workplace, name.replace('.txt', '')));
});
afterAll(() => rmSync(workplace, { recursive: true }));

beforeEach(async () => {
  fixture = await openFixture();
  server = createServer(fixture.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(join(workplace, 'openapi.json'), await (await fetch(`${url}/api/openapi.json`)).text());
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await fixture.close();
});

const generators = {
  'openapi-typescript': ['openapi-typescript', 'openapi.json', '-o', 'openapi-typescript/schema.ts'],
  'hey-api': ['openapi-ts', '-f', 'openapi-ts.config.cjs'],
  orval: ['orval', '--config', 'orval.config.cjs'],
};

test.each(Object.entries(generators))(
  'the client of %s compiles with every check of the compiler, and does a day of work',
  async (name, generate) => {
    await run('npx', '--no-install', ...generate);
    const include = [name, `${name}-day.ts`];
    const settings = { extends: './tsconfig.json', include };
    writeFileSync(join(workplace, `tsconfig.${name}.json`), JSON.stringify(settings));
    await run('npx', '--no-install', 'tsc', '-p', `tsconfig.${name}.json`);
    const emails = await run(process.execPath, `out/${name}-day.js`);
    expect(JSON.parse(emails).sort()).toEqual([
      'ada@example.com',
      'admin@jetbridge.local',
      'grace@example.com',
    ]);
    expect(fixture.logged).toEqual([]);
  },
);

test.each([
  ['redocly', 'lint', 'openapi.json', '--format', 'json'],
  ['spectral', 'lint', 'openapi.json', '--format', 'json', '--quiet'],
])('%s reports nothing', async (...linter) => {
  const found = await run('npx', '--no-install', ...linter);
  const report = JSON.parse(found.slice(found.search(/[[{]/)));
  expect(report.problems ?? report).toEqual([]);
});

/** Runs a program in the workplace. A failure throws what it has written. */
async function run(program: string, ...parameters: string[]): Promise<string> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    DO_NOT_TRACK: '1',
    TRAVEL_URL: url,
    TRAVEL_KEY: fixture?.key,
  };
  const { stdout } = await promisify(execFile)(program, parameters, {
    cwd: workplace,
    env,
    maxBuffer: 1e8,
  }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
}
