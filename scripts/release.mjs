// Makes a release: npm run release -- VERSION [--without-image] [--dry-run]. It checks the repository, sets the version, runs every test, and
// writes to release/VERSION the package, the chart, the image, the list of packages (SBOM), the notes and their checksums. The last steps are
// the commit and the tag; if one before them fails, the repository is as it was. Nothing is pushed or published.
//
// --dry-run makes the same files from what is there, but runs no tests, makes no image, no commit and no tag, and puts the version back.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const CHART = 'deploy/helm/jetbridge/Chart.yaml';
/** The files that have the version. */
const versioned = ['package.json', 'package-lock.json', 'CHANGELOG.md', CHART];

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean' }, 'without-image': { type: 'boolean' } },
});
const [version = ''] = positionals;
const isDry = flags['dry-run'] === true;
const isWithImage = !isDry && flags['without-image'] !== true;

const faults = findFaults();
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exit(1);

const folder = join(root, 'release', version);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
let isDone = false;
try {
  setVersion();
  if (!isDry) runTests();
  await makeFiles();
  if (!isDry) commitAndTag();
  isDone = true;
} finally {
  if (isDry || !isDone) run('git', 'checkout', '--quiet', 'HEAD', '--', ...versioned);
  if (!isDone) rmSync(folder, { recursive: true, force: true });
}
const end = isDry
  ? 'A dry run: no tests, no image, no commit and no tag.'
  : `${isWithImage ? '' : 'WITHOUT AN IMAGE. '}Publish it: git push origin main v${version}; npm publish release/${version}/jetbridge-${version}.tgz`;
process.stdout.write(
  `${readFileSync(join(folder, 'SHA256SUMS'), 'utf8')}release/${version} is made. ${end}\n`,
);

/** Returns what prevents the release, all at once. */
function findFaults() {
  const tags = output('git', 'tag', '--list', 'v*').split('\n').filter(Boolean);
  const latest = tags
    .map((tag) => tag.slice(1))
    .toSorted(compareVersions)
    .at(-1);
  const present = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
  return [
    !/^\d+\.\d+\.\d+$/.test(version) && 'Give a version of the form 1.2.3: npm run release -- 1.2.3',
    output('git', 'status', '--porcelain') !== '' && 'The working tree has changes: commit them first.',
    output('git', 'branch', '--show-current') !== 'main' && 'A release is made on the branch main.',
    latest !== undefined &&
      compareVersions(version, latest) <= 0 &&
      `${version} is not after ${latest}, the last release.`,
    compareVersions(version, present) < 0 && `${version} is before ${present}, the version of package.json.`,
    notesOf('unreleased') === '' && `CHANGELOG.md has no section "## ${version} (unreleased)" with changes.`,
    isWithImage &&
      !isDockerThere() &&
      'There is no Docker here to make the image: give --without-image to release without one.',
  ].filter(Boolean);
}

/** Orders versions by their numbers. */
function compareVersions(one, other) {
  const [left, right] = [one, other].map((text) => text.split('.').map(Number));
  return left.map((number, place) => number - right[place]).find((difference) => difference !== 0) ?? 0;
}

function isDockerThere() {
  try {
    output('docker', 'info', '--format', '{{.ServerVersion}}');
    return true;
  } catch {
    return false;
  }
}

/** The lines of the version in the changelog, without its heading; empty if there are none. */
function notesOf(state) {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const section = changelog.split(/^## /m).find((part) => part.startsWith(`${version} (${state})\n`)) ?? '';
  return section.split('\n').slice(1).join('\n').trim();
}

function setVersion() {
  const day = new Date().toISOString().slice(0, 10);
  run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts');
  replace('CHANGELOG.md', `## ${version} (unreleased)`, `## ${version} (${day})`);
  replace(CHART, /^version: .*$/m, `version: ${version}`);
  replace(CHART, /^appVersion: .*$/m, `appVersion: "${version}"`);
  writeFileSync(join(folder, 'release-notes.md'), `${notesOf(day)}\n`);
}

function replace(file, from, to) {
  const text = readFileSync(join(root, file), 'utf8');
  writeFileSync(join(root, file), text.replace(from, to));
}

/** Everything, on both databases, with the build, the chart and the licences. */
function runTests() {
  run('npm', 'run', 'check');
  run('npm', 'run', 'test:release');
}

async function makeFiles() {
  run('npm', 'run', 'build', '--silent');
  run('npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder);
  // Named apart from the package of npm, which Helm would name alike.
  const chart = join(folder, `jetbridge-chart-${version}.tgz`);
  run('tar', '-czf', chart, '-C', join(root, 'deploy/helm'), 'jetbridge');
  writeFileSync(join(folder, `jetbridge-${version}.cdx.json`), output('npm', 'run', '--silent', 'sbom'));
  if (isWithImage) await makeImage();
  const sums = readdirSync(folder).map((name) => `${sha256(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
}

async function makeImage() {
  const tag = `jetbridge:${version}`;
  const plain = join(folder, 'image.tar');
  run('docker', 'build', '--tag', tag, '.');
  run('docker', 'save', '--output', plain, tag);
  const packed = createWriteStream(join(folder, `jetbridge-image-${version}.tar.gz`));
  await pipeline(createReadStream(plain), createGzip(), packed);
  rmSync(plain);
}

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function commitAndTag() {
  run('git', 'commit', '--quiet', '--message', `chore: release ${version}`, '--', ...versioned);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Jetbridge ${version}`);
}

/** Runs a program in the repository; throws if it fails. Its output is shown on standard error. */
function run(program, ...args) {
  execFileSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
}

/** Returns the output of a program without the line break at its end. */
function output(program, ...args) {
  return execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e8,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}
