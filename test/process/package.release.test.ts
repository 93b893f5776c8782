import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copyRepository } from '../fixtures/clone.ts';
import { serveJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';

const home = join(__dirname, '..', '..');
const run = promisify(execFile);
const place = temporaryFolder();
const clone = join(place.path, 'clone');
const project = join(place.path, 'project');
afterAll(() => place.remove());

const { version: ownVersion } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));

/** What the first start from the sources printed. */
let firstStart: { stdout: string; stderr: string };
let packed: string[];

// The repository as a fresh clone after `npm ci`, without dist, which the first start builds; then a project that has installed the
// package.
beforeAll(async () => {
  copyRepository(clone);
  firstStart = await startFromSources();
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', place.path];
  const [tarball] = JSON.parse((await run('npm', pack, { cwd: clone })).stdout);
  packed = tarball.files.map(({ path }: { path: string }) => path);
  mkdirSync(project);
  await run(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', join(place.path, tarball.filename)],
    {
      cwd: project,
    },
  );
});

const startFromSources = () => run(process.execPath, ['scripts/jetbridge.mjs', '--version'], { cwd: clone });

it('is built before it is packed', () => {
  const { scripts } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  expect(scripts).toMatchObject({ prepack: 'npm run build --silent', build: 'node scripts/build.mjs' });
});

