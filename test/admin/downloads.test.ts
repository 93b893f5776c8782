import type { OperationDeps } from '../../src/operations/deps.ts';
import type { OperationContext } from '../../src/operations/operation.ts';
import { peopleOperations } from '../../src/operations/people/people.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** The departure of the first person is carried out, the others are held. */
const policies = { safetyValve: { share: 0, minimum: 1, windowMinutes: 60 } };

let fixture: AdminFixture;
let settings: ReturnType<typeof writeSettingsFile>;
let idp: ScimClient;
/** The SCIM ids by userName. */
const ids = new Map<string, string>();
beforeAll(async () => {
  settings = writeSettingsFile({}, { default: { policies } });
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  idp = scimClient(fixture.service.url, fixture.service.scimToken);
  await provision({
    userName: 'ada@corp.example',
    displayName: 'Zoë "Ada" King',
    [enterprise]: { costCenter: 'CC-999' },
  });
  await provision({ userName: 'bob@corp.example', [enterprise]: { costCenter: 'CC-999' } });
  await provision({ userName: 'cem@corp.example', [enterprise]: { costCenter: 'CC-1' } });
  await provision({ userName: '=cmd()' });
});
afterAll(async () => {
  await fixture.close();
  settings.remove();
});

async function provision(user: { userName: string } & Record<string, unknown>): Promise<void> {
  const { status, body } = await idp.send('POST', '/Users', { active: true, ...user });
  expect(status).toBe(201);
  ids.set(user.userName, body.id);
}

/** Downloads a file and returns its lines. `fetch` has removed the byte order mark. */
async function download(path: string): Promise<string[]> {
  const { status, body } = await fixture.viewer('GET', path);
  expect(status).toBe(200);
  return body.split('\r\n').slice(0, -1);
}

test('people are downloaded with the filters of their list, and no cell is a formula', async () => {
  const { headers } = await fixture.viewer('GET', '/people.csv');
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(headers.get('content-disposition')).toBe('attachment; filename=people.csv');
  const [names, ...all] = await download('/people.csv');
  expect(names).toBe(
    'connection,id,userName,name,state,hold,travelUserId,active,deleted,findings,lastChange,nextAttempt',
  );
  expect(all[0]).toMatch(new RegExp(`^default,${ids.get('=cmd()')},'=cmd\\(\\),,pending,,,true,false,`));
  expect(all[1]).toContain(',"Zoë ""Ada"" King",synced,,');
  const [, ...pending] = await download('/people.csv?state=pending');
  expect(pending).toEqual([all[0]]);
  const [, ...some] = await download('/people.csv?finding=costCenterUnknown&field=costCenterId&value=CC-1');
  expect(some.map((line) => line.split(',')[2])).toEqual(['cem@corp.example']);
});

test('a download with an unknown connection is refused before it begins', async () => {
  for (const path of ['/people.csv', '/people/findings.csv', '/holds.csv']) {
    const { status, body } = await fixture.viewer('GET', `${path}?connection=okta`);
    expect([path, status, body.faults[0].field]).toEqual([path, 422, 'connection']);
  }
});

test('people are counted by the values of their findings, and each count is that of the list', async () => {
  const { body } = await fixture.viewer('GET', '/people/findings?finding=costCenterUnknown');
  const common = { connection: 'default', code: 'costCenterUnknown', field: 'costCenterId', isRest: false };
  expect(body).toEqual({
    ...{ isCut: false, names: {} },
    values: [
      {
        ...{ ...common, value: 'CC-999', people: 2 },
        example: { id: ids.get('ada@corp.example'), userName: 'ada@corp.example', name: 'Zoë "Ada" King' },
      },
      expect.objectContaining({ ...common, value: 'CC-1', people: 1 }),
    ],
  });
  for (const { code, field, value, people } of body.values) {
    const list = await fixture.viewer('GET', `/people?finding=${code}&field=${field}&value=${value}`);
    expect(list.body.people).toHaveLength(people);
  }
  const all = await fixture.viewer('GET', '/people/findings');
  expect(all.body.values.map(({ code }: { code: string }) => code)).toContain('noEmail');
});

