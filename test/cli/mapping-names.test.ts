import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const secrets = {
  SCIM_TOKEN: 'a-token-that-the-operator-chose',
  TRAVEL_API_KEY: 'a-key-that-the-operator-chose',
};

let folder: ReturnType<typeof temporaryFolder>;
let server: RunningService;
const lines: JsonObject[] = [];

function file(name: string, content: object): string {
  const path = join(folder.path, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** Returns the environment of a command on the server's data whose default connection has this mapping. */
function having(mapping: object, more: Record<string, string> = {}): Record<string, string> {
  file('mapping.json', mapping);
  const config = file('jetbridge.json', { connections: { default: { mapping: 'mapping.json' } } });
  return { JETBRIDGE_DATA: join(folder.path, 'data'), JETBRIDGE_CONFIG: config, ...secrets, ...more };
}

async function scim(path: string, body: object): Promise<Response> {
  return fetch(`${server.url}/scim/v2${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets.SCIM_TOKEN}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], ...body }),
  });
}

const department = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';
const misspelled = { defaults: { billingProfile: { name: 'Headquaters' } } };
const managed = {
  userName: 'ada@corp.example',
  title: 'Buyer',
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: 'boss@corp.example' } },
};

beforeAll(async () => {
  folder = temporaryFolder();
  server = await startService(having(misspelled), { log: createLog('warn', parseLinesInto(lines)) });
  const admin = travelAdmin(server.url, secrets.TRAVEL_API_KEY);
  await admin.make('/billing-profiles', { name: 'Headquarters', email: 'bill@corp.example', lang: 'en' });
  await admin.make('/cost-centers', { name: 'Marketing' });
  await admin.make('/custom-fields', { name: 'Job title', dataType: 'text', resourceType: 'user' });
  const field = await admin.make('/custom-fields', {
    name: 'Department',
    dataType: 'option',
    resourceType: 'user',
  });
  await admin.make(`/custom-fields/${field}/options`, { data: 'Sales' });
});

afterAll(async () => {
  await server.close();
  folder.remove();
});

describe('check, while a server runs', () => {
  it('looks up every name of the mapping in the travel service, and prints a line for each unknown one', async () => {
    const ran = await runCommandLine(
      ['check'],
      having({
        defaults: {
          billingProfile: { name: 'Headquaters' },
          travelPolicy: { id: 'no-such-policy' },
          costCenter: { name: 'Marketing' },
        },
        scimUserMapping: [
          { scimAttribute: 'title', customField: 'Job titel' },
          { scimAttribute: 'userType', customFieldId: 'no-such-field' },
          {
            scimAttribute: department,
            customField: 'Department',
            transforms: [{ map: { S: 'Sales', M: 'Sails' } }],
          },
          {
            scimAttribute: 'nickName',
            userAttribute: 'costCenterId',
            transforms: [{ map: { A: 'Marketing' } }, { default: 'Markting' }],
          },
          { scimAttribute: 'displayName', userAttribute: 'lang', transforms: [{ default: 'german' }] },
        ],
      }),
    );
    expect(ran.code).toBe(1);
    expect(ran.out).not.toContain('in order');
    const mapping = join(folder.path, 'mapping.json');
    expect(ran.err.replaceAll(`${mapping} `, '').trimEnd().split('\n').toSorted()).toEqual([
      'defaults.billingProfile.name: the travel service has no such billing profile: "Headquaters". Did you mean "Headquarters"?',
      expect.stringMatching(
        /^defaults\.travelPolicy\.id: the travel service has no such travel policy: "no-such-policy"\. /,
      ),
      expect.stringMatching(
        /^scimUserMapping\[0]\.customField: .* "Job titel"\. Did you mean "Job title"\?$/,
      ),
      expect.stringMatching(
        /^scimUserMapping\[1]\.customFieldId: the travel service has no custom field no-such/,
      ),
      expect.stringMatching(
        /^scimUserMapping\[2]\.transforms\[0]\.map\.M: .*: "Sails"\. Did you mean "Sales"\?$/,
      ),
      expect.stringMatching(
        /^scimUserMapping\[3]\.transforms\[1]\.default: .*: "Markting"\. Did you mean "Marketing"\?$/,
      ),
      'scimUserMapping[4].transforms[0].default: the travel service speaks English and French: "german". Correct the value.',
    ]);
  });

  it('reports that a mapping whose names are all known is in order', async () => {
    const ran = await runCommandLine(
      ['check'],
      having({
        defaults: { billingProfile: { name: 'Headquarters' } },
        scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }],
      }),
    );
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out.trimEnd().split('\n').at(-1)).toBe('The settings and mappings are in order.');
  });
});

it('check looks up the names of every connection', async () => {
  file('mapping.json', misspelled);
  const connections = { default: { mapping: 'mapping.json' }, second: { mapping: 'mapping.json' } };
  const environment = { ...having(misspelled), JETBRIDGE_CONFIG: file('two.json', { connections }) };
  const ran = await runCommandLine(['check'], environment);
  expect(ran.code).toBe(1);
  expect(ran.err.trimEnd().split('\n')).toHaveLength(2);
});

describe('check, without a travel API', () => {
  const nobody = { TRAVEL_API_URL: 'http://127.0.0.1:1', TRAVEL_API_KEY: 'nobody-will-ask-for-it' };

  it('reports that it could not look up the names, which is no fault', async () => {
    const ran = await runCommandLine(['check'], having(misspelled, nobody));
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain(
      `The names in ${join(folder.path, 'mapping.json')} were not checked for connection default: the travel API cannot be asked, as `,
    );
  });

  it('still reports what is wrong in any travel service', async () => {
    const lang = { scimAttribute: 'title', userAttribute: 'lang', transforms: [{ default: 'german' }] };
    const ran = await runCommandLine(['check'], having({ ...misspelled, scimUserMapping: [lang] }, nobody));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('were not checked');
    expect(ran.err.trimEnd().split('\n')).toEqual([
      expect.stringContaining('scimUserMapping[0].transforms[0].default: the travel service speaks'),
    ]);
  });
});

describeOnSqlite('check, without a data folder', () => {
  it('creates no database for an embedded service that was never started', async () => {
    const data = join(folder.path, 'never');
    const ran = await runCommandLine(['check'], having(misspelled, { JETBRIDGE_DATA: data }));
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('the embedded travel service has never been started');
    expect(existsSync(data)).toBe(false);
  });
});

describe('preview, while a server runs', () => {
  it('reports fields that stay unchanged, the value after the transforms, and the place in the mapping', async () => {
    const map = {
      scimAttribute: 'title',
      userAttribute: 'costCenterId',
      transforms: [{ map: { Buyer: 'Markting' } }],
    };
    const ran = await runCommandLine(
      ['preview', '--input', file('ada.json', managed)],
      having({ ...misspelled, scimUserMapping: [map] }),
    );
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(
      /^billingProfileId +! the mapping is at fault: the billing profile stays as it is$/m,
    );
    expect(ran.out).toMatch(/kept by file rule title \| .*: "Buyer" → "Markting" \(/);
    expect(ran.out).toContain('Correct defaults.billingProfile.name.');
    expect(ran.out).toContain('Correct scimUserMapping[0].transforms[0].map.Buyer.');
  });

  it('resolves the manager among the stored people', async () => {
    const args = ['preview', '--input', file('ada.json', managed)];
    const before = await runCommandLine(args, having({}));
    expect(before.out).toContain('[managerUnknown]');
    const boss = await scim('/Users', { userName: 'boss@corp.example' });
    expect(boss.status).toBe(201);
    const admin = travelAdmin(server.url, secrets.TRAVEL_API_KEY);
    const traveler = await eventually(async () => {
      const found = (await admin.travelers()).find(({ email }) => email === 'boss@corp.example');
      return found ?? Promise.reject(new Error('the traveler has not been made yet'));
    });
    const after = await runCommandLine(args, having({}));
    expect(after.out).toMatch(new RegExp(`^managerId += "${traveler.id}" .boss@corp.example.$`, 'm'));
    expect(after.out).not.toContain('managerUnknown');
    const self = file('boss.json', { ...managed, userName: 'boss@corp.example' });
    expect((await runCommandLine(['preview', '--input', self], having({}))).out).toContain('[managerSelf]');
  });

  it('refuses a mapping with faults for all people', async () => {
    const other = file('other.json', { defaults: { costCenter: { name: 'Markting' } } });
    const ran = await runCommandLine(['preview', '--people', '--mapping', other], having({}));
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain(
      'other.json defaults.costCenter.name: the travel service has no such cost center: "Markting". Did you mean "Marketing"?',
    );
  });
});

it('a fault of the mapping is logged once, however many people it concerns, and counted in the metrics', async () => {
  for (const name of ['one', 'two', 'three'])
    expect((await scim('/Users', { userName: `${name}@corp.example` })).status).toBe(201);
  const gauge = async () => (await fetch(`${server.url}/metrics`)).text();
  await eventually(async () =>
    expect(await gauge()).toContain('jetbridge_mapping_faults{connection="default"} 1'),
  );
  const faults = lines.filter((line) => JSON.stringify(line).includes('defaults.billingProfile.name'));
  expect(faults).toHaveLength(1);
});
