import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Runs a command, and returns the texts of all program files that it has loaded. */
async function loadedBy(...args: string[]): Promise<string[]> {
  const coverage = join(folder.path, args.join(' '));
  expect(await runJetbridge(args, { NODE_V8_COVERAGE: coverage })).toMatchObject({ code: 0 });
  const [report = ''] = readdirSync(coverage);
  const { result } = JSON.parse(readFileSync(join(coverage, report), 'utf8')) as {
    result: { url: string }[];
  };
  return result.flatMap(({ url }) =>
    url.startsWith('file:') ? readFileSync(fileURLToPath(url), 'utf8') : [],
  );
}

/** The files with zod, by which schemas are built. */
const withSchemas = (files: string[]) => files.filter((text) => text.includes('"ZodObject"')).length;

test.each(['--help', '--version'])('npx jetbridge %s builds no schema', async (flag) => {
  expect(withSchemas(await loadedBy(flag))).toBe(0);
});

test('the schemas of a command are built when it is called', async () => {
  expect(withSchemas(await loadedBy('openapi'))).toBe(1);
});
