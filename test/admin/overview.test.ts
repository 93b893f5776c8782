import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';

const user = (name: string, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: 'Example' },
  emails: [{ value: `${name}@corp.example`, type: 'work', primary: true }],
  active: true,
  ...more,
});

describe('with the embedded travel service', () => {
  let fixture: AdminFixture;
  beforeAll(async () => {
    fixture = await startAdmin();
  });
  afterAll(() => fixture.close());

  test('an empty service says which steps are left, and then that everybody is in step', async () => {
    const { service, viewer } = fixture;
    const before = (await viewer('GET', '/overview')).body;
    expect(before).toMatchObject({
      ...{ state: 'empty', sentence: 'No identity provider has sent a person yet.' },
      steps: { isConnected: false, hasMapping: false },
      connections: [{ id: 'default', waiting: 0, mappingFaults: 0 }],
    });
    expect(before.connections[0].lastRequest).toBeUndefined();
    // The service's own admin is imported, and is no person.
    await eventually(async () =>
      expect((await viewer('GET', '/overview')).body.connections[0].lastImport?.read).toBe(1),
    );
    expect((await viewer('GET', '/overview')).body.people).toMatchObject({ total: 0, unmanaged: 0 });
    expect((await viewer('GET', '/people')).body.people).toEqual([]);
    expect((await viewer('GET', '/people/search?text=admin@jetbridge.local')).body.people).toEqual([]);
    const { send } = scimClient(service.url, service.scimToken);
    expect((await send('POST', '/Users', user('ada'))).status).toBe(201);
    const after = (await viewer('GET', '/overview')).body;
    expect(after).toMatchObject({
      ...{ state: 'inStep', sentence: 'The only person is in step with the travel service.' },
      people: { total: 1, synced: 1, dirty: 0, pending: 0, refused: 0, held: 0 },
      ...{ findings: { kinds: [], isCut: false }, held: [] },
    });
    expect(after.steps).toBeUndefined();
  });

  test('people are counted by state, and by the code of each finding', async () => {
    const { service, viewer } = fixture;
    const { send } = scimClient(service.url, service.scimToken);
    const phones = ['+33 6', '+33 7'].map((value, index) => ({
      value,
      type: index === 0 ? 'work' : 'mobile',
    }));
    await send('POST', '/Users', user('grace', { phoneNumbers: phones }));
    await send('POST', '/Users', user('joan', { userName: 'joan', emails: [] }));
    const { body } = await viewer('GET', '/overview');
    expect(body).toMatchObject({
      state: 'attention',
      sentence: '2 of 3 people are in step with the travel service; 1 is incomplete.',
      people: { total: 3, synced: 2, pending: 1, unmanaged: 0 },
    });
    const listed = async (code: string) =>
      (await viewer('GET', `/people?finding=${code}`)).body.people.length;
    expect(body.findings.kinds.length).toBeGreaterThan(1);
    for (const { code, people } of body.findings.kinds) expect(await listed(code)).toBe(people);
  });

  test('requests, calls and their errors are counted by minute and by quarter of an hour', async () => {
    const { service, viewer } = fixture;
    const { send } = scimClient(service.url, service.scimToken);
    const countAll = async () => {
      const { hour, day } = (await viewer('GET', '/activity')).body;
      const sumOf = (spans: { requests: number; requestErrors: number; calls: number }[]) => ({
        requests: spans.reduce((sum, { requests }) => sum + requests, 0),
        requestErrors: spans.reduce((sum, { requestErrors }) => sum + requestErrors, 0),
        hasCalls: spans.some(({ calls }) => calls > 0),
      });
      expect([hour.length, day.length]).toEqual([60, 96]);
      expect(sumOf(day)).toEqual(sumOf(hour));
      return sumOf(hour);
    };
    const counted = await eventually(async () => {
      const counts = await countAll();
      expect(counts).toEqual({ requests: 3, requestErrors: 0, hasCalls: true });
      return counts;
    });
    await send('GET', '/Users/nobody');
    await eventually(async () =>
      expect(await countAll()).toEqual({ ...counted, requests: 4, requestErrors: 1 }),
    );
    const { connections } = (await viewer('GET', '/overview')).body;
    expect(connections[0]).toMatchObject({
      lastRequest: { method: 'GET', path: '/scim/v2/Users/nobody', status: 404, isFailed: true },
      lastCall: { isFailed: false },
    });
  });

  test('after a restore the people who differ are a condition, until an admin has the stored values sent again', async () => {
    const { service, admin, viewer } = fixture;
    const { send } = scimClient(service.url, service.scimToken);
    const { code, out } = await runCommandLine(['restored'], { JETBRIDGE_DATA: service.data });
    expect(code).toBe(0);
    expect(out).toMatch(/^Everybody counts as newly imported.*\n1\. Start a full synchronization/);
    const read = async () => (await viewer('GET', '/overview')).body;
    await eventually(async () => expect((await read()).people.dirty).toBe(0));
    expect((await read()).conditions).toEqual([]);
    const { body: leaver } = await send('POST', '/Users', user('leaver'));
    await eventually(async () => expect((await read()).people.dirty).toBe(0));
    const { travelUserId } = leaver['urn:ietf:params:scim:schemas:extension:travel:2.0:User'];
    const archived = await fetch(`${service.url}/api/users/${travelUserId}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${service.travelApiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ data: { archived: true } }),
    });
    expect(archived.status).toBe(200);
    await runCommandLine(['restored'], { JETBRIDGE_DATA: service.data });
    await eventually(async () =>
      expect((await read()).conditions).toMatchObject([{ kind: 'restoredPeople', people: 1 }]),
    );
    const path = '/connections/default/send-again';
    expect((await viewer('POST', path, { body: {} })).status).toBe(403);
    expect((await admin('POST', '/connections/unknown/send-again', { body: {} })).status).toBe(404);
    expect((await admin('POST', path, { body: { person: 'nobody' } })).body).toEqual({ people: 0 });
    expect((await admin('POST', path, { body: { person: leaver.id } })).body).toEqual({ people: 1 });
    await eventually(async () => expect((await read()).conditions).toEqual([]));
  });
});

test('while the travel API does not answer, the sentence says how many changes wait, since when and why', async () => {
  const { service, viewer, close } = await startAdmin({
    TRAVEL_API_URL: 'http://127.0.0.1:1',
    TRAVEL_API_KEY: 'key',
  });
  try {
    const { send } = scimClient(service.url, service.scimToken);
    expect((await send('POST', '/Users', user('ada'))).status).toBe(201);
    await eventually(async () => {
      const { body } = await viewer('GET', '/overview');
      expect(body.sentence).toMatch(
        /^The travel API does not answer \(ECONNREFUSED\) since \S+Z; 1 change waits, the oldest for \d+ (second|minute)s?\.$/,
      );
      expect(body).toMatchObject({ state: 'failing', people: { total: 1, dirty: 1 } });
    });
  } finally {
    await close();
  }
});
