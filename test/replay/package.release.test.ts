import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { replay, type ScenarioDefinition, ScenarioFault, scenario, scenarios } from 'jetbridge/replay';
import { matcherNames } from '../../src/replay/matchers.ts';
import { fencedBlocks, readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

const home = join(__dirname, '../..');
const headers = { Authorization: 'Bearer {{token}}', 'Content-Type': 'application/scim+json' };
const joiner: ScenarioDefinition = {
  name: 'joiner',
  steps: [
    {
      request: {
        method: 'POST',
        path: '/Users',
        headers,
        body: {
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
          userName: 'ada.{{run}}@corp.example',
          name: { givenName: 'Ada', familyName: 'King' },
        },
      },
      expect: { status: [201], bodyMatches: { active: true } },
      capture: { ada: 'id' },
      travel: { firstName: 'Ada', archived: false },
    },
    {
      request: {
        method: 'PATCH',
        path: '/Users/{{ada}}',
        headers,
        body: { Operations: [{ op: 'replace', path: 'active', value: false }] },
      },
      expect: { status: [200] },
      travel: { archived: true },
    },
  ],
};

// jest loads the built package here, by the name that a project uses.
describe('jetbridge/replay', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());
  const target = () => ({
    url: `${service.url}/scim/v2/`,
    token: service.scimToken,
    travel: { key: service.travelApiKey },
  });

  test('a scenario that is built in code is played, travelers included', async () => {
    const report = await replay(scenario(joiner), target());
    expect(report.mismatches).toEqual([]);
    expect(report).toMatchObject({ passed: 1, failed: 0, unchecked: 0 });
    expect(report.text).toBe('passed   joiner (2 steps)\n1 scenario: 1 passed, 0 failed, 0 skipped');
  });

  test('without a key of the travel API, travelers are not compared, and counted', async () => {
    const { travel: _, ...plain } = target();
    expect(await replay(scenario(joiner), plain)).toMatchObject({ passed: 1, unchecked: 2 });
  });

  test('a mismatch tells scenario, step, request, place and both values, and why a request was refused', async () => {
    const [first, second] = joiner.steps;
    if (!first || !second) throw new Error('no steps');
    const wrong = scenario({
      name: 'wrong',
      steps: [
        { ...first, expect: { status: [200, 204] }, travel: { firstName: 'Grace' } },
        { ...first, request: { ...first.request, body: {} } },
      ],
    });
    const { mismatches, text, failed } = await replay([wrong, scenario(joiner)], target());
    expect(failed).toBe(1);
    expect(mismatches).toMatchObject([
      { scenario: 'wrong', step: 1, request: 'POST /scim/v2/Users', at: 'status', expected: '200 or 204' },
      { step: 1, at: 'traveler: firstName', expected: 'Grace', actual: 'Ada' },
      { step: 2, at: 'status', expected: '201', actual: '400 invalidValue: userName is required.' },
    ]);
    expect(text).toContain('FAILED   wrong (must)');
    expect(text).toMatch(/expected 201\n {6}but was {2}400 \w+: /);
  });

  test('a file and a folder are read, and faults are told with their place and cure', () => {
    const folder = join(home, 'demo');
    expect(scenario(join(folder, 'okta-day.json')).name).toBe('okta-day');
    expect(scenarios(join(home, 'test/idp/scenarios')).length).toBeGreaterThan(80);
    expect(() => scenario(join(home, 'test/idp/scenarios'))).toThrow('is a folder');
    const faulty = () => scenario({ ...joiner, step: [] } as ScenarioDefinition);
    expect(faulty).toThrow(ScenarioFault);
    expect(faulty).toThrow('joiner step: unknown key. Did you mean steps?');
  });

  test('the example in docs/scenarios.md passes, and its tables have all matchers', async () => {
    const page = readDocument('docs/scenarios.md');
    const [example] = fencedBlocks(page).filter(({ text }) => text.includes('joiner-and-leaver'));
    const report = await replay(scenario(JSON.parse(example?.text ?? '')), target());
    expect(report.mismatches).toEqual([]);
    expect(report.unchecked).toBe(0);
    const told = tableRowsUnder(page, 'Matchers').flatMap(([names = '']) => names.match(/\$\w+/g) ?? []);
    expect(told.toSorted()).toEqual(matcherNames.toSorted());
  });

  test('an ES module gets the same functions', () => {
    const code =
      "import { replay, scenario } from 'jetbridge/replay'; console.log(typeof replay, scenario('demo/okta-day.json').name);";
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: home,
      encoding: 'utf8',
    });
    expect(out).toBe('function okta-day\n');
  });

  test.each([
    ['an ES module', 'module', 'NodeNext'],
    ['a CommonJS module', 'commonjs', 'NodeNext'],
    ['a bundled module', 'module', 'Bundler'],
  ])('%s gets the types', (_, type, moduleResolution) => {
    const project = mkdtempSync(join(tmpdir(), 'jetbridge-project-'));
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(home, join(project, 'node_modules/jetbridge'));
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type }));
    const code = `
      import { replay, scenario, type ReplayReport } from 'jetbridge/replay';
      export async function play(): Promise<string> {
        const report: ReplayReport = await replay(scenario('x.json'), { url: 'http://h/scim/v2', token: 't' });
        return report.mismatches.map(({ scenario: name, at }) => name + at).join();
      }
      // @ts-expect-error The token is required.
      export const wrong = () => replay([], { url: 'http://h/scim/v2' });`;
    writeFileSync(join(project, 'play.ts'), code);
    const module = moduleResolution === 'Bundler' ? 'ESNext' : 'NodeNext';
    const options = {
      strict: true,
      noEmit: true,
      target: 'ES2022',
      module,
      moduleResolution,
      types: [],
      skipLibCheck: true,
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['play.ts'] }),
    );
    const compiler = join(dirname(createRequire(__filename).resolve('typescript/package.json')), 'bin/tsc');
    const run = () =>
      execFileSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8', stdio: 'pipe' });
    expect(run).not.toThrow();
    rmSync(project, { recursive: true });
  });
});
