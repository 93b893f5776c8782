import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type EraseAsked, eraseUser } from '../../src/commands/erase.ts';
import { openEmbedded } from '../../src/store/database.ts';
import { travelResources } from '../../src/store/travel-resources.ts';
import { backOffice } from '../../src/travel/back-office/back-office.ts';
import { car, flight, hotel } from '../travel/back-office/offers.ts';
import { eventually } from './eventually.ts';
import { folder } from './jetbridge.ts';
import { type ScimClient, scimClient } from './scim-client.ts';
import { patchOp } from './scim-house.ts';
import { type RunningService, startService } from './service.ts';
import { settingsFile } from './settings-file.ts';
import { shellOf } from './shell.ts';
import { travelAdmin } from './travel-admin.ts';

export const SCIM_TOKEN = 'the-token-of-the-identity-provider';
export const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';
const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const travelExtension = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

/** A folder with settings for one test of `jetbridge erase`, and a receiver of webhooks, which refuses at first. */
export class ErasureHouse {
  readonly #place = folder();
  #file = settingsFile({ travelService: { webhooks: { allowPrivate: true } } });
  #service: RunningService | undefined;
  readonly #receiver: Server;
  readonly received: { kind: string; data: object }[] = [];
  receives = false;

  private constructor() {
    this.#receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        if (this.receives) this.received.push(JSON.parse(body));
        response.writeHead(this.receives ? 204 : 503).end();
      });
    });
  }

  static async open(): Promise<ErasureHouse> {
    const house = new ErasureHouse();
    await new Promise<void>((resolve) => house.#receiver.listen(0, '127.0.0.1', resolve));
    return house;
  }

  async close(): Promise<void> {
    await this.stop();
    await new Promise((resolve) => this.#receiver.close(resolve).closeAllConnections());
    this.#file.remove();
    this.#place.remove();
  }

  get environment() {
    return {
      ...{ TRAVEL_API_KEY, SCIM_TOKEN },
      JETBRIDGE_DATA: join(this.#place.path, 'data'),
      JETBRIDGE_CONFIG: this.#file.path,
      OTHER_TOKEN: 'the-token-of-the-other-provider',
    };
  }

  /** Other connections than the one that there is without settings. */
  connect(connections: Record<string, object>): void {
    this.#file.remove();
    this.#file = settingsFile({ travelService: { webhooks: { allowPrivate: true } } }, connections);
  }

  async serve(): Promise<RunningService> {
    this.#service = await startService(this.environment);
    return this.#service;
  }

  async stop(): Promise<void> {
    // `close` of a running service removes the throw-away folder that it would have made itself.
    await this.#service?.close();
    this.#service = undefined;
  }

  /** The command, its exit code, and what it printed. */
  async erase(user: string, asked: Omit<EraseAsked, 'user'> = { yes: true }) {
    const shell = shellOf(this.environment);
    const end = await eraseUser(shell, { user, ...asked });
    return { end, out: shell.out.join('\n'), err: shell.err.join('\n') };
  }

  get webhookUrl(): string {
    const { port } = this.#receiver.address() as AddressInfo; // It listens on a port.
    return `http://127.0.0.1:${port}/events`;
  }
}

/** A person with marked values in every attribute that takes a text. */
export function marked(extra: object = {}) {
  return {
    schemas: [core, enterprise, travelExtension],
    userName: 'zqmark.user@corp.example',
    externalId: 'zqmark-external',
    name: {
      givenName: 'Zqmarka',
      familyName: 'Zqmarkson',
      formatted: 'Zqmarka Q. Zqmarkson',
      middleName: 'Zqmarkmiddle',
    },
    displayName: 'Zqmark Display',
    nickName: 'zqmarknick',
    profileUrl: 'https://people.example/zqmark',
    title: 'Zqmark title',
    userType: 'zqmark type',
    preferredLanguage: 'en',
    emails: [
      { value: 'zqmark.work@corp.example', type: 'work', primary: true },
      { value: 'zqmark.home@home.example', type: 'home' },
    ],
    phoneNumbers: [{ value: '+33 612997731', type: 'work', primary: true }],
    addresses: [
      {
        type: 'work',
        primary: true,
        streetAddress: '1 zqmark street',
        locality: 'Zqmarkville',
        region: 'Zqmarkregion',
        postalCode: 'ZQMARK1',
        country: 'FR',
      },
    ],
    photos: [{ value: 'https://photos.example/zqmark' }],
    ims: [{ value: 'zqmark-im' }],
    [enterprise]: {
      employeeNumber: 'zqmark-77',
      department: 'Zqmark department',
      division: 'zqmark division',
      costCenter: 'zqmark cost center',
      manager: { value: 'zqmark.chief@corp.example', displayName: 'Zqmark Chief' },
    },
    [travelExtension]: { dateOfBirth: '1931-07-29', gender: 'female' },
    'urn:example:zqmark:2.0:User': { badge: 'zqmark badge' },
    ...extra,
  };
}

/** What finds those values. */
export const MARKED = /zqmark|612997731|1931-07-29/;

export const user = (name: string, extra: object = {}) => ({
  schemas: [core],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: 'Smith' },
  emails: [{ value: `${name}@corp.example`, type: 'work', primary: true }],
  ...extra,
});

/** Until nobody is left to be reconciled. */
export async function settled({ url }: { url: string }): Promise<void> {
  await eventually(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    expect([...text.matchAll(/state="dirty"} [1-9]/g)]).toEqual([]);
  });
}