test('the counts by value are downloaded, the most frequent first', async () => {
  expect(await download('/people/findings.csv?finding=costCenterUnknown')).toEqual([
    'connection,finding,field,value,otherValues,people,exampleId,exampleUserName',
    `default,costCenterUnknown,costCenterId,CC-999,false,2,${ids.get('ada@corp.example')},ada@corp.example`,
    `default,costCenterUnknown,costCenterId,CC-1,false,1,${ids.get('cem@corp.example')},cem@corp.example`,
  ]);
});

test('everybody whom filters select is reconciled, and the audit log says by which filters and how many', async () => {
  const filters = { finding: 'costCenterUnknown', value: 'CC-999' };
  const selection = await fixture.viewer('GET', '/people/selection?finding=costCenterUnknown&value=CC-999');
  expect(selection.body).toEqual({ people: 2, withFindings: 2, isMore: false });
  const revisions = async () =>
    new Map((await fixture.service.people('default')).map(({ id, revision }) => [id, revision]));
  const before = await revisions();
  const reconciled = await fixture.admin('POST', '/people/reconcile', { body: filters });
  expect([reconciled.status, reconciled.body]).toEqual([200, { people: 2 }]);
  const after = await revisions();
  const changed = [...ids].filter(([, id]) => (after.get(id) ?? 0) > (before.get(id) ?? 0));
  expect(changed.map(([userName]) => userName)).toEqual(['ada@corp.example', 'bob@corp.example']);
  const { body } = await fixture.viewer('GET', '/audit?limit=1');
  expect(body.entries[0]).toMatchObject({ action: 'reconcilePeople', details: { ...filters, people: 2 } });
});

test('more than 10,000 people are counted up to there, and not reconciled', async () => {
  const person = { connection: 'okta', id: 'a', userName: 'a', name: '', state: 'synced', lastModified: 0 };
  const page = {
    people: Array.from({ length: 500 }, () => ({
      ...person,
      isActive: true,
      isDeleted: false,
      findings: [],
    })),
    next: { key: 'a', id: 'a' },
  };
  const marked: string[][] = [];
  const reconcileQueue = { markDirty: async (_: string, ids: string[]) => marked.push(ids) };
  const store = { people: { findPage: async () => page }, reconcileQueue };
  const deps = { store, connectionIds: () => ['okta'] } as unknown as OperationDeps;
  const signal = new AbortController().signal;
  const context: OperationContext = { caller: undefined, publicUrl: '', signal, note: () => {} };
  const { countSelectedPeople, reconcilePeople } = peopleOperations;
  // Without filters, the counts of the overview tell the number.
  const [query, body] = [{ userName: 'a' }, {}];
  const counted = await countSelectedPeople.handle({ params: {}, query, body: {} }, deps, context);
  expect(counted).toMatchObject({ people: 10_000, isMore: true });
  const refused = reconcilePeople.handle({ params: {}, query: {}, body }, deps, context);
  await expect(refused).rejects.toThrow('More than 10,000 people match these filters.');
  expect(marked).toEqual([]);
});

test('held people are downloaded by connection and cause', async () => {
  for (const userName of ['bob@corp.example', 'cem@corp.example'])
    await idp.send(
      'PATCH',
      `/Users/${ids.get(userName)}`,
      patchOp({ op: 'replace', path: 'active', value: false }),
    );
  const [names, ...held] = await download('/holds.csv');
  expect(names).toBe('connection,cause,since,id,userName,wants,version');
  const id = ids.get('cem@corp.example');
  expect(held).toEqual([
    expect.stringMatching(new RegExp(`^default,safetyValve,20.*Z,${id},cem@corp\\.example,deactivate,\\d+$`)),
  ]);
  expect(await download('/holds.csv?connection=default&cause=guarded')).toEqual([names]);
});

test('the audit log is downloaded with the filters of its list, the newest entry first', async () => {
  const [names, ...entries] = await download('/audit.csv');
  expect(names).toBe('at,actor,actorKind,address,action,status,details');
  expect(entries[0]).toMatch(
    /^20.*Z,admin of tests,token,127\.0\.0\.1,reconcilePeople,200,"\{""finding"":""costCenterUnknown"",/,
  );
  expect((await fixture.viewer('GET', '/audit')).body.entries).toHaveLength(entries.length);
  const [, ...tokens] = await download('/audit.csv?action=createAdminToken');
  expect(tokens).toHaveLength(2);
  expect(await download('/audit.csv?until=2020-01-01T00:00:00.000Z')).toEqual([names]);
});
