import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const valve = { safetyValve: { share: 0, minimum: 1, windowMinutes: 60 } };

let fixture: AdminFixture;
let settings: ReturnType<typeof writeSettingsFile>;
let scim: ScimClient;
beforeEach(async () => {
  settings = writeSettingsFile({}, { default: { mode: 'shadow', policies: valve } });
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  scim = scimClient(fixture.service.url, fixture.service.scimToken);
});
afterEach(async () => {
  await fixture.close();
  settings.remove();
});

async function createPerson(name: string, extra: object = {}): Promise<string> {
  const { status, body } = await scim.send('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `${name}@corp.example`,
    name: { givenName: name, familyName: 'Shadow' },
    emails: [{ value: `${name}@corp.example`, primary: true }],
    active: true,
    ...extra,
  });
  if (status !== 201) throw new Error(`the person was answered ${status}: ${JSON.stringify(body)}`);
  return body.id;
}

const command = (...words: string[]) =>
  runCommandLine(words, { JETBRIDGE_DATA: fixture.service.data, JETBRIDGE_CONFIG: settings.path });

async function travelerEmails(): Promise<string[]> {
  const { url, travelApiKey } = fixture.service;
  const all = await travelAdmin(url, travelApiKey).travelers();
  return all.map(({ email }) => email).filter((email) => email.endsWith('@corp.example'));
}

test('a new connection begins in the mode of the settings, and goes live with the plan that the page shows', async () => {
  await createPerson('ada');
  await createPerson('bob', { phoneNumbers: [{ type: 'work', value: '12' }] });
  expect(await travelerEmails()).toEqual([]);
  const { body: report } = await fixture.viewer('GET', '/connections/default/shadow');
  expect(report).toMatchObject({ people: { create: 2, link: 0, leftOut: 0, unplanned: 0 }, fields: {} });
  const { body: page } = await fixture.viewer(
    'GET',
    '/connections/default/shadow/people?outcome=create&limit=1',
  );
  expect(page.people).toMatchObject([
    {
      ...{ userName: 'ada@corp.example', name: 'ada Shadow', outcome: 'create', findings: [] },
      fields: [
        { field: 'email', before: null, after: 'ada@corp.example' },
        { field: 'firstName' },
        { field: 'lastName' },
      ],
    },
  ]);
  const { body: second } = await fixture.viewer(
    'GET',
    `/connections/default/shadow/people?outcome=create&limit=1&after=${encodeURIComponent(page.next)}`,
  );
  expect(second.people).toMatchObject([
    { userName: 'bob@corp.example', findings: [{ field: 'phoneNumber' }] },
  ]);
  const { body: overview } = await fixture.viewer('GET', '/overview');
  expect(overview.sentence).toContain('2 wait in shadow mode, where nothing is sent');
  expect(overview.connections[0]).toMatchObject({ mode: 'shadow', since: expect.any(String) });
  const explained = await command('explain', 'bob@corp.example');
  expect(explained.out).toContain('Fields (as of the last attempt)\n');
  const csv = await fixture.viewer('GET', '/connections/default/shadow.csv');
  expect(csv.body).toContain('ada Shadow');
  const live = await fixture.admin('POST', '/connections/default/go-live', {
    body: { digest: report.digest },
  });
  expect(live.body).toEqual({ outcome: 'live', approved: 0, changed: 0, examples: [] });
  await eventually(async () => expect(await travelerEmails()).toHaveLength(2));
  const { body: audit } = await fixture.viewer('GET', '/audit');
  expect(JSON.stringify(audit)).toContain(report.digest);
});

