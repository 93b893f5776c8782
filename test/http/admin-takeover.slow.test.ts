import { readSettings } from '../../src/config/settings.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import { urns } from '../../src/schema/resource.ts';
import { type Service, start } from '../../src/server/start.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { AUDIENCE, type OpenidProvider, openidProvider } from '../fixtures/openid-provider.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { withTestDatabase } from '../fixtures/test-database.ts';

/**
 * The attack: with a SCIM token, give the traveler of an admin an email address that the attacker controls at the
 * OpenID provider, and so sign in as that admin. The whole service runs; the attacker has the tokens of two
 * connections of one travel account.
 */
const TRAVEL_KEY = 'the-key-of-the-first-administrator-0001';
const tokens = {
  SCIM_TOKEN: 'the-token-of-the-default-connection',
  OTHER_TOKEN: 'the-token-of-another-connection',
};

let provider: OpenidProvider;
let settings: ReturnType<typeof writeSettingsFile>;
let data: ReturnType<typeof temporaryFolder>;
let service: Service;
let scim: ScimClient;
let other: ScimClient;

async function startAgain(): Promise<void> {
  await service?.close();
  const environment = { JETBRIDGE_CONFIG: settings.path, JETBRIDGE_DATA: data.path, ...tokens };
  const home = `${__dirname}/../..`;
  const chosen = { PORT: '0', LOG_LEVEL: 'silent', TRAVEL_API_KEY: TRAVEL_KEY, ...environment };
  service = await start(readSettings(await withTestDatabase(chosen), home), { background: false });
  await service.makeSecrets();
  scim = scimClient(service.url, tokens.SCIM_TOKEN);
  other = scimClient(service.url, tokens.OTHER_TOKEN);
}

beforeAll(async () => {
  provider = await openidProvider();
  data = temporaryFolder();
  const travelService = { openid: { issuer: provider.issuer, audience: AUDIENCE } };
  const policies = {};
  settings = writeSettingsFile(
    { travelService },
    {
      default: { policies },
      other: { policies, scimTokenEnv: 'OTHER_TOKEN' },
    },
  );
  await startAgain();
});
afterAll(async () => {
  await service.close();
  await provider.close();
  settings.remove();
  data.remove();
});

async function travel(method: string, path: string, body?: object): Promise<TravelUser> {
  const response = await fetch(`${service.url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${TRAVEL_KEY}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify({ data: body }) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return Object(await response.json()).data;
}

/** Runs an import of the whole travel API and all due work, twice. */
async function runAllWork(): Promise<void> {
  for (const connection of ['default', 'other']) {
    await service.importTravelers(connection, () => {});
    await service.identities(connection);
  }
  await service.identities('default');
}

async function signsIn(email: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${await provider.token(email)}` };
  return (await fetch(`${service.url}/api/whoami`, { headers })).status === 200;
}

/** An admin of the travel service, and what the attacker has of the admin. */
interface Victim {
  name: string;
  email: string;
  /** The attacker's own email address. */
  attacker: string;
  /** The SCIM id in the default connection. */
  id: string;
  travelId: string;
}

function person(name: string, email: string): object {
  return {
    userName: email,
    externalId: name,
    name: { givenName: name, familyName: 'Smith' },
    emails: [{ value: email, type: 'work', primary: true }],
    active: true,
  };
}

type Made = Pick<Victim, 'id' | 'travelId'>;

async function provisioned(name: string, email: string): Promise<Made> {
  const { status, body } = await scim.send('POST', '/Users', person(name, email));
  expect(status).toBe(201);
  return { id: body.id, travelId: body[urns.travel].travelUserId };
}

const promote = (travelId: string, role = 'admin') =>
  travel('PATCH', `/users/${travelId}`, { roles: [role] });

