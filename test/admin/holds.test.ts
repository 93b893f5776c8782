import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

/** One person may leave; the departures of the others are held. A DELETE deletes the traveler. */
const policies = {
  deprovision: 'delete',
  safetyValve: { share: 0, minimum: 1, windowMinutes: 60 },
};

let fixture: AdminFixture;
let settings: ReturnType<typeof writeSettingsFile>;
let scim: ScimClient;
beforeAll(async () => {
  settings = writeSettingsFile({}, { default: { policies } });
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  scim = scimClient(fixture.service.url, fixture.service.scimToken);
  // The departure of this person is the one that the safety valve lets pass.
  const { id } = await createPerson('first');
  await scim.send('DELETE', `/Users/${id}`);
});
afterAll(async () => {
  await fixture.close();
  settings.remove();
});

interface Person {
  id: string;
  version: number;
}

async function createPerson(name: string): Promise<{ id: string }> {
  const { status, body } = await scim.send('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `${name}@corp.example`,
    name: { givenName: name, familyName: 'Held' },
    emails: [{ value: `${name}@corp.example`, primary: true }],
    active: true,
  });
  if (status !== 201) throw new Error(`the person was answered ${status}: ${JSON.stringify(body)}`);
  return { id: body.id };
}

/** Creates a person whose deactivation or deletion is held. */
async function createHeld(name: string, leave: 'deactivate' | 'delete' = 'deactivate'): Promise<Person> {
  const { id } = await createPerson(name);
  const path = `/Users/${id}`;
  if (leave === 'delete') await scim.send('DELETE', path);
  else await scim.send('PATCH', path, patchOp({ op: 'replace', path: 'active', value: false }));
  const { body } = await fixture.viewer('GET', `/people/default/${id}/hold`);
  return { id, version: body.version };
}

const decide = (body: object, client = fixture.admin) =>
  client('POST', '/holds/decisions', { body: { connection: 'default', cause: 'safetyValve', ...body } });

/** The list while nobody is held. Earlier decisions may still be carried out. */
const nobodyHeld = { people: 0, groups: [], proposed: [], decisions: expect.any(Array) };

/** The response to a decision that was carried out. */
const decidedBody = (decided: number, skipped = 0) => ({
  ...{ decided, skipped, decision: expect.any(Number) },
});

/** Decides about everybody who is held, so that a test begins with nobody. */
async function discardAll(): Promise<void> {
  const { body } = await fixture.viewer('GET', '/holds');
  for (const { people } of body.groups) await decide({ answer: 'discarded', count: people });
}

/** The travelers by their first names. */
async function travelers(): Promise<Map<string, { archived: boolean }>> {
  const { url, travelApiKey } = fixture.service;
  const users = await travelAdmin(url, travelApiKey).travelers();
  return new Map(users.map((user) => [String(user.firstName), { archived: user.archived === true }]));
}

beforeEach(discardAll);

test('an empty list has no group', async () => {
  expect((await fixture.viewer('GET', '/holds')).body).toEqual(nobodyHeld);
});

test('what is held is grouped by connection and cause, with numbers, reasons and examples', async () => {
  const ada = await createHeld('ada');
  await createHeld('bob', 'delete');
  const { status, body } = await fixture.viewer('GET', '/holds');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    people: 2,
    groups: [
      {
        ...{ connection: 'default', cause: 'safetyValve', people: 2 },
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        causedBy: 'the identity provider of connection default',
        why: 'more people left within 60 minutes than 1 or 0 % of the active ones, or the departure was discarded before or comes from a backup',
        ifDiscarded: 'the traveler stays active until the IdP deactivates or deletes the person again',
        effects: { archived: 1, deleted: 1, changed: 0 },
        examples: [
          { ...ada, userName: 'ada@corp.example', wants: 'deactivate', effect: 'archived' },
          { userName: 'bob@corp.example', wants: 'delete', effect: 'deleted' },
        ],
      },
    ],
  });
});

test('the people of a group are read page by page', async () => {
  for (const name of ['ann', 'ben', 'cyd']) await createHeld(name);
  const path = '/holds/default/safetyValve?limit=2';
  const first = (await fixture.viewer('GET', path)).body;
  const second = (await fixture.viewer('GET', `${path}&after=${encodeURIComponent(first.next)}`)).body;
  const names = [...first.people, ...second.people].map(({ userName }) => userName);
  expect(names).toEqual(['ann@corp.example', 'ben@corp.example', 'cyd@corp.example']);
  expect(second.next).toBeUndefined();
});

test('a person is told why the change is held, and what each decision does', async () => {
  const { id } = await createHeld('dan', 'delete');
  expect((await fixture.viewer('GET', `/people/default/${id}/hold`)).body).toMatchObject({
    ...{ id, userName: 'dan@corp.example', cause: 'safetyValve', wants: 'delete' },
    ifApproved: 'the traveler will be deleted',
    ifDiscarded: 'the traveler stays active until the IdP deactivates or deletes the person again',
  });
  const { id: free } = await createPerson('free');
  expect((await fixture.viewer('GET', `/people/default/${free}/hold`)).status).toBe(404);
});

test.each(['/holds/nosuch/safetyValve', '/holds/default/nosuch', '/people/default/nosuch/hold'])(
  '%s is answered 404',
  async (path) => {
    expect((await fixture.viewer('GET', path)).status).toBe(404);
  },
);

test('an approval of some people archives their travelers at once, and the others stay held', async () => {
  const [eva, fay] = [await createHeld('eva'), await createHeld('fay')];
  const { status, body } = await decide({ answer: 'approved', people: [eva] });
  expect([status, body]).toEqual([200, decidedBody(1)]);
  await eventually(async () => expect((await travelers()).get('eva')).toEqual({ archived: true }));
  expect((await travelers()).get('fay')).toEqual({ archived: false });
  const { body: left } = await fixture.viewer('GET', '/holds/default/safetyValve');
  expect(left.people).toMatchObject([fay]);
});