describe('the packed package', () => {
  it('has the program, its settings, demo and documents, and the types of jetbridge/replay', () => {
    for (const file of [
      'package.json',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'dist/main.js',
      'dist/admin/ui/index.html',
      'dist/docs/index.html',
      'dist/docs/operations/alerts.html',
      'dist/replay/index.js',
      'dist/replay/index.d.ts',
      'dist/commonjs/replay/index.js',
      'dist/commonjs/replay/index.d.ts',
      ...filesOf('config'),
      ...filesOf('demo'),
      'docs/README.md',
      'docs/operations.md',
      'docs/operations/somebody-has-no-traveler.md',
      'docs/mappings/transforms.md',
    ])
      expect(packed).toContain(file);
  });

  it('has no sources, tests or files of the development', () => {
    const known =
      /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|(config|demo)\/.+\.json|docs\/(?:[\w-]+\/)*[\w-]+\.md|docs\/images\/[\w-]+\.png|deploy\/grafana\/[\w-]+\.(json|yaml)|dist\/.+\.js(\.map)?|dist\/(admin\/ui\/|docs\/openapi-explorer\/)?third-party-notices\.md|dist\/admin\/ui\/.+\.(html|css|svg)|dist\/docs\/(search\.json|.+\.(html|css|svg|png)))$/;
    const others = packed.filter((file) => !known.test(file) && file !== 'dist/commonjs/package.json');
    expect(others.filter((file) => !/^dist\/.+\.d\.ts$/.test(file))).toEqual([]);
    // Types of nothing but jetbridge/replay and what it names.
    expect(others.length).toBeLessThan(40);
    // The chunk sends a test alert.
    const named = packed.filter((file) => !/^dist\/chunks\/test-alert\.js(\.map)?$/.test(file));
    expect(named.filter((file) => /test|bench|docs\/decisions|performance/.test(file))).toEqual([]);
  });

  it('has the notices of all packages in the bundle of the page, as their licences ask', () => {
    const { names, withoutText } = noticesIn('dist/admin/ui/third-party-notices.md');
    expect(names).toEqual(expect.arrayContaining([...packagesOfPage()]));
    // The first is published under MIT without a text, and the licence of the second asks for no notice.
    expect(withoutText).toEqual(['react-remove-scroll-bar', 'wouter']);
  });

  it('has the notices of all packages in the bundle of the program, which are dependencies of the package', () => {
    const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    const { packages } = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8'));
    const { names, withoutText } = noticesIn('dist/third-party-notices.md');
    // The addon of SQLite is not bundled.
    const bundled = Object.keys(dependencies).filter((name) => name !== '@photostructure/sqlite');
    expect(names).toEqual(expect.arrayContaining(bundled));
    const ofProgram = Object.keys(packages).filter((path) => !packages[path].dev);
    const installed = new Set(ofProgram.map((path) => path.replace(/^.*node_modules\//, '')));
    expect(names.filter((name) => !installed.has(name))).toEqual([]);
    // These are published under MIT without a text.
    const textless = ['agent-base', 'https-proxy-agent', 'pg-types', 'pgpass', 'standardwebhooks'];
    expect(withoutText).toEqual(textless);
  });

  it('runs by npx', async () => {
    const version = await run('npx', ['jetbridge', '--version'], { cwd: project });
    expect(version.stdout).toBe(`${ownVersion}\n`);
    const help = await run('npx', ['jetbridge', '--help'], { cwd: project });
    expect(help.stdout).toContain('Usage: npx jetbridge');
    expect(help.stdout).toContain('serve everything on one port');
  });

  it('serves with the settings that it brings, keeps its data in the current folder, and provisions a person', async () => {
    const main = join(project, 'node_modules/.bin/jetbridge');
    const server = await serveJetbridge({}, { main, folder: project });
    const [, token] = / SCIM token +(\S+)\n/.exec(server.welcome) ?? [];
    const [, key] = / travel API key +(\S+)\n/.exec(server.welcome) ?? [];
    const created = await fetch(`${server.url}/scim/v2/Users`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify({
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: 'ada@corp.example',
        name: { givenName: 'Ada', familyName: 'King' },
      }),
    });
    expect(created.status).toBe(201);
    const found = await fetch(`${server.url}/api/users?emails=ada@corp.example`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(await found.json()).toMatchObject({ data: [{ firstName: 'Ada', lastName: 'King' }] });
    expect(await server.stop()).toMatchObject({ code: 0 });
    expect(existsSync(join(project, 'data/jetbridge.db'))).toBe(true);
    expect(existsSync(join(project, 'node_modules/jetbridge/data'))).toBe(false);
  });

  it.each([
    ['an ES module', 'play.mjs', "import { scenario } from 'jetbridge/replay';"],
    ['a CommonJS module', 'play.cjs', "const { scenario } = require('jetbridge/replay');"],
  ])('%s imports jetbridge/replay', async (_, file, line) => {
    const day = 'node_modules/jetbridge/demo/okta-day.json';
    writeFileSync(join(project, file), `${line}\nconsole.log(scenario('${day}').name);\n`);
    const { stdout } = await run(process.execPath, [file], { cwd: project });
    expect(stdout).toBe('okta-day\n');
  });

  it.each([
    ['an ES module', 'module'],
    ['a CommonJS module', 'commonjs'],
  ])(
    'TypeScript compiles %s that imports jetbridge/replay, with its types',
    async (_, type) => {
      const folder = join(project, type);
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
      const code = `
      import { type ReplayReport, replay, scenario } from 'jetbridge/replay';
      export const play = (): Promise<ReplayReport> => replay(scenario('x.json'), { url: 'http://h', token: 't' });
      // @ts-expect-error The token is required.
      export const wrong = () => replay([], { url: 'http://h' });
      console.log(typeof replay);`;
      writeFileSync(join(folder, 'play.ts'), code);
      const compilerOptions = { strict: true, module: 'NodeNext', target: 'ES2022', types: [] };
      // console is declared by the DOM library, so that the project needs no types of Node.js.
      const config = { compilerOptions: { ...compilerOptions, lib: ['ES2022', 'DOM'] }, files: ['play.ts'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const compiler = join(dirname(createRequire(__filename).resolve('typescript/package.json')), 'bin/tsc');
      await run(process.execPath, [compiler, '-p', folder]);
      const { stdout } = await run(process.execPath, ['play.js'], { cwd: folder });
      expect(stdout).toBe('function\n');
    },
    60_000,
  );
});

it('a first start from the sources says that it builds, and a second one does not build', async () => {
  expect(firstStart).toEqual({
    stdout: `${ownVersion}\n`,
    stderr: 'Building Jetbridge, which takes a few seconds …\n',
  });
  expect(await startFromSources()).toEqual({ stdout: `${ownVersion}\n`, stderr: '' });
});

it('a build that does not come to its end leaves nothing that a start would run', async () => {
  const broken = join(place.path, 'broken');
  cpSync(clone, broken, { recursive: true, filter: (file) => !file.startsWith(join(clone, 'dist')) });
  // The program has been bundled by then.
  writeFileSync(join(broken, 'tsconfig.declarations.json'), '{ "extends": "./missing.json" }');
  await expect(run(process.execPath, ['scripts/build.mjs'], { cwd: broken })).rejects.toMatchObject({
    stdout: expect.stringContaining('missing.json'),
  });
  expect(existsSync(join(broken, 'dist.building/main.js'))).toBe(true);
  expect(existsSync(join(broken, 'dist'))).toBe(false);
});

/** The names of the packages in a file of notices, and of those without the text of a licence. */
function noticesIn(file: string): { names: string[]; withoutText: string[] } {
  expect(packed).toContain(file);
  const notices = readFileSync(join(clone, file), 'utf8')
    .split(/^## (?=\S+ - \d)/m)
    .slice(1);
  const nameOf = (notice: string) => notice.split(' - ')[0] ?? '';
  const withoutText = notices.filter((notice) => notice.trim().split('\n').length === 1);
  return { names: notices.map(nameOf), withoutText: withoutText.map(nameOf) };
}

/** The packages that the sources of the page import. Types are not bundled. */
function packagesOfPage(): Set<string> {
  const folder = join(home, 'src/admin/ui');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const imported = sources.flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8').replace(/^import type .*/gm, '');
    return [...text.matchAll(/(?:from|import) '((?:@[\w.-]+\/)?[a-z][\w.-]*)/g)].map(([, name = '']) => name);
  });
  return new Set(imported);
}

/** The paths of all files below a folder of the repository. */
function filesOf(folder: string): string[] {
  return readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .map((file) => `${folder}/${file}`);
}
