import { type AdminClient, type AdminFixture, signIn, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

let fixture: AdminFixture;
let settings: ReturnType<typeof writeSettingsFile>;
let scim: ScimClient;
/** The accounts `admin` and `grace`. */
let ada: AdminClient;
let grace: AdminClient;
beforeAll(async () => {
  const policies = { safetyValve: { share: 0, minimum: 1, windowMinutes: 60 } };
  settings = writeSettingsFile({ holds: { fourEyes: true } }, { default: { policies } });
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  scim = scimClient(fixture.service.url, fixture.service.scimToken);
  ada = await signIn(fixture.anonymous, 'admin', fixture.password);
  const created = await ada('POST', '/accounts', { body: { name: 'grace', role: 'admin' } });
  grace = await signIn(fixture.anonymous, 'grace', created.body.password);
  await createHeld('first');
});
afterAll(async () => {
  await fixture.close();
  settings.remove();
});

/** Creates a person whose deactivation is held; only the first one may leave. */
async function createHeld(name: string): Promise<{ id: string; version: number }> {
  const { body } = await scim.send('POST', '/Users', {
    ...{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: `${name}@corp.example` },
    ...{ emails: [{ value: `${name}@corp.example`, primary: true }], active: true },
  });
  await scim.send('PATCH', `/Users/${body.id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  const held = (await fixture.viewer('GET', `/people/default/${body.id}/hold`)).body;
  return { id: body.id, version: held.version };
}

const decide = (client: AdminClient, body: object) =>
  client('POST', '/holds/decisions', { body: { connection: 'default', cause: 'safetyValve', ...body } });

const holds = async () => (await fixture.viewer('GET', '/holds')).body;

/** Discards what the test before has left. */
beforeEach(async () => {
  for (const { people } of (await holds()).groups) await decide(ada, { answer: 'discarded', count: people });
});

test('the first approval is recorded, and the second one by another admin is carried out', async () => {
  const bob = await createHeld('bob');
  const first = await decide(ada, { answer: 'approved', count: 1 });
  expect([first.status, first.body]).toEqual([200, { decided: 0, requested: 1, skipped: 0 }]);
  const { groups, fourEyes, people } = await holds();
  expect({ fourEyes, people }).toEqual({ fourEyes: true, people: 1 });
  const approval = { by: 'admin', at: expect.stringMatching(/Z$/) };
  expect(groups[0].approvals).toEqual([{ ...approval, people: 1 }]);
  expect(groups[0].examples).toMatchObject([{ id: bob.id, firstApproval: approval }]);
  expect((await fixture.viewer('GET', `/people/default/${bob.id}/hold`)).body.firstApproval).toEqual(
    approval,
  );
  const second = await decide(grace, { answer: 'approved', people: [bob] });
  expect(second.body).toMatchObject({ decided: 1, requested: 0, skipped: 0 });
  await eventually(async () => {
    const { body } = await fixture.viewer('GET', `/people/default/${bob.id}`);
    expect(body.verdict.status).toBe('archived');
  });
});

test('the same admin twice changes nothing and is told so, also by a token of the same account', async () => {
  await createHeld('cyd');
  await decide(ada, { answer: 'approved', count: 1 });
  for (const client of [ada, fixture.admin]) {
    const again = await decide(client, { answer: 'approved', count: 1 });
    expect([again.status, again.body.message]).toEqual([
      409,
      'admin has approved this already. A second admin must approve it, too: nothing has changed.',
    ]);
  }
  expect((await holds()).people).toBe(1);
});

test('a discard needs one admin, also after an approval', async () => {
  await createHeld('dan');
  await decide(ada, { answer: 'approved', count: 1 });
  expect((await decide(ada, { answer: 'discarded', count: 1 })).body).toMatchObject({ decided: 1 });
  expect((await holds()).people).toBe(0);
});

test('an approval lapses when the identity provider writes the person again', async () => {
  const eva = await createHeld('eva');
  await decide(ada, { answer: 'approved', people: [eva] });
  await scim.send('DELETE', `/Users/${eva.id}`);
  expect((await holds()).groups[0].approvals).toEqual([]);
  expect((await decide(grace, { answer: 'approved', count: 1 })).body).toMatchObject({
    ...{ decided: 0, requested: 1 },
  });
});

test('of several people, those whom another admin has approved are carried out, and the others wait', async () => {
  const [fay, gil] = [await createHeld('fay'), await createHeld('gil')];
  await decide(ada, { answer: 'approved', people: [fay] });
  expect((await decide(grace, { answer: 'approved', people: [fay, gil] })).body).toMatchObject({
    ...{ decided: 1, requested: 1, skipped: 0 },
  });
  expect((await holds()).groups[0]).toMatchObject({ people: 1, approvals: [{ by: 'grace', people: 1 }] });
});

test('both approvals are in the audit log, with the admin and the person', async () => {
  const hal = await createHeld('hal');
  await decide(ada, { answer: 'approved', people: [hal] });
  await decide(grace, { answer: 'approved', people: [hal] });
  const { entries } = (await fixture.viewer('GET', '/audit?limit=2&action=decideHolds')).body;
  const people = [{ id: hal.id, name: 'hal@corp.example' }];
  expect(entries).toMatchObject([
    { actor: 'grace', people, details: { decided: 1, requested: 0 } },
    { actor: 'admin', people, details: { decided: 0, requested: 1 } },
  ]);
});
