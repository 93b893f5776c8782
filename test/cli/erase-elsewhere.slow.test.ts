import { join } from 'node:path';
import { eraseUser } from '../../src/cli/people/erase.ts';
import { textsInDatabase } from '../fixtures/database-texts.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type OtherTravelApi, otherTravelApi } from '../fixtures/other-travel-api.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const SCIM_TOKEN = 'the-token-of-the-identity-provider';
const travelExtension = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

let folder: ReturnType<typeof temporaryFolder>;
let file: ReturnType<typeof writeSettingsFile>;
let api: OtherTravelApi;
let environment: Record<string, string>;
let service: RunningService | undefined;
beforeEach(async () => {
  api = await otherTravelApi();
  folder = temporaryFolder();
  file = writeSettingsFile({}, { default: { travelApi: { url: api.url, lateMs: 0 } } });
  environment = {
    ...{ TRAVEL_API_KEY: api.key, SCIM_TOKEN },
    JETBRIDGE_DATA: join(folder.path, 'data'),
    JETBRIDGE_CONFIG: file.path,
  };
});
afterEach(async () => {
  await stopped();
  await api.close();
  file.remove();
  folder.remove();
});

async function serve(): Promise<RunningService> {
  service = await startService(environment);
  return service;
}

async function stopped(): Promise<void> {
  await service?.close();
  service = undefined;
}

const zoe = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'zqzoe@corp.example',
  name: { givenName: 'Zqzoe', familyName: 'Smith' },
  emails: [{ value: 'zqzoe@corp.example', type: 'work', primary: true }],
};

async function states({ url }: RunningService): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = [...text.matchAll(/^jetbridge_identities\{.*state="(\w+)"\} (\d+)$/gm)];
  return lines.flatMap(([, state = '', count]) => (count === '0' ? [] : [state]));
}

/** Creates a deleted person whose traveler is archived. */
async function leaver(): Promise<{ running: RunningService; travelId: string; id: string }> {
  const running = await serve();
  const { send } = scimClient(running.url, SCIM_TOKEN);
  const { body } = await send('POST', '/Users', zoe);
  await eventually(async () => expect(api.traveler(zoe.userName)).toBeDefined());
  expect((await send('DELETE', `/Users/${body.id}`)).status).toBe(204);
  await eventually(async () => expect(api.traveler(zoe.userName)).toMatchObject({ archived: true }));
  await eventually(async () => expect(await states(running)).not.toContain('dirty'));
  return { running, travelId: api.traveler(zoe.userName)?.id ?? '', id: body.id };
}

async function erase(user: string) {
  const shell = await recordedShell(environment);
  const end = await eraseUser(shell, { user, yes: true });
  return { end, out: shell.out.join('\n'), err: shell.err.join('\n') };
}

test('the remaining work in another travel service is named, and nothing is changed there', async () => {
  const { running, travelId } = await leaver();
  const writes = api.writes().length;
  const { end, out, err } = await erase(zoe.userName);
  expect({ end, err }).toEqual({ end: 0, err: '' });
  expect(out).toContain(
    `  delete or anonymize the traveler ${travelId} in ${api.url}, where Jetbridge changes nothing. As long as it has its address, nobody else gets that address by Jetbridge`,
  );
  expect(api.writes()).toHaveLength(writes);
  expect(await textsInDatabase(running.data, /zqzoe/)).toEqual([]);
});

test('an import at the next start does not bring an erased person back', async () => {
  await leaver();
  api.addTraveler({ email: 'other@corp.example', firstName: 'Other', lastName: 'Smith' });
  expect((await erase(zoe.userName)).end).toBe(0);
  await stopped();
  const again = await serve();
  const found = async (name: string) => {
    const query = encodeURIComponent(`userName eq "${name}"`);
    return (await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users?filter=${query}`)).body.totalResults;
  };
  await eventually(async () => expect(await found('other@corp.example')).toBe(1));
  expect(await found(zoe.userName)).toBe(0);
  api.editTraveler(api.traveler(zoe.userName)?.id ?? '', { lang: 'fr' });
  await stopped();
  expect(await textsInDatabase(environment['JETBRIDGE_DATA'] ?? '', /zqzoe/)).toEqual([]);
});

test('a later POST with the address waits until the erased traveler has lost it, and then creates a new person', async () => {
  const { running, travelId, id } = await leaver();
  expect((await erase(id)).end).toBe(0);
  const { send } = scimClient(running.url, SCIM_TOKEN);
  const back = await send('POST', '/Users', zoe);
  expect(back.status).toBe(201);
  await eventually(async () => expect(await states(running)).toContain('pending'));
  const [person] = (await running.people('default')).filter((one) => one.id === back.body.id);
  expect(person?.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(['email: erasedTraveler']);
  expect(api.traveler(zoe.userName)).toMatchObject({ id: travelId, archived: true });
  api.deleteTraveler(travelId);
  await stopped();
  const again = await serve();
  await eventually(async () => expect(api.traveler(zoe.userName)).toBeDefined());
  expect(api.traveler(zoe.userName)).toMatchObject({ archived: false });
  const now = await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${back.body.id}`);
  await eventually(async () =>
    expect(
      (await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${back.body.id}`)).body[travelExtension]
        .travelUserId,
    ).toBe(api.traveler(zoe.userName)?.id),
  );
  expect(now.body.id).not.toBe(id);
});

test('a person whose traveler elsewhere is not archived yet is not erased', async () => {
  const running = await serve();
  const { send } = scimClient(running.url, SCIM_TOKEN);
  const { body } = await send('POST', '/Users', zoe);
  await eventually(async () => expect(api.traveler(zoe.userName)).toBeDefined());
  await eventually(async () => expect(await states(running)).not.toContain('dirty'));
  api.failCall = ({ method }) =>
    method === 'PATCH' ? { answer: 429, headers: { 'retry-after': '1' } } : undefined;
  expect((await send('DELETE', `/Users/${body.id}`)).status).toBe(204);
  await eventually(async () =>
    expect((await erase(zoe.userName)).err).toContain('not taken out of use in the travel service yet'),
  );
  expect((await textsInDatabase(running.data, /zqzoe/)).length).toBeGreaterThan(0);
  api.failCall = () => undefined;
  await eventually(async () => expect((await erase(zoe.userName)).end).toBe(0));
  expect(api.traveler(zoe.userName)).toMatchObject({ archived: true });
});

test("the erasure waits for a reconciler that holds the person's lease", async () => {
  const { running, id } = await leaver();
  const database = await openTestDatabase(running.data, false);
  const lease = (token: string | null, until: number | null) =>
    database.db
      .updateTable('identity')
      .set({ lease_token: token, lease_until: until })
      .where('id', '=', id)
      .execute();
  await lease('somebody', Date.now() + 60_000);
  let isErased = false;
  const erasing = erase(zoe.userName).then(({ end }) => {
    isErased = end === 0;
  });
  // The erasure checks the lease many times within this wait; if it ignored the lease, the person would be gone.
  for (let look = 0; look < 50; look += 1) {
    expect(await database.db.selectFrom('identity').select('id').where('id', '=', id).execute()).toHaveLength(
      1,
    );
    await new Promise(setImmediate);
  }
  expect(isErased).toBe(false);
  await lease(null, null);
  await database.close();
  await erasing;
  expect(isErased).toBe(true);
});