test('a decision about a whole group needs the number that the admin has seen', async () => {
  for (const name of ['gil', 'hal', 'ida']) await createHeld(name);
  const refused = await decide({ answer: 'approved', count: 2 });
  expect([refused.status, refused.body]).toEqual([
    409,
    { code: 'conflict', message: '3 people wait by now, not 2. Nothing was decided; look again.' },
  ]);
  expect((await decide({ answer: 'approved', count: 3 })).body).toEqual(decidedBody(3));
  expect((await fixture.viewer('GET', '/holds')).body.people).toBe(0);
});

test('two admins who decide the same at once: the first decision stands, and the second admin is told', async () => {
  const [jan, kim] = [await createHeld('jan'), await createHeld('kim')];
  const both = await Promise.all(
    ['approved', 'discarded'].map((answer) => decide({ answer, people: [jan, kim] })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(both.find(({ status }) => status === 409)?.body.message).toMatch(
    /^None of these people waits for this decision any more: somebody else has decided/,
  );
  const third = await decide({ answer: 'discarded', count: 2 });
  expect(third.status).toBe(409);
});

test('people about whom somebody else has decided are left out and counted', async () => {
  const [lea, mia] = [await createHeld('lea'), await createHeld('mia')];
  await decide({ answer: 'discarded', people: [lea] });
  expect((await decide({ answer: 'approved', people: [lea, mia] })).body).toEqual(decidedBody(1, 1));
  expect((await travelers()).get('lea')).toEqual({ archived: false });
});

test('a decision about an earlier version of a person is refused', async () => {
  const nia = await createHeld('nia');
  await scim.send('DELETE', `/Users/${nia.id}`);
  expect((await decide({ answer: 'approved', people: [nia] })).status).toBe(409);
});

test('a decision names either people or a number, and a connection that exists', async () => {
  const refused = await decide({ answer: 'approved' });
  expect([refused.status, refused.body.faults]).toEqual([
    422,
    [{ field: 'people', message: 'either people or count is needed' }],
  ]);
  expect((await decide({ answer: 'approved', count: 1, connection: 'nosuch' })).status).toBe(404);
});

test('a decision is in the audit log with its numbers', async () => {
  const people = [await createHeld('ora'), await createHeld('pia')];
  await decide({ answer: 'discarded', people });
  const { body } = await fixture.viewer('GET', '/audit?limit=1&action=decideHolds');
  expect(body.entries[0]).toMatchObject({
    status: 200,
    details: {
      ...{ connection: 'default', cause: 'safetyValve', answer: 'discarded' },
      ...{ asked: 2, decided: 2, skipped: 0, people: people.map(({ id }) => id) },
    },
  });
});

test('a decision about a whole group names its people in the audit log up to twenty, and then counts and lists them', async () => {
  const few = [await createHeld('qia'), await createHeld('ria')];
  await decide({ answer: 'approved', count: 2 });
  const entry = async () =>
    (await fixture.viewer('GET', '/audit?limit=1&action=decideHolds')).body.entries[0];
  expect((await entry()).people).toEqual(
    few.map(({ id }, index) => ({ id, name: ['qia Held', 'ria Held'][index] })),
  );
  for (let n = 0; n < 21; n += 1) await createHeld(`many${n}`);
  await decide({ answer: 'discarded', count: 21 });
  const { people, details } = await entry();
  expect(people).toEqual([]);
  expect(details).toMatchObject({ asked: 21, decided: 21, decision: expect.any(Number) });
  const path = `/holds/decisions/default/${details.decision}`;
  const first = (await fixture.viewer('GET', `${path}?limit=20`)).body;
  expect(first).toMatchObject({ people: 21, listed: expect.any(Array), next: expect.any(String) });
  const second = (await fixture.viewer('GET', `${path}?after=${first.next}`)).body;
  const names = [...first.listed, ...second.listed].map(({ userName }) => userName);
  expect(names.sort()).toEqual(Array.from({ length: 21 }, (_, n) => `many${n}@corp.example`).sort());
  await eventually(async () => expect((await fixture.viewer('GET', path)).body.left).toBe(0));
});

test.each(['1', 'nosuch', '1.5'])('a decision %s that nobody has is answered 404', async (decision) => {
  expect((await fixture.viewer('GET', `/holds/decisions/default/${decision}`)).status).toBe(404);
});

test('a discard names its admin on the person, who is counted as kept active, and nothing waits', async () => {
  const quin = await createHeld('quin');
  await decide({ answer: 'discarded', people: [quin] });
  expect((await fixture.viewer('GET', '/holds')).body).toEqual(nobodyHeld);
  const body = await eventually(async () => {
    const person = (await fixture.viewer('GET', `/people/default/${quin.id}`)).body;
    expect(person.findings).toMatchObject([{ field: 'archived', code: 'keptActive' }]);
    return person;
  });
  expect(body.findings[0].reason).toMatch(/, and .+ keeps the traveler active since \d{4}-\d\d-\d\d\.$/);
  expect(body.verdict).toMatchObject({
    status: 'synced',
    because: expect.stringContaining('keeps the traveler active'),
  });
  const { keptActive } = (await fixture.viewer('GET', '/overview')).body;
  const { people } = (await fixture.viewer('GET', '/people?finding=keptActive')).body;
  expect(keptActive).toBe(people.length);
  expect(people.map(({ userName }: { userName: string }) => userName)).toContain('quin@corp.example');
});
