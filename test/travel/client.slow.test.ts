import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

const packages = join(__dirname, '../../node_modules');
const run = promisify(execFile);

let fixture: Fixture;
let server: Server;
let url: string;
let workplace: string;
beforeEach(async () => {
  fixture = await openFixture();
  server = fixture.app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  workplace = mkdtempSync(join(tmpdir(), 'client-'));
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await fixture.close();
  rmSync(workplace, { recursive: true });
});

test('a client generated from the OpenAPI document compiles and performs typical tasks', async () => {
  const published = await (await fetch(`${url}/api/openapi.json`)).text();
  writeFileSync(join(workplace, 'openapi.json'), published);
  await generate();
  writeFileSync(join(workplace, 'package.json'), '{"type":"module"}');
  writeFileSync(join(workplace, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  copyFileSync(join(__dirname, 'client/day.ts.txt'), join(workplace, 'day.ts'));
  await compile();
  const { stdout } = await run(process.execPath, ['out/day.js'], {
    cwd: workplace,
    env: { TRAVEL_URL: url, TRAVEL_KEY: fixture.key },
  });
  expect(JSON.parse(stdout)).toEqual({ people: 26, events: expect.any(Number) });
  expect(fixture.logged).toEqual([]);
});

/** Generates a client as a user of the service would. */
async function generate(): Promise<void> {
  const generator = require.resolve('swagger-typescript-api/cli');
  const wanted = ['-p', 'openapi.json', '-o', '.', '-n', 'Api.ts', '--enum-style=union', '--silent'];
  await run(process.execPath, [generator, 'generate', ...wanted], { cwd: workplace });
}

/** A type error fails the test with the compiler's message. */
async function compile(): Promise<void> {
  const compiler = join(packages, '.bin/tsc');
  const told = await run(compiler, ['-p', workplace], { cwd: workplace }).catch((error) => error);
  expect(told.stdout).toBe('');
}

const compilerOptions = {
  target: 'ES2023',
  lib: ['ES2023', 'DOM'],
  module: 'NodeNext',
  types: ['node'],
  typeRoots: [join(packages, '@types')],
  strict: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  outDir: 'out',
  rootDir: '.',
};