/** Somebody with marked values wherever the two services keep any, who has left. */
export async function leaver(
  { webhookUrl }: ErasureHouse,
  { url }: RunningService,
): Promise<{ scim: ScimClient; id: string; travelId: string }> {
  const scim = scimClient(url, SCIM_TOKEN);
  const admin = travelAdmin(url, TRAVEL_API_KEY);
  await admin.make('/webhooks', {
    url: webhookUrl,
    events: ['user.created', 'user.updated', 'user.deleted'],
  });
  const customFieldId = await admin.make('/custom-fields', {
    dataType: 'text',
    name: 'Team',
    resourceType: 'user',
  });
  await admin.make('/scim-user-mappings', { scimAttribute: `${enterprise}:department`, customFieldId });
  const made = await scim.send('POST', '/Users', marked());
  expect(made.status).toBe(201);
  const { id } = made.body;
  const team = await scim.send('POST', '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'Team',
    members: [{ value: id, display: 'Zqmark Display' }, { value: 'zqmark.user@corp.example' }],
  });
  expect(team.status).toBe(201);
  const named = {
    [enterprise]: { manager: { value: 'zqmark.user@corp.example', displayName: 'Zqmark Display' } },
  };
  expect((await scim.send('POST', '/Users', user('bob', named))).status).toBe(201);
  const wanting = user('cyd', {
    emails: [{ value: 'cyd@corp.example', type: 'work', primary: true }],
    [enterprise]: { manager: { value: id, $ref: `https://idp.example/${id}/zqmark` } },
  });
  expect((await scim.send('POST', '/Users', wanting)).status).toBe(201);
  await settled({ url });
  const change = patchOp(
    { op: 'replace', path: 'title', value: 'zqmark other title' },
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'zqmark.new@corp.example' },
  );
  expect((await scim.send('PATCH', `/Users/${id}`, change)).status).toBe(200);
  const travelId: string = (await scim.send('GET', `/Users/${id}`)).body[travelExtension].travelUserId;
  return { scim, id, travelId };
}

/** A trip with a flight, a hotel and a car for the traveler, booked by them, on an invoice. */
export async function travel(data: string, billingProfileId: string, travelerIds: string[]) {
  const database = await openEmbedded(data, false);
  let last = 0;
  const newId = () => {
    last += 1;
    return `66b0c1d2e3f4a5b6c7d8${String(last).padStart(4, '0')}`;
  };
  const office = backOffice({ store: travelResources(database), now: Date.now, newId, onChange: () => {} });
  const rental = { ...car(90).rental, renterName: 'Zqmarka Zqmarkson' };
  const { id } = await office((desk) =>
    desk.searchTrip({
      travelerIds,
      search: { kind: 'roundTripWithCar' },
      offers: [flight(200), hotel(300), { ...car(90), rental }],
    }),
  );
  await office((desk) => desk.bookTrip({ tripProjectId: id, bookerId: travelerIds[0] ?? '' }));
  const [invoice] = await office((desk) => desk.invoiceProfile({ billingProfileId, kind: 'booking' }));
  await database.close();
  return { tripId: id, invoiceId: invoice?.id ?? '' };
}

/** What the travel service answers to its first administrator. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export async function get(url: string, path: string): Promise<any> {
  const response = await fetch(`${url}/api${path}`, {
    headers: { authorization: `Bearer ${TRAVEL_API_KEY}` },
  });
  const { data } = JSON.parse(await response.text());
  return data;
}
