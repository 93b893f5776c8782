import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replayRecorded } from '../../src/cli/traffic/replay.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';

const joiner = (firstName: string) => ({
  name: 'joiner',
  steps: [
    {
      request: {
        method: 'POST',
        path: '/Users',
        headers: { Authorization: 'Bearer {{token}}', 'Content-Type': 'application/scim+json' },
        body: { userName: 'ada.{{run}}@corp.example', name: { givenName: 'Ada', familyName: 'King' } },
      },
      expect: { status: [201] },
      capture: { ada: 'id' },
      travel: { firstName, email: 'ada.{{run}}@corp.example', managerId: null, lastName: '<a description>' },
    },
  ],
});

describe('jetbridge replay', () => {
  const folder = temporaryFolder();
  let service: RunningService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    await service.close();
    folder.remove();
  });

  async function run(
    scenario: unknown,
    {
      environment = {},
      ...more
    }: { environment?: Record<string, string>; travelKey?: string; travelUrl?: string; token?: string },
  ) {
    const file = join(folder.path, 'joiner.json');
    writeFileSync(file, JSON.stringify(scenario));
    const shell = await recordedShell(environment);
    const flags = { url: `${service.url}/scim/v2`, token: service.scimToken, variable: {}, ...more };
    const code = await replayRecorded(shell, file, flags);
    return { code, out: shell.out, err: shell.err };
  }

  test('compares travelers with a key of the travel API, given or in the environment', async () => {
    const passed = {
      code: 0,
      out: ['passed   joiner (1 step)', '1 scenario: 1 passed, 0 failed, 0 skipped'],
      err: [],
    };
    const { travelApiKey: key, url } = service;
    expect(await run(joiner('Ada'), { travelKey: key })).toEqual(passed);
    expect(await run(joiner('Ada'), { environment: { TRAVEL_API_KEY: key } })).toEqual(passed);
    expect(await run(joiner('Ada'), { travelKey: key, travelUrl: `${url}/api` })).toEqual(passed);
  });

  test('tells a traveler who differs', async () => {
    const { code, out } = await run(joiner('Grace'), { travelKey: service.travelApiKey });
    expect(code).toBe(1);
    expect(out.slice(2, 5)).toEqual([
      '    traveler: firstName',
      '      expected "Grace"',
      '      but was  "Ada"',
    ]);
  });

  test('tells a key that the travel API refuses', async () => {
    const { code, out, err } = await run(joiner('Ada'), { travelKey: 'no-key-of-this-service' });
    expect(code).toBe(1);
    expect(out.slice(2, 5)).toEqual(['    travel API', '      expected "200"', '      but was  "401"']);
    const told = (source: string) =>
      `The travel API refuses the key of ${source} (401): give a key of that travel API, or check --travel-url; "npx jetbridge api-keys create" makes one for the embedded travel service.`;
    expect(err).toEqual([told('--travel-key')]);
    const environment = { TRAVEL_API_KEY: 'no-key-of-this-service' };
    const ofEnvironment = await run(joiner('Ada'), { environment });
    expect(ofEnvironment.err).toEqual([told('the environment variable TRAVEL_API_KEY')]);
  });

  test('tells a token that the SCIM service refuses', async () => {
    const { code, err } = await run(joiner('Ada'), { token: 'no-token-of-this-service' });
    expect(code).toBe(1);
    expect(err).toContain(
      'The SCIM service refuses the token of --token (401): give a token of the service at --url; "npx jetbridge tokens create" makes one.',
    );
  });

  test('says how many travelers were not checked without a key', async () => {
    const { code, err } = await run(joiner('Grace'), {});
    expect(code).toBe(0);
    expect(err).toEqual([
      'The traveler of 1 step was not checked: give a key of the travel API with --travel-key or TRAVEL_API_KEY.',
    ]);
  });

  test('tells every fault of a file before it plays anything', async () => {
    const { code, out, err } = await run({ ...joiner('Ada'), tag: [], idp: 3 }, {});
    expect({ code, out }).toEqual({ code: 1, out: [] });
    expect(
      err
        .join('\n')
        .split('\n')
        .map((line) => line.replace(/^.*joiner\.json /, '')),
    ).toEqual([
      'idp: expected string, received number. Write a string.',
      'tag: unknown key. Did you mean tags? Known here: $schema, name, idp, source, evidence, notes, severity, tags, steps.',
    ]);
  });
});