test('plans that have changed since the report are returned, and a second request approves the others', async () => {
  const ids = [await createPerson('one'), await createPerson('two')];
  const { body: first } = await fixture.viewer('GET', '/connections/default/shadow');
  await fixture.admin('POST', '/connections/default/go-live', { body: { digest: first.digest } });
  await eventually(async () => expect(await travelerEmails()).toHaveLength(2));
  await fixture.admin('PUT', '/connections/default/mode', { body: { mode: 'shadow' } });
  // The travelers are there a moment before the bridge has stored that it made them.
  const report = await eventually(async () => {
    const { body } = await fixture.viewer('GET', '/connections/default/shadow');
    expect(body.people).toMatchObject({ same: 2 });
    return body;
  });
  for (const id of ids)
    await scim.send('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  const goLive = (body: object) => fixture.admin('POST', '/connections/default/go-live', { body });
  const refused = await goLive({ digest: report.digest });
  expect(refused.body).toMatchObject({ outcome: 'changed', changed: 2, examples: [{ outcome: 'end' }, {}] });
  const live = await goLive({ digest: report.digest, acceptedChanges: 2 });
  expect(live.body).toMatchObject({ outcome: 'live', approved: 0, changed: 2 });
  // The safety valve lets one of them leave.
  await eventually(async () => {
    const { body } = await fixture.viewer('GET', '/holds');
    expect(body).toMatchObject({ people: 1, groups: [{ cause: 'safetyValve' }] });
  });
});

test('requests about a connection that is not in shadow mode, or with a digest of nothing, are refused', async () => {
  const request = (digest: string) =>
    fixture.admin('POST', '/connections/default/go-live', { body: { digest } });
  expect(await request('unknown')).toMatchObject({ status: 409 });
  expect(await fixture.admin('PUT', '/connections/default/mode', { body: { mode: 'live' } })).toMatchObject({
    status: 204,
  });
  expect(await fixture.admin('PUT', '/connections/default/mode', { body: { mode: 'live' } })).toMatchObject({
    status: 409,
  });
  expect(await fixture.viewer('GET', '/connections/default/shadow')).toMatchObject({ status: 409 });
  expect(await fixture.viewer('GET', '/connections/other/shadow')).toMatchObject({ status: 404 });
  expect(
    await fixture.viewer('PUT', '/connections/default/mode', { body: { mode: 'shadow' } }),
  ).toMatchObject({ status: 403 });
  const after = await fixture.viewer('GET', '/connections/default/shadow/people?after=x');
  expect(after).toMatchObject({ status: 409 });
});

test('the commands show the report, in sums and as CSV, and go live', async () => {
  await createPerson('ada');
  await createPerson('carl', { emails: [{ value: 'ada@corp.example', primary: true }], userName: 'carl' });
  // The first import has people planned again who wait for an address.
  await eventually(async () => {
    const report = await command('shadow', 'report');
    expect(report.out).toMatch(/default is in shadow mode since .* UTC\. Going live would do this:/);
    expect(report.out).toMatch(/1 +│ A traveler is created\./);
    expect(report.out).toMatch(/1 +│ Left out, or an admin must decide first\./);
  });
  const csv = (await command('shadow', 'report', '--csv')).out.split(/\r?\n/);
  expect(csv[0]).toBe('connection,userName,name,id,traveler,outcome,field,before,after,findings');
  expect(csv[1]).toMatch(
    /^default,ada@corp\.example,ada Shadow,[^,]+,,create,Email address,,ada@corp\.example,/,
  );
  expect(csv.find((line) => line.includes('carl'))).toContain('Another traveler has this email address');
  const live = await command('shadow', 'go-live', '--yes');
  expect(live).toMatchObject({ code: 0 });
  expect(live.out).toContain('default is live: 0 departures were approved as planned.');
  await eventually(async () => expect(await travelerEmails()).toEqual(['ada@corp.example']));
  const again = await command('shadow', 'report');
  expect(again).toMatchObject({ code: 1 });
  expect(again.err).toContain(
    'No connection is in shadow mode. To begin: npx jetbridge connections mode NAME shadow',
  );
  expect(await command('connections', 'mode', 'default', 'shadow', '--yes')).toMatchObject({ code: 0 });
  expect((await command('connections', 'list')).out).toMatch(/default +│ settings file +│ shadow/);
  expect(await command('connections', 'mode', 'default', 'asleep')).toMatchObject({ code: 2 });
});
