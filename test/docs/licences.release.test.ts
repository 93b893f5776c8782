import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { home } from './documents.ts';

const place = temporaryFolder();
afterAll(() => place.remove());

/** Runs the check of licences with the lock file of the repository, in which one package has another licence. */
async function check(path?: string, license?: string): Promise<{ code: number; out: string; err: string }> {
  const lock = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8'));
  if (path !== undefined) lock.packages[path].license = license;
  const file = join(place.path, 'package-lock.json');
  writeFileSync(file, JSON.stringify(lock));
  const ran = promisify(execFile)(process.execPath, [join(home, 'scripts/check-licences.mjs'), file]);
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr }),
  );
}

test('all packages that are shipped have an allowed licence', async () => {
  expect(await check()).toMatchObject({ code: 0, err: '', out: expect.stringContaining(' 0 faults') });
});

test.each([
  ['of the program', 'node_modules/express', 'GPL-3.0-only'],
  ['that one of the program needs', 'node_modules/body-parser', undefined],
  ['in the bundle of the page', 'node_modules/react', 'MIT AND CC-BY-NC-4.0'],
  ['that one in the bundle needs', 'node_modules/@floating-ui/core', 'UNLICENSED'],
])('a package %s with another licence is a fault', async (_title, path, license) => {
  const { code, err } = await check(path, license);
  expect([code, err.split('\n').length]).toEqual([1, 2]);
  expect(err).toContain(`${path}: the licence ${license} is not allowed.`);
});

test('the licence of a package that is not shipped is not checked, and of a choice one licence is enough', async () => {
  expect(await check('node_modules/jest', 'GPL-3.0-only')).toMatchObject({ code: 0 });
  expect(await check('node_modules/express', '(GPL-2.0-only OR MIT)')).toMatchObject({ code: 0 });
});
