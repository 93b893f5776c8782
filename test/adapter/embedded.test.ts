import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { travelClient } from '../../src/adapter/http/client.ts';
import { travelLookups } from '../../src/adapter/lookups.ts';
import { travelUsers } from '../../src/adapter/users.ts';
import { hashSecret, newSecret } from '../../src/http/authentication.ts';
import type { TravelLookups, TravelUsers } from '../../src/model/travel-ports.ts';
import { createEmbeddedTravel } from '../../src/server/embedded.ts';
import { apiKeys } from '../../src/store/credentials/credentials.ts';
import { fields } from '../../src/translator/fields/fields.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { runs } from '../fixtures/runs.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { areSameWithoutCase, wordPairs } from '../fixtures/unicode.ts';
import { unlimited } from './travel-server.ts';

interface Fixture {
  users: TravelUsers;
  lookups: TravelLookups;
  make(path: string, data: object): Promise<string>;
  /** Changes a user on behalf of another admin. */
  patchAs(admin: string, id: string, data: object): Promise<number>;
  close(): Promise<void>;
}

/** The adapter before the embedded travel service, over HTTP. */
async function build(): Promise<Fixture> {
  const data = createDataFolder('adapter-');
  const database = await openTestDatabase(data, true);
  const log = pino({ level: 'silent' });
  const { app, bridgeKey } = await createEmbeddedTravel({
    database,
    chosenKey: undefined,
    encryptionKey: randomBytes(32),
    onChange: () => {},
    log,
  });
  const server = createServer((request, response) => {
    request.url = request.url?.replace(/^\/api/, '') ?? '/';
    app(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const clock = { now: Date.now, wallClock: Date.now, wait: async () => {} };
  const client = travelClient({ ...unlimited, url: `http://127.0.0.1:${port}`, token: bridgeKey, clock });
  const lookups = travelLookups({ client, now: Date.now, log });
  const make = async (path: string, body: object) => {
    const answer = await client.call(
      { method: 'POST', path, operation: 'createTraveler', body: { data: body } },
      (made) => made?.data,
    );
    if (answer.kind !== 'ok') throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return String(Object(answer.value).id);
  };
  const patchAs = async (admin: string, id: string, body: object) => {
    const key = newSecret('travel');
    const made = { id: admin, name: 'test', userId: admin, createdAt: Date.now() };
    await apiKeys(database).add({ ...made, hash: hashSecret(key) });
    const { status } = await fetch(`http://127.0.0.1:${port}/api/users/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ data: body }),
    });
    return status;
  };
  const close = async () => {
    client.close();
    await new Promise((resolve) => server.close(resolve));
    await database.close();
    rmSync(data, { recursive: true });
  };
  return { users: travelUsers(client), lookups, make, patchAs, close };
}

describe('the adapter and the embedded travel service', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await build();
  });
  afterEach(() => fixture.close());

  test('agree on creating, changing, archiving and deleting a traveler', async () => {
    const { users } = fixture;
    const made = await users.create({ email: 'Ada@corp.example', firstName: 'Ada' }, 'key');
    expect(made).toMatchObject({ kind: 'ok', value: { firstName: 'Ada', archived: false } });
    const id = made.kind === 'ok' ? made.value.id : '';
    // A create that is repeated, because its answer was lost, gets the first answer.
    expect(await users.create({ email: 'Ada@corp.example', firstName: 'Ada' }, 'key')).toEqual(made);
    expect(await users.create({ email: 'ada@CORP.example' }, 'second')).toEqual({ kind: 'conflict' });
    expect(await users.create({ email: 'no address' }, 'third')).toMatchObject({
      kind: 'invalid',
      fields: [{ field: 'email' }],
    });
    expect(await users.patch(id, { archived: true, firstName: null })).toMatchObject({
      value: { archived: true },
    });
    expect(await users.findByEmails(['ADA@corp.example', 'eve@corp.example'])).toMatchObject({
      value: [{ id }],
    });
    expect(await users.readPage(0, 1)).toMatchObject({ value: { total: 2, users: [{}] } });
    expect(await users.remove(id)).toMatchObject({ kind: 'ok', value: { id } });
    for (const answer of [await users.read(id), await users.patch(id, {}), await users.remove(id)])
      expect(answer).toEqual({ kind: 'notFound' });
  });

  test('agree on the name of each field of the table', async () => {
    const { users } = fixture;
    const made = await users.create({ email: 'ada@corp.example' }, 'key');
    const id = made.kind === 'ok' ? made.value.id : '';
    for (const { key } of fields) {
      if (key === 'email') continue;
      const [name = '', part] = key.split('.');
      const removal = part === undefined ? null : { [part]: null };
      expect([key, (await users.patch(id, { [name]: removal })).kind]).toEqual([key, 'ok']);
    }
    expect((await users.patch(id, { fieldOfNoTable: null })).kind).toBe('invalid');
  });

  test('agree on which email addresses are equal', async () => {
    const { users } = fixture;
    // The compatibility form of a number such as \u2156 has a slash, which the travel service takes in no address.
    const twoAddressable = wordPairs.filter((words) =>
      words.every((word) => /^[\p{L}\p{M}\p{N}]+$/u.test(word)),
    );
    await fc.assert(
      fc.asyncProperty(twoAddressable, async (words) => {
        const [one, other] = words.map((word) => `x${word}x@corp.example`) as [string, string];
        const areSame = areSameWithoutCase(one, other);
        const made = await users.create({ email: one }, randomUUID());
        if (made.kind !== 'ok') throw new Error(`${one}: ${JSON.stringify(made)}`);
        const { id } = made.value;
        expect(await users.findByEmails([other])).toMatchObject({
          kind: 'ok',
          value: areSame ? [{ id }] : [],
        });
        const second = await users.create({ email: other }, randomUUID());
        expect(second.kind).toBe(areSame ? 'conflict' : 'ok');
        if (second.kind === 'ok') await users.remove(second.value.id);
        await users.remove(id);
      }),
      runs(60),
    );
  });

  test('agree on the traveler of the credential, who cannot archive themselves', async () => {
    const self = await fixture.lookups.readOwnUser();
    expect(self).toMatchObject({ kind: 'ok', value: { roles: ['admin'] } });
    const id = self.kind === 'ok' ? self.value.id : '';
    expect(await fixture.users.patch(id, { archived: true })).toEqual({ kind: 'forbidden' });
  });

  test('the credential works under another admin after the first one is archived', async () => {
    const { users, lookups, make, patchAs } = fixture;
    const self = await lookups.readOwnUser();
    const first = self.kind === 'ok' ? self.value.id : '';
    const second = await make('/api/users', { email: 'second@corp.example', roles: ['admin'] });
    expect(await patchAs(second, first, { archived: true })).toBe(200);
    expect(await users.create({ email: 'ada@corp.example' }, 'key')).toMatchObject({ kind: 'ok' });
    expect(await users.patch(second, { archived: true })).toEqual({ kind: 'forbidden' });
  });

  test('agree on all lookups', async () => {
    const { make, lookups } = fixture;
    const field = { dataType: 'option', name: 'Floor', resourceType: 'user' };
    const customField = await make('/api/custom-fields', field);
    const option = await make(`/api/custom-fields/${customField}/options`, { data: '3' });
    const costCenter = await make('/api/cost-centers', { name: 'R&D' });
    const billing = { name: 'Main', email: 'billing@corp.example', lang: 'fr' };
    const billingProfile = await make('/api/billing-profiles', billing);
    const travelPolicy = await make('/api/travel-policies', {
      name: 'Standard',
      control: 'none',
      hotelBudget: { kind: 'comfort' },
      transportBudget: { flight: { kind: 'comfort' }, rail: { kind: 'comfort' } },
    });
    await make('/api/scim-user-mappings', { scimAttribute: 'title', customFieldId: customField });
    const options = [{ id: option, data: '3', disabled: false }];
    expect(await lookups.current()).toEqual({
      kind: 'ok',
      value: {
        customFields: [{ id: customField, name: 'Floor', dataType: 'option', disabled: false, options }],
        costCenters: [{ id: costCenter, name: 'R&D', archived: false }],
        billingProfiles: [{ id: billingProfile, name: 'Main', archived: false }],
        travelPolicies: [{ id: travelPolicy, name: 'Standard', archived: false }],
        scimUserMappings: [{ scimAttribute: 'title', customFieldId: customField }],
      },
    });
  });
});
