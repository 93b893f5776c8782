import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cloneRepository, git } from '../fixtures/clone.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';

const place = temporaryFolder();
const clone = join(place.path, 'jetbridge');
const programs = join(place.path, 'programs');
const day = new Date().toISOString().slice(0, 10);
let version: string;
beforeAll(() => {
  cloneRepository(clone);
  version = JSON.parse(read('package.json')).version;
  mkdirSync(programs);
});
afterAll(() => place.remove());
afterEach(() => git(clone, 'reset', '--quiet', '--hard', start()));

/** The first commit of the clone. */
const start = () => git(clone, 'rev-list', '--max-parents=0', 'HEAD');
const read = (file: string) => readFileSync(join(clone, file), 'utf8');

/** Runs the script in the clone. With `instead`, programs of these names are found first. */
function release(
  args: string[],
  instead: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  for (const [name, script] of Object.entries({ ...noDocker, ...instead }))
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  for (const name of readdirSync(programs))
    if (!(name in { ...noDocker, ...instead })) execFileSync('rm', [join(programs, name)]);
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}` };
  return new Promise((resolve) =>
    execFile(process.execPath, ['scripts/release.mjs', ...args], { cwd: clone, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  );
}

const noDocker = { docker: 'exit 1' };
/** npm without what takes long: checks, tests and the build do nothing, or fail. */
const npm = (end: 0 | 1) => {
  const real = execFileSync('which', ['npm'], { encoding: 'utf8' }).trim();
  return `case "$2" in check|test:release|build) exit ${end};; esac; exec ${real} "$@"`;
};
const docker = 'case "$1" in save) echo the image > "$3";; esac';

/** Checks the files of a release by their checksums, with the usual program. */
function checksumFaults(folder: string): string {
  return execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' });
}

test('what prevents a release is told at once, and nothing is changed', async () => {
  appendFileSync(join(clone, 'README.md'), '\n');
  git(clone, 'tag', 'v9.10.0');
  git(clone, 'checkout', '--quiet', '-b', 'other');
  const { code, out, err } = await release(['0.0.1']);
  git(clone, 'checkout', '--quiet', 'main');
  git(clone, 'tag', '--delete', 'v9.10.0');
  expect([code, out, err.trimEnd().split('\n')]).toEqual([
    1,
    '',
    [
      'The working tree has changes: commit them first.',
      'A release is made on the branch main.',
      '0.0.1 is not after 9.10.0, the last release.',
      `0.0.1 is before ${version}, the version of package.json.`,
      'CHANGELOG.md has no section "## 0.0.1 (unreleased)" with changes.',
      'There is no Docker here to make the image: give --without-image to release without one.',
    ],
  ]);
  expect(existsSync(join(clone, 'release'))).toBe(false);
});

test('a version that is none is refused', async () => {
  expect(await release(['next', '--dry-run'])).toMatchObject({
    ...{ code: 1, err: expect.stringContaining('Give a version of the form 1.2.3') },
  });
});

test('a dry run makes the package, the chart, the SBOM, the notes and checksums, and leaves the repository as it was', async () => {
  const { code, out, err } = await release([version, '--dry-run']);
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  const folder = join(clone, 'release', version);
  const files = [
    ...['SHA256SUMS', 'release-notes.md', `jetbridge-${version}.tgz`],
    ...[`jetbridge-${version}.cdx.json`, `jetbridge-chart-${version}.tgz`],
  ];
  expect(readdirSync(folder).toSorted()).toEqual(files.toSorted());
  expect(checksumFaults(folder)).toBe('');
  expect(out).toContain('A dry run: no tests, no image, no commit and no tag.');
  const list = (file: string) =>
    execFileSync('tar', ['-tzf', join(folder, file)], { encoding: 'utf8' }).split('\n');
  expect(list(`jetbridge-${version}.tgz`)).toEqual(expect.arrayContaining(['package/dist/main.js']));
  expect(list(`jetbridge-chart-${version}.tgz`)).toEqual(
    expect.arrayContaining(['jetbridge/Chart.yaml', 'jetbridge/templates/deployment.yaml']),
  );
  const sbom = JSON.parse(readFileSync(join(folder, `jetbridge-${version}.cdx.json`), 'utf8'));
  expect([sbom.bomFormat, sbom.components.length > 100]).toEqual(['CycloneDX', true]);
  expect(readFileSync(join(folder, 'release-notes.md'), 'utf8')).toMatch(/^\S.+\n[\s\S]*\S\n$/);
  expect([git(clone, 'status', '--porcelain'), git(clone, 'tag')]).toEqual(['', '']);
});

test('a release has the new version everywhere, an image, a commit and a tag', async () => {
  const next = '0.9.0';
  writeFileSync(join(clone, 'CHANGELOG.md'), read('CHANGELOG.md').replace(`## ${version} `, `## ${next} `));
  git(clone, 'commit', '--quiet', '--all', '--message', 'the changelog');
  const { code, out, err } = await release([next], { npm: npm(0), docker });
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  const folder = join(clone, 'release', next);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining([`jetbridge-image-${next}.tar.gz`]));
  expect(checksumFaults(folder)).toBe('');
  expect(out).toContain(`Publish it: git push origin main v${next}; npm publish`);
  expect(git(clone, 'log', '-1', '--format=%s', `v${next}`)).toBe(`chore: release ${next}`);
  expect(git(clone, 'status', '--porcelain')).toBe('');
  expect(JSON.parse(read('package.json')).version).toBe(next);
  expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe(next);
  expect(read('deploy/helm/jetbridge/Chart.yaml')).toContain(`\nversion: ${next}\nappVersion: "${next}"\n`);
  expect(read('CHANGELOG.md')).toContain(`\n## ${next} (${day})\n`);
  git(clone, 'tag', '--delete', `v${next}`);
});

test('a release whose tests fail leaves the repository as it was', async () => {
  const { code } = await release([version, '--without-image'], { npm: npm(1) });
  expect(code).toBe(1);
  expect([git(clone, 'status', '--porcelain'), git(clone, 'tag')]).toEqual(['', '']);
  expect(existsSync(join(clone, 'release', version))).toBe(false);
});

test('a release without an image says so', async () => {
  const { code, out } = await release([version, '--without-image'], { npm: npm(0) });
  expect([code, out]).toEqual([0, expect.stringContaining('WITHOUT AN IMAGE.')]);
  git(clone, 'tag', '--delete', `v${version}`);
});
