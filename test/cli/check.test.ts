import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../src/cli/service/check.ts';
import { travelServer } from '../adapter/travel-server.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { recordedShell } from '../fixtures/shell.ts';

const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

/** A shell whose settings have one connection with this mapping. */
function shellFor(mapping: object, environment: Record<string, string> = {}) {
  writeFileSync(join(folder.path, 'mapping.json'), JSON.stringify(mapping));
  const settings = join(folder.path, 'jetbridge.json');
  writeFileSync(settings, JSON.stringify({ connections: { default: { mapping: 'mapping.json' } } }));
  return recordedShell({
    JETBRIDGE_CONFIG: settings,
    JETBRIDGE_DATA: join(folder.path, 'data'),
    ...environment,
  });
}

const warningsOf = ({ out }: { out: string[] }) => out.filter((line) => line.startsWith('warning: '));

test('warns of attributes that a known extension does not have, wherever a rule reads them', async () => {
  const shell = await shellFor({
    scimUserMapping: [
      { scimAttribute: `${ENTERPRISE}:departement`, userAttribute: 'currency' },
      { sources: ['title', `${ENTERPRISE}:organisation`], userAttribute: 'lang' },
      { template: `{${ENTERPRISE}:divison}`, userAttribute: 'firstName' },
      { scimAttribute: 'title', userAttribute: 'lastName', when: `${ENTERPRISE}:costcentre eq "1"` },
      { scimAttribute: 'urn:acme:hr:2.0:User:departement', userAttribute: 'phoneNumber' },
    ],
  });
  expect(await check(shell)).toBe(0);
  expect(warningsOf(shell)).toEqual([
    expect.stringMatching(
      /mapping\.json scimUserMapping\[0\]\.scimAttribute: the extension .* has no attribute departement\. Did you mean department\?$/,
    ),
    expect.stringMatching(/scimUserMapping\[1\]\.sources\[1\]: .* Did you mean organization\?$/),
    expect.stringMatching(/scimUserMapping\[2\]\.template: .* Did you mean division\?$/),
    expect.stringMatching(/scimUserMapping\[3\]\.when: .* Did you mean costCenter\?$/),
  ]);
});

test('warns of custom attributes without a URN, also in the scope, and refuses those that are similar to a known one', async () => {
  const rule = { scimAttribute: 'badgeNumber', userAttribute: 'currency' };
  const qualified = { scimAttribute: `${CORE}:site`, userAttribute: 'lang' };
  const shell = await shellFor({
    scimUserMapping: [rule, qualified],
    scope: 'legalEntity eq "FR"',
  });
  expect(await check(shell)).toBe(0);
  expect(warningsOf(shell)).toEqual([
    expect.stringMatching(
      /scope: no schema has an attribute legalEntity\. Write urn:.*:core:2\.0:User:legalEntity if/,
    ),
    expect.stringMatching(
      /scimUserMapping\[0\]\.scimAttribute: no schema has an attribute badgeNumber\. Write urn/,
    ),
  ]);
});

test('warns of nothing if all names are known', async () => {
  const shell = await shellFor({
    scimUserMapping: [{ scimAttribute: `${ENTERPRISE}:Department`, userAttribute: 'currency' }],
  });
  expect(await check(shell)).toBe(0);
  expect(warningsOf(shell)).toEqual([]);
});

test('refuses a mapping file that is too large', async () => {
  const rule = (pattern: string, index: number) => ({
    ...{ scimAttribute: 'title', customField: `field ${index}` },
    transforms: [{ replace: { pattern, with: '' } }],
  });
  const shell = await shellFor({ scimUserMapping: ['a', 'x{0,900}', 'y{0,900}', 'z{0,900}'].map(rule) });
  await expect(check(shell, { isOffline: true })).rejects.toThrow(
    /mapping\.json scimUserMapping\[1\]\.transforms\[0\]\.replace\.pattern: is the largest of patterns that are too large: its size is 1804, that of all together 5416, and a mapping has at most 5000\. Repeat less/,
  );
});

