// Puts each fault of test/simulator/planted-faults.json into a copy of the sources, and says what finds it: eight seeds of the simulator, and
// with --first-ring also the tests of `npm test` that load the changed file, the nearest first.
// npm run planted-faults [-- [--first-ring] [--seed N] [--runs N] [name...]]
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  options: {
    'first-ring': { type: 'boolean', default: false },
    runs: { type: 'string', default: '8' },
    seed: { type: 'string', default: '12' },
  },
  allowPositionals: true,
});
const all = JSON.parse(readFileSync(join(root, 'test/simulator/planted-faults.json'), 'utf8'));
const chosen = all.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

const copy = mkdtempSync(join(tmpdir(), 'planted-faults-'));
const left = new Set(['.git', '.ci', 'dist', 'node_modules']);
for (const entry of readdirSync(root))
  if (!left.has(entry)) cpSync(join(root, entry), join(copy, entry), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const counts = { seeds: 0, ring: 0, both: 0 };
for (const fault of chosen) {
  const file = join(copy, fault.file);
  const source = readFileSync(file, 'utf8');
  if (source.split(fault.text).length !== 2) {
    process.stdout.write(`${fault.name}: its text is not once in ${fault.file}\n`);
    process.exitCode = 1;
    continue;
  }
  writeFileSync(
    file,
    source.replace(fault.text, () => fault.by),
  );
  const bySeeds = findBySeeds();
  const byRing = values['first-ring'] ? findByTests(fault.file) : 'not asked';
  writeFileSync(file, source);
  if (bySeeds !== undefined) counts.seeds += 1;
  if (values['first-ring'] && byRing !== undefined) counts.ring += 1;
  if (bySeeds !== undefined || (values['first-ring'] && byRing !== undefined)) counts.both += 1;
  process.stdout.write(`${fault.name}\n  seeds: ${bySeeds ?? '-'}\n  first ring: ${byRing ?? '-'}\n`);
}
process.stdout.write(
  `${chosen.length} faults: ${counts.seeds} found by ${values.runs} seeds, ${counts.ring} by the first ring, ${counts.both} by either\n`,
);
rmSync(copy, { recursive: true });

function findBySeeds() {
  const options = ['--seed', values.seed, '--runs', values.runs, '--brief', '--stop'];
  const { status, stdout, stderr } = run(process.execPath, ['scripts/simulate.mjs', ...options]);
  if (status === 0) return undefined;
  return (/^seed .*/m.exec(stdout)?.[0] ?? `${stdout}${stderr}`.trim().split('\n')[0]).slice(0, 200);
}

function findByTests(file) {
  const options = [
    '--bail',
    '--testSequencer',
    './test/fixtures/nearest-first.cjs',
    '--findRelatedTests',
    file,
  ];
  const { status, stderr } = run(process.execPath, ['node_modules/jest/bin/jest.js', ...options]);
  return status === 0 ? undefined : (/^ {2}● .*/m.exec(stderr)?.[0].slice(4) ?? 'a test fails');
}

function run(command, options) {
  return spawnSync(command, options, { cwd: copy, encoding: 'utf8', maxBuffer: 1e9 });
}
