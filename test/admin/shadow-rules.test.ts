import { writeFileSync } from 'node:fs';
import { applyMapping } from '../../src/provisioning/rules/mapping-versions.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

let fixture: AdminFixture;
let settings: ReturnType<typeof writeSettingsFile>;
beforeEach(async () => {
  settings = writeSettingsFile({}, { default: { mode: 'shadow' } });
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  const { send } = scimClient(fixture.service.url, fixture.service.scimToken);
  for (const [name, userType] of people) {
    const userName = addressOf(name);
    const { status } = await send('POST', '/Users', { userName, userType, name: { familyName: name } });
    if (status !== 201) throw new Error(`${name} was answered ${status}`);
  }
});
afterEach(async () => {
  await fixture.close();
  settings.remove();
});

const people = [
  ['Ada', 'Employee'],
  ['Bob', 'Employee'],
  ['Carl', 'Contractor'],
  ['Dora', 'Contractor'],
] as const;

const addressOf = (name: string) => `${name.toLowerCase()}@corp.example`;
const scoped = { scope: 'userType eq "Employee"' };

const command = (...words: string[]) =>
  runCommandLine(words, { JETBRIDGE_DATA: fixture.service.data, JETBRIDGE_CONFIG: settings.path });

const travelers = () => {
  const { url, travelApiKey } = fixture.service;
  return travelAdmin(url, travelApiKey).travelers();
};

test('while people are not planned under the rules in force, the report says so, and going live is refused', async () => {
  const { body: before } = await fixture.viewer('GET', '/connections/default/shadow');
  expect(before.people).toMatchObject({ create: 4, unplanned: 0 });
  const database = await openTestDatabase(fixture.service.data);
  const { rules } = provisioningStore(database);
  const [version] = await rules.listMappings('default', 1);
  await applyMapping(rules, {
    ...{
      connection: 'default',
      mapping: { scimUserMapping: [], ...scoped },
      expected: version?.generation ?? 0,
    },
    ...{ source: 'command', author: 'Ada', now: Date.now() },
  });
  await database.close();
  const { body: report } = await fixture.viewer('GET', '/connections/default/shadow');
  expect(report.people).toMatchObject({ create: 0, unplanned: 4 });
  expect((await command('shadow', 'report')).out).toContain(
    'Planning runs: 4 people are not planned yet. Look again in a minute.',
  );
  const refusal =
    '4 people are not planned yet under the rules in force. Nothing was done; look again in a minute.';
  const body = { digest: before.digest, acceptedChanges: 4 };
  const refused = await fixture.admin('POST', '/connections/default/go-live', { body });
  expect(refused).toMatchObject({ status: 409, body: { message: refusal } });
  const live = await command('shadow', 'go-live', '--yes');
  expect(live).toMatchObject({ code: 1 });
  expect(live.err).toContain(refusal);
  expect((await command('connections', 'list')).out).toMatch(/default .* shadow/);
});

test('after mapping apply everybody is planned again, and going live does what the report says of each person', async () => {
  const path = `${settings.path}.mapping`;
  writeFileSync(path, JSON.stringify(scoped));
  expect(await command('mapping', 'apply', path, '--yes')).toMatchObject({ code: 0 });
  await eventually(async () => {
    const { body } = await fixture.viewer('GET', '/connections/default/shadow');
    expect(body.people).toMatchObject({ unplanned: 0, create: 2, leftOut: 2 });
  });
  const known = new Set((await travelers()).map(({ email }) => email));
  const lines = (await command('shadow', 'report', '--json')).out.trim().split('\n');
  const listed = lines.map((line) => JSON.parse(line)).filter(({ outcome }) => outcome !== undefined);
  expect(
    new Set(listed.filter(({ outcome }) => outcome === 'notSent').map(({ userName }) => userName)),
  ).toEqual(known);
  expect(await command('shadow', 'go-live', '--yes')).toMatchObject({ code: 0 });
  const planned = listed.filter(({ outcome }) => outcome === 'create').map(({ userName }) => userName);
  await eventually(async () => {
    const created = (await travelers()).map(({ email }) => email).filter((email) => !known.has(email));
    expect(new Set(created)).toEqual(new Set(planned));
  });
});
