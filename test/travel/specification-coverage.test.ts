import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

test('every statement has its test, every test its statement, and docs/specification-coverage.md says so ("npm run docs" writes it)', async () => {
  const script = join(__dirname, '../../scripts/specification-page.mjs');
  const check = await promisify(execFile)(process.execPath, [script, '--check']).catch((error) => error);
  expect(check).toMatchObject({ stdout: '', stderr: '' });
});