/** The ways to become an admin other than by the mapping. */
const states: [string, (name: string, email: string) => Promise<Made>][] = [
  [
    'provisioned by SCIM and promoted in the travel service',
    async (name, email) => {
      const made = await provisioned(name, email);
      await promote(made.travelId);
      return made;
    },
  ],
  [
    'promoted to authAdmin and imported afterwards',
    async (name, email) => {
      const made = await provisioned(name, email);
      await promote(made.travelId, 'authAdmin');
      await promote(made.travelId);
      await runAllWork();
      return made;
    },
  ],
  [
    'created in the travel service, imported, and claimed by a PATCH',
    async (name, email) => {
      const { id } = await travel('POST', '/users', {
        email,
        firstName: name,
        lastName: 'S',
        roles: ['admin'],
      });
      await runAllWork();
      const { body } = await scim.send(
        'GET',
        `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`,
      );
      return { id: body.Resources[0].id, travelId: id };
    },
  ],
  [
    'deactivated, unarchived and promoted in the travel service',
    async (name, email) => {
      const made = await provisioned(name, email);
      await scim.send('PATCH', `/Users/${made.id}`, patchOp({ op: 'replace', path: 'active', value: false }));
      await travel('PATCH', `/users/${made.travelId}`, { archived: false, roles: ['admin'] });
      return made;
    },
  ],
  [
    'deleted, unarchived and promoted in the travel service',
    async (name, email) => {
      const made = await provisioned(name, email);
      await scim.send('DELETE', `/Users/${made.id}`);
      await travel('PATCH', `/users/${made.travelId}`, { archived: false, roles: ['admin'] });
      return made;
    },
  ],
  [
    'whose address the attacker had requested before the promotion, while it was taken',
    async (name, email) => {
      const made = await provisioned(name, email);
      const attacker = attackerOf(name);
      const blocker = await provisioned(`Blocker${name}`, attacker);
      await scim.send('PUT', `/Users/${made.id}`, person(name, attacker).valueOf());
      await promote(made.travelId);
      const freed = patchOp({ op: 'replace', value: renamed(`freed-${name}@corp.example`) });
      await scim.send('PATCH', `/Users/${blocker.id}`, freed);
      return made;
    },
  ],
];

const attackerOf = (name: string) => `mallory-${name}@evil.example`.toLowerCase();
const renamed = (email: string) => ({ userName: email, 'emails[type eq "work"].value': email });
const replace = (path: string, value: unknown) => patchOp({ op: 'replace', path, value });

