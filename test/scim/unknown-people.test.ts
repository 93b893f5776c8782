import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { type TravelAdmin, travelAdmin } from '../fixtures/travel-admin.ts';

/**
 * Sequences of requests of clients that own their directory: they list all users, delete those whom they do not know, and create
 * their own. 24 travelers exist whom nobody has provisioned.
 */
const STRANGERS = 24;
const owned = [
  'owned.1@corp.example',
  'owned.2@corp.example',
  'owned.3@corp.example',
  'owned.4@corp.example',
];

interface Directory {
  service: RunningService;
  scim: ScimClient;
  travel: TravelAdmin;
  close(): Promise<void>;
}

/** Starts a service with the travelers imported. */
async function startDirectory(strangers = STRANGERS): Promise<Directory> {
  const service = await startService();
  const travel = travelAdmin(service.url, service.travelApiKey);
  for (let n = 0; n < strangers; n += 1)
    await travel.make('/users', { email: `stranger.${n}@corp.example`, firstName: 'S', lastName: `N${n}` });
  const scim = scimClient(service.url, service.scimToken);
  await eventually(async () => expect(await service.people('default')).toHaveLength(strangers + 1));
  return {
    ...{ service, scim, travel },
    close: () => service.close(),
  };
}

interface Listed {
  id: string;
  userName: string;
}

/** Lists all users page by page, as Pocket ID and authentik do. */
async function listAll({ send }: ScimClient, count = 10): Promise<{ total: number; users: Listed[] }> {
  const users: Listed[] = [];
  for (;;) {
    const { status, body } = await send('GET', `/Users?startIndex=${users.length + 1}&count=${count}`);
    expect(status).toBe(200);
    users.push(...body.Resources);
    if (body.Resources.length === 0 || users.length >= body.totalResults)
      return { total: body.totalResults, users };
  }
}

const user = (userName: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  ...{ userName, name: { givenName: 'O', familyName: 'Wned' }, active: true },
  emails: [{ value: userName, type: 'work', primary: true }],
});

async function countArchived(travel: TravelAdmin): Promise<number> {
  return (await travel.travelers()).filter(({ archived }) => archived).length;
}

describe('a client that deletes whom it does not know, before it creates its own people', () => {
  let directory: Directory;
  let listed: Listed[];
  beforeAll(async () => {
    directory = await startDirectory();
    const { total, users } = await listAll(directory.scim);
    expect([total, users.length]).toEqual([STRANGERS, STRANGERS]);
    listed = users;
    for (const { id } of users)
      expect((await directory.scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
    for (const name of owned)
      expect((await directory.scim.send('POST', '/Users', user(name))).status).toBe(201);
  });
  afterAll(() => directory.close());

  test('archives nobody, and each of the deleted people is held', async () => {
    const { travel, service } = directory;
    expect(await countArchived(travel)).toBe(0);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(
      new RegExp(`jetbridge_held\\{[^}]*cause="neverProvisioned"[^}]*\\} ${STRANGERS}\\b`),
    );
  });

  test('sees its own people alone from then on, with exact totals', async () => {
    const { total, users } = await listAll(directory.scim, 2);
    expect(total).toBe(owned.length);
    expect(users.map(({ userName }) => userName)).toEqual(owned);
    const { body } = await directory.scim.send('GET', '/Users?count=0');
    expect(body.totalResults).toBe(owned.length);
  });

  test('gets 404 for each of the deleted people, by id and in a filter', async () => {
    for (const { id, userName } of listed.slice(0, 3)) {
      for (const [method, body] of [
        ['GET', undefined],
        ['DELETE', undefined],
        ['PATCH', patchOp({ op: 'replace', path: 'active', value: false })],
      ] as const)
        expect((await directory.scim.send(method, `/Users/${id}`, body)).status).toBe(404);
      const filter = encodeURIComponent(`userName eq "${userName}"`);
      expect((await directory.scim.send('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(0);
    }
  });

  test('brings one of the deleted people back by a POST, with the traveler', async () => {
    const userName = listed[3]?.userName ?? '';
    const traveler = (await directory.travel.travelers()).find(({ email }) => email === userName);
    const { status, body } = await directory.scim.send('POST', '/Users', user(userName));
    expect(status).toBe(201);
    expect(body['urn:ietf:params:scim:schemas:extension:travel:2.0:User'].travelUserId).toBe(traveler?.id);
    expect((await directory.travel.travelers()).filter(({ email }) => email === userName)).toHaveLength(1);
  });

  test('disables and deletes its own people as ever', async () => {
    const { users } = await listAll(directory.scim);
    const [one, two] = owned.map((name) => users.find(({ userName }) => userName === name)?.id);
    const off = patchOp({ op: 'replace', path: 'active', value: false });
    expect((await directory.scim.send('PATCH', `/Users/${one}`, off)).status).toBe(200);
    expect((await directory.scim.send('DELETE', `/Users/${two}`)).status).toBe(204);
    await eventually(async () => expect(await countArchived(directory.travel)).toBe(2));
  });
});

test('the person of the credential is found by no request until it is created', async () => {
  const directory = await startDirectory(1);
  try {
    const { send } = directory.scim;
    const own = 'admin@jetbridge.local';
    const filter = encodeURIComponent(`userName eq "${own}"`);
    expect((await send('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(0);
    const search = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter: `emails.value eq "${own}"`,
    };
    for (const path of ['/Users/.search', '/.search'])
      expect((await send('POST', path, search)).body.totalResults).toBe(0);
    const { status, body } = await send('POST', '/Users', { ...user(own), externalId: 'service' });
    expect(status).toBe(201);
    const path = `/Users/${body.id}`;
    for (const request of [
      () => send('PATCH', path, patchOp({ op: 'replace', path: 'active', value: false })),
      () => send('PUT', path, { ...user(own), active: false }),
      () => send('DELETE', path),
    ]) {
      expect((await request()).status).toBe(403);
      expect(await send('GET', path)).toMatchObject({ status: 200, body: { active: true } });
    }
    expect((await send('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(1);
  } finally {
    await directory.close();
  }
});