describe('--json', () => {
  test('prints the settings without their secrets, warnings, and what was not checked', async () => {
    const rule = { scimAttribute: `${ENTERPRISE}:departement`, customField: 'Team' };
    const secrets = { SCIM_TOKEN: 'the-token-of-the-provider', TRAVEL_API_KEY: 'the-key-of-the-travel-api' };
    const shell = await shellFor(
      { scimUserMapping: [rule] },
      { ...secrets, TRAVEL_API_URL: 'https://me:secret@travel.example' },
    );
    expect(await check(shell, { isOffline: true, json: true })).toBe(0);
    const result = JSON.parse(shell.out.join(''));
    expect(result).toMatchObject({
      connections: [
        {
          id: 'default',
          travelApi: { url: 'https://********@travel.example', hasKey: true, isPlainHttp: false },
          hasScimToken: true,
          mapping: { file: expect.stringMatching(/mapping\.json$/), rules: 1 },
          policies: { deprovision: 'archive' },
        },
      ],
      server: { scheme: 'http', host: '127.0.0.1', port: 8080, requireHttps: false, trustedProxies: [] },
      faults: [],
      warnings: [{ path: 'scimUserMapping[0].scimAttribute', remedy: 'Did you mean department?' }],
      unchecked: [
        {
          connection: 'default',
          subject: 'credential',
          text: 'The credential of connection default was not checked: the option --offline is given.',
        },
        {
          connection: 'default',
          subject: 'names',
          text: expect.stringMatching(/were not checked for connection default: the option --offline/),
        },
      ],
    });
    expect(shell.out.join('')).not.toMatch(/the-token|the-key|secret@/);
  });

  test('has the faults of the settings and of the credential, and exits with 1', async () => {
    const faulty = await shellFor({ colour: 'blue' });
    expect(await check(faulty, { json: true })).toBe(1);
    expect(JSON.parse(faulty.out.join('')).faults).toEqual([
      expect.objectContaining({ path: 'colour', file: expect.stringMatching(/mapping\.json$/) }),
    ]);
    const travel = await travelServer((_request, response) => response.writeHead(401).end());
    const refused = await shellFor(
      {},
      { TRAVEL_API_KEY: 'the-key-of-the-travel-api', TRAVEL_API_URL: travel.url },
    );
    expect(await check(refused, { json: true })).toBe(1);
    expect(JSON.parse(refused.out.join('')).faults).toEqual([
      expect.objectContaining({ file: 'environment', path: 'TRAVEL_API_KEY' }),
    ]);
    await travel.close();
  });
});

describe('the credential', () => {
  const key = { TRAVEL_API_KEY: 'the-key-of-the-travel-service' };

  test('that the travel API refuses is a fault that names the variable', async () => {
    const travel = await travelServer((_request, response) => response.writeHead(401).end());
    const shell = await shellFor({}, { ...key, TRAVEL_API_URL: travel.url });
    await expect(check(shell)).rejects.toThrow(
      'environment TRAVEL_API_KEY: is refused by the travel API of the connection default (401). Set it to a valid credential of the travel API.',
    );
    await travel.close();
  });

  test('of a travel API that fails was not checked, which is no fault', async () => {
    const travel = await travelServer((_request, response) => response.writeHead(500).end());
    const shell = await shellFor({}, { ...key, TRAVEL_API_URL: travel.url });
    expect(await check(shell)).toBe(0);
    expect(shell.out.join('\n')).toMatch(/The credential of connection default was not checked: .*500/);
    await travel.close();
  });

  test('is not tried with --offline, and no names are looked up', async () => {
    const travel = await travelServer((_request, response) => response.writeHead(401).end());
    const mapping = { defaults: { costCenter: { name: 'Research' } } };
    const shell = await shellFor(mapping, { ...key, TRAVEL_API_URL: travel.url });
    expect(await check(shell, { isOffline: true })).toBe(0);
    expect(shell.out.join('\n')).toMatch(
      /credential of connection default was not checked: the option --offline is given[\s\S]*were not checked for connection default: the option --offline is given/,
    );
    expect(travel.requests).toEqual([]);
    await travel.close();
  });
});

describe('with --offline', () => {
  /** Settings without a mapping file: the mapping is in the database. */
  const withoutFile = (environment: Record<string, string>) => {
    const settings = join(folder.path, 'jetbridge.json');
    writeFileSync(settings, JSON.stringify({ connections: { default: {} } }));
    return recordedShell({ JETBRIDGE_CONFIG: settings, ...environment });
  };

  test('a database that does not answer is not needed, and the mapping in it was not checked', async () => {
    const database = await travelServer(() => {});
    const { port } = new URL(database.url);
    const shell = await withoutFile({
      DATABASE_URL: `postgres://jetbridge:secret@127.0.0.1:${port}/jetbridge`,
      JETBRIDGE_KEY: 'a3c95dfcb8e14f07926d18e0b7f3542a6c9e0d71f84b25a3d6e7901c8b4f5a2e',
    });
    expect(await check(shell, { isOffline: true })).toBe(0);
    expect(shell.out).toContain(
      'The names in the mapping in force were not checked for connection default: the option --offline is given.',
    );
    expect(shell.out.at(-1)).toBe('The settings and mappings are in order.');
    expect(database.sockets).toEqual([]);
    await database.close();
  });

  test('the data folder is not opened', async () => {
    const data = join(folder.path, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'jetbridge.db'), 'this is no database');
    const shell = await withoutFile({ JETBRIDGE_DATA: data });
    expect(await check(shell, { isOffline: true })).toBe(0);
    expect(readdirSync(data)).toEqual(['jetbridge.db']);
  });
});