/** The requests of the attacker. */
const attacks: [string, (victim: Victim) => Promise<unknown>][] = [
  [
    'by userName, once there are no emails',
    async ({ id, attacker }) => {
      await scim.send('PATCH', `/Users/${id}`, patchOp({ op: 'remove', path: 'emails' }));
      await scim.send('PATCH', `/Users/${id}`, replace('userName', attacker));
    },
  ],
  [
    'by emails',
    ({ id, attacker }) =>
      scim.send(
        'PATCH',
        `/Users/${id}`,
        replace('emails', [{ value: attacker, type: 'work', primary: true }]),
      ),
  ],
  [
    'by the address of work, in capitals',
    ({ id, attacker }) =>
      scim.send('PATCH', `/Users/${id}`, replace('emails[type eq "work"].value', attacker.toUpperCase())),
  ],
  [
    'by all of these at once, with roles and a reactivation',
    ({ id, attacker }) =>
      scim.send(
        'PATCH',
        `/Users/${id}`,
        patchOp({
          op: 'replace',
          value: { ...renamed(attacker), active: true, roles: [{ value: 'admin' }] },
        }),
      ),
  ],
  [
    'by taking over the role first, and renaming afterwards',
    async ({ id, attacker }) => {
      await scim.send(
        'PATCH',
        `/Users/${id}`,
        replace('roles', [{ value: 'admin' }, { value: 'authAdmin' }]),
      );
      await scim.send('PATCH', `/Users/${id}`, replace('userName', attacker));
      await scim.send('PATCH', `/Users/${id}`, replace('emails', [{ value: attacker }]));
    },
  ],
  ['by PUT', ({ id, name, attacker }) => scim.send('PUT', `/Users/${id}`, person(name, attacker))],
  [
    'by DELETE and a POST that returns under the same externalId',
    async ({ id, name, attacker }) => {
      await scim.send('DELETE', `/Users/${id}`);
      await scim.send('POST', '/Users', person(name, attacker));
    },
  ],
  [
    'by DELETE, a POST that returns under the same userName, and a rename',
    async ({ id, name, email, attacker }) => {
      await scim.send('DELETE', `/Users/${id}`);
      const { body } = await scim.send('POST', '/Users', { ...person(name, attacker), userName: email });
      await scim.send('PUT', `/Users/${body.id ?? id}`, person(name, attacker));
    },
  ],
  [
    'by a deactivation, a rename and a reactivation',
    async ({ id, name, attacker }) => {
      await scim.send('PATCH', `/Users/${id}`, replace('active', false));
      await scim.send('PUT', `/Users/${id}`, { ...person(name, attacker), active: false });
      await runAllWork();
      await scim.send('PATCH', `/Users/${id}`, replace('active', true));
    },
  ],
  [
    'from another connection',
    async ({ name, email, attacker }) => {
      const { body } = await other.send('POST', '/Users', person(name, email));
      const found = await other.send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`);
      for (const id of [body.id, found.body.Resources?.[0]?.id])
        if (id !== undefined) await other.send('PUT', `/Users/${id}`, person(name, attacker));
    },
  ],
  [
    'from another connection, after a DELETE in this one',
    async ({ id, name, email, attacker }) => {
      await scim.send('DELETE', `/Users/${id}`);
      const { body } = await other.send('POST', '/Users', { ...person(name, attacker), userName: email });
      if (body.id) await other.send('PUT', `/Users/${body.id}`, person(name, attacker));
    },
  ],
  [
    'by an exchange of addresses',
    async ({ id, name, email, attacker }) => {
      const { body } = await scim.send('POST', '/Users', person(`Mallory${name}`, attacker));
      await scim.send('PUT', `/Users/${id}`, person(name, attacker));
      await scim.send('PUT', `/Users/${body.id}`, person(`Mallory${name}`, email));
    },
  ],
  [
    'by an exchange of addresses under taken userNames, so that a user must be parked',
    async ({ id, name, email, attacker }) => {
      const mails = (address: string) => [{ value: address, type: 'work', primary: true }];
      const { body } = await scim.send('POST', '/Users', person(`Mallory${name}`, attacker));
      await scim.send('PATCH', `/Users/${body.id}`, replace('emails', mails(email)));
      await scim.send('PATCH', `/Users/${id}`, replace('emails', mails(attacker)));
      await scim.send('DELETE', `/Users/${body.id}`);
      await runAllWork();
      await scim.send('PATCH', `/Users/${id}`, replace('emails', mails(attacker)));
    },
  ],
];

const numbered = states.map(([title, made], index): [string, typeof made, number] => [title, made, index]);

describe.each(numbered)('an admin %s', (_title, made, state) => {
  // Each attack meets every state. The service is restarted before and after every other one.
  const rounds = attacks.map(([title, attack], index): [string, typeof attack, boolean] => {
    const isRestarting = (state + index) % 2 === 1;
    return [isRestarting ? `${title}, around which the service starts anew` : title, attack, isRestarting];
  });
  test.each(rounds)('cannot be taken over %s', async (_attack, attack, isRestarting) => {
    const name = `Ada${String(process.hrtime.bigint())}`;
    const email = `${name}@corp.example`.toLowerCase();
    const attacker = attackerOf(name);
    const victim = { name, email, attacker, ...(await made(name, email)) };
    const before = await travel('GET', `/users/${victim.travelId}`);
    expect(before).toMatchObject({ email, archived: false });
    expect(await signsIn(email)).toBe(true);
    if (isRestarting) await startAgain();
    await attack(victim);
    if (isRestarting) await startAgain();
    expect(await signsIn(attacker)).toBe(false);
    await runAllWork();
    expect(await signsIn(attacker)).toBe(false);
    expect(await signsIn(email)).toBe(true);
    const { roles, archived } = await travel('GET', `/users/${victim.travelId}`);
    expect({ roles, archived }).toEqual({ roles: before.roles, archived: false });
  });
});
