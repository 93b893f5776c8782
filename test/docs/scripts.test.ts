import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const home = join(__dirname, '..', '..');

interface Import {
  script: string;
  source: string;
  names: string[];
}

/** The imports of compiled modules in all scripts, with the TypeScript source of each module. */
function importsOfScripts(): Import[] {
  const scripts = readdirSync(join(home, 'scripts'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.mjs'),
  );
  return scripts.flatMap((file) => {
    const script = join('scripts', file);
    const text = readFileSync(join(home, script), 'utf8');
    return [...text.matchAll(/import \{([^}]*)\} from '(\.[^']*dist\/[^']+)\.js'/g)].map(
      ([, names = '', path = '']) => ({
        script,
        source: `${join(dirname(script), path).replace(/^dist\//, 'src/')}.ts`,
        names: names.split(',').flatMap((name) => name.trim().split(' as ')[0] || []),
      }),
    );
  });
}

it('scripts import only what the sources export, as no compiler checks them', () => {
  const imports = importsOfScripts();
  expect(imports.length).toBeGreaterThan(15);
  for (const { script, source, names } of imports) {
    const text = existsSync(join(home, source)) ? readFileSync(join(home, source), 'utf8') : '';
    for (const name of names) {
      const isExported = new RegExp(`^export (async )?(function\\*?|const|class) ${name}\\b`, 'm').test(text);
      expect(isExported ? '' : `${script} imports ${name} from ${source}`).toBe('');
    }
  }
});

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
