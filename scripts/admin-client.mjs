// Writes the client of the admin API that the page uses, from the OpenAPI document. With --check it only tells whether it is up to date.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminContract } from '../dist/admin/catalog.js';
import { adminOpenApi } from '../dist/admin/openapi.js';

const FILE = 'src/admin/ui/api-client.ts';
const generator = createRequire(import.meta.url).resolve('swagger-typescript-api/cli');
const options = ['--enum-style=union', '--module-name-first-tag', '--unwrap-response-data', '--silent'];

const folder = mkdtempSync(join(tmpdir(), 'admin-client-'));
const document = join(folder, 'openapi.json');
writeFileSync(document, JSON.stringify(adminOpenApi(adminContract)));
execFileSync(process.execPath, [
  generator,
  'generate',
  '-p',
  document,
  '-o',
  folder,
  '-n',
  'client.ts',
  ...options,
]);
// The generator has no option for it: what the document does not describe must be checked before it is used.
const text = readFileSync(join(folder, 'client.ts'), 'utf8').replace(
  /(?<=: |Partial<Record<string, )any(?=;|>|\[\])/g,
  'unknown',
);
rmSync(folder, { recursive: true });

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text);
} else if (readFileSync(FILE, 'utf8') !== text) {
  process.stderr.write(`${FILE} is out of date: run "npm run schemas" and commit it.\n`);
  process.exitCode = 1;
}
