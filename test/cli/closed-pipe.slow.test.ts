import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleArguments, examplesIn, helpOf, leafCommands } from '../fixtures/all-commands.ts';
import { runWithoutReader } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';

const main = join(__dirname, '../../dist/main.js');
const folder = temporaryFolder();
afterAll(() => folder.remove());

const environment = { JETBRIDGE_DATA: join(folder.path, 'data'), LOG_LEVEL: 'silent' };

beforeAll(async () => {
  expect(await runIntoClosedPipe(['sample-data', '--users', '30', '--trips', '5'])).toEqual({
    code: 0,
    err: '',
  });
  expect(await runIntoClosedPipe(['import'])).toMatchObject({ code: 0 });
  writeFileSync(join(folder.path, 'my-mapping.json'), JSON.stringify({ scimUserMapping: [] }));
  writeFileSync(join(folder.path, 'user.json'), JSON.stringify({ userName: 'ada@corp.example' }));
});

/** Runs a command in a process whose standard output nobody reads, as after `| head -1`. */
async function runIntoClosedPipe(args: string[]): Promise<{ code: number; err: string }> {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...environment },
  });
  child.stdout.destroy();
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const [code] = await once(child, 'close');
  return { code, err: errors.join('') };
}

/** Returns the arguments of an example, with the files of the folder in place of those that an admin has. */
function argumentsInFolder(example: string): string[] {
  return exampleArguments(example).map((argument) =>
    /^(my-mapping\.json|user\.json|scenarios|.*\.backup)$/.test(argument)
      ? join(folder.path, argument)
      : argument,
  );
}

/** They serve until they are stopped. */
const endless = ['serve', 'demo'];
const ended = leafCommands().filter(({ path }) => !endless.includes(path));

test.each(ended)(
  'npx jetbridge $path ends quietly if the reader of its output has ended',
  async ({ command }) => {
    const [example = ''] = examplesIn(helpOf(command));
    const { code, err } = await runWithoutReader(argumentsInFolder(example), environment);
    expect(err).not.toMatch(/EPIPE|^ +at /m);
    // 2: a decision that nobody can be asked for.
    expect([0, 1, 2]).toContain(code);
  },
  30_000,
);

test('an output that cannot be written, as on a full disk, ends with one line and 1', async () => {
  // On Linux, every write to this device fails with ENOSPC.
  const output = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [main, 'openapi'], {
    stdio: ['ignore', output, 'pipe'],
    env: { PATH: process.env['PATH'], ...environment },
  });
  closeSync(output);
  const errors: string[] = [];
  child.stderr?.on('data', (chunk) => errors.push(String(chunk)));
  const [code] = await once(child, 'close');
  expect([code, errors.join('')]).toEqual([
    1,
    'The output cannot be written: ENOSPC: no space left on device, write.\n',
  ]);
});

test.each(endless)(
  'the help of npx jetbridge %s ends quietly if its reader has ended',
  async (path) => {
    expect(await runIntoClosedPipe([path, '--help'])).toEqual({ code: 0, err: '' });
  },
  30_000,
);
