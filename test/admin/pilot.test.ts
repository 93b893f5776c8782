import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const PILOT = 'groups[display eq "Pilot"]';
const settings = writeSettingsFile({}, { default: { mode: 'shadow', pilot: 'title eq "Chief"' } });

let fixture: AdminFixture;
let scim: ScimClient;
beforeAll(async () => {
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  scim = scimClient(fixture.service.url, fixture.service.scimToken);
});
afterAll(async () => {
  await fixture.close();
  settings.remove();
});

async function createPerson(name: string, extra: object = {}): Promise<string> {
  const { status, body } = await scim.send('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `${name}@corp.example`,
    name: { givenName: name, familyName: 'Pilot' },
    emails: [{ value: `${name}@corp.example`, primary: true }],
    ...extra,
  });
  if (status !== 201) throw new Error(`the person was answered ${status}: ${JSON.stringify(body)}`);
  return body.id;
}

const command = (...words: string[]) =>
  runCommandLine(words, { JETBRIDGE_DATA: fixture.service.data, JETBRIDGE_CONFIG: settings.path });

const path = '/connections/default/pilot';
const previewOf = async (filter: string) =>
  (await fixture.viewer('GET', `${path}?filter=${encodeURIComponent(filter)}`)).body;
const readSums = async () => (await fixture.viewer('GET', '/connections/default/shadow')).body;

test('a new connection begins with the pilot of the settings, and the page and the command replace it by another', async () => {
  await createPerson('chief', { title: 'Chief' });
  const ada = await createPerson('ada');
  await createPerson('bob');
  expect(await readSums()).toMatchObject({
    pilot: 'title eq "Chief"',
    people: { live: 1, create: 2, unplanned: 0 },
  });
  expect(await previewOf(PILOT)).toMatchObject({ live: 0, planned: 3, leaving: 1, unknownGroups: ['Pilot'] });
  const group = { displayName: 'Pilot', members: [{ value: ada }] };
  const { body: created } = await scim.send('POST', '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    ...group,
  });
  expect(await previewOf(`${PILOT} or title pr`)).toMatchObject({
    ...{ live: 2, planned: 1, leaving: 0, unknownGroups: [] },
    entering: { create: 1, link: 0 },
  });
  const changed = await fixture.admin('PUT', path, { body: { filter: `${PILOT} or title pr` } });
  expect(changed.status).toBe(204);
  const same = await fixture.admin('PUT', path, { body: { filter: ` ${PILOT} or title pr ` } });
  expect(same.status).toBe(409);
  await eventually(async () =>
    expect((await readSums()).people).toMatchObject({ live: 2, create: 1, unplanned: 0 }),
  );
  const { body: overview } = await fixture.viewer('GET', '/overview');
  expect(overview.connections[0]).toMatchObject({ mode: 'shadow', pilot: `${PILOT} or title pr` });
  expect((await command('connections', 'pilot', 'default')).out).toBe(
    `default: ${PILOT} or title pr: 2 live, 1 planned\n`,
  );
  expect((await command('shadow', 'report')).out).toContain(
    `With the pilot ${PILOT} or title pr: 2 live, 1 planned.`,
  );
  expect((await command('connections', 'list')).out).toContain(PILOT);
  const narrowed = await command('connections', 'pilot', 'default', PILOT, '--yes');
  expect(narrowed).toMatchObject({ code: 0, out: expect.stringContaining('default has this pilot') });
  expect(narrowed.err).toContain(
    '1 person leaves it, and their travelers stay as they are. Then 1 live, 2 planned.',
  );
  await eventually(async () =>
    expect((await readSums()).people).toMatchObject({ live: 1, create: 1, same: 1, unplanned: 0 }),
  );
  expect(await command('connections', 'pilot', 'default', '--none', '--yes')).toMatchObject({ code: 0 });
  await eventually(async () => expect((await readSums()).people).toMatchObject({ live: 0, same: 2 }));
  expect(await readSums()).not.toHaveProperty('pilot');
  await fixture.admin('PUT', path, { body: { filter: PILOT } });
  await eventually(async () => expect((await readSums()).people).toMatchObject({ live: 1, unplanned: 0 }));
  const renamed = { op: 'replace', path: 'displayName', value: 'Trial' } as const;
  await scim.send('PATCH', `/Groups/${created.id}`, patchOp(renamed));
  // What a membership decides stays while no group has the name.
  expect(await previewOf(PILOT)).toMatchObject({ live: 1, leaving: 0, unknownGroups: ['Pilot'] });
});

test('a faulty filter is refused with its place, and so is a pilot of a connection that is live', async () => {
  const filter = 'title is "Chief"';
  const faults = [{ field: 'filter', message: expect.stringContaining('(at 6)') }];
  expect(await fixture.admin('PUT', path, { body: { filter } })).toMatchObject({
    ...{ status: 422, body: { faults } },
  });
  expect(await previewOf(filter)).toMatchObject({ faults });
  expect(await command('connections', 'pilot', 'default', filter, '--yes')).toMatchObject({
    ...{ code: 1, err: expect.stringContaining('(at 6)') },
  });
  expect(await command('connections', 'pilot', 'default', 'title pr', '--none')).toMatchObject({ code: 2 });
  expect(await fixture.viewer('PUT', path, { body: { filter: null } })).toMatchObject({ status: 403 });
  await fixture.admin('PUT', '/connections/default/mode', { body: { mode: 'live' } });
  expect(await fixture.admin('PUT', path, { body: { filter: PILOT } })).toMatchObject({
    ...{ status: 409, body: { message: 'The connection is not in shadow mode.' } },
  });
});
