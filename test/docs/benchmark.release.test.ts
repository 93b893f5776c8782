import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { home } from './documents.ts';

describe('the benchmark refuses, with one line and before it measures anything,', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jetbridge-peer-'));
  const checkout = join(folder, 'scimgateway');

  beforeAll(() => {
    mkdirSync(join(checkout, 'lib'), { recursive: true });
    writeFileSync(join(checkout, 'lib/scimgateway.ts'), '');
    writeFileSync(join(checkout, 'package.json'), JSON.stringify({ name: 'scimgateway' }));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['a peer that does not exist', ['--peer', join(folder, 'none')], /^--peer: .*none does not exist\.$/],
    [
      'a peer that is something else',
      ['--peer', folder],
      /^--peer: .* is no checkout of jelhub\/scimgateway\.$/,
    ],
    ['a peer without its packages', ['--peer', checkout], /^--peer: .* has no packages: run "npm install/],
    ['a database that is not PostgreSQL', ['--database', 'mysql://localhost'], /^--database: .* postgres:/],
    ['a part that does not exist', ['--only', 'everything'], /^--only: "everything" is none of read, /],
  ])('%s', (_what, options, fault) => {
    const { status, stderr } = runBench(options);
    expect(stderr.split('\n')[0]).toMatch(fault);
    expect(status).toBe(2);
  });
});

it('docs/performance.md names every option and every part of the benchmark', () => {
  const { status, stdout } = runBench(['--help']);
  expect(status).toBe(0);
  const performance = readFileSync(join(home, 'docs/performance.md'), 'utf8');
  const options = [...stdout.matchAll(/^ {2}(--\w+)/gm)].map(([, option]) => option ?? '');
  expect(options).toContain('--peer');
  expect(options.filter((option) => !performance.includes(option))).toEqual([]);
  const parts = (/parts: (.*)$/m.exec(stdout)?.[1] ?? '').split(', ');
  expect(parts).toContain('durable');
  expect(parts.filter((part) => !performance.includes(part))).toEqual([]);
});

function runBench(options: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [join(home, 'scripts/bench/bench.mjs'), ...options], {
    encoding: 'utf8',
  });
}
