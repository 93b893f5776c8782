import { writeFileSync } from 'node:fs';
import { contentOf } from '../../src/provisioning/rules/rules-snapshot.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import type { RunningService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const people = [
  ['ada', 'Employee'],
  ['bob', 'Employee'],
  ['carl', 'Contractor'],
  ['dora', 'Contractor'],
] as const;

/** Longer than the test. */
const LEASE_MS = 60_000;

const scoped = { scope: 'userType eq "Employee"' };

const refusal =
  '4 people are not planned yet under the rules in force. Nothing was done; look again in a minute.';

test('while a change of rules is being planned, going live is refused; then it does what the report says of each person', async () => {
  const settings = writeSettingsFile({}, { default: { mode: 'shadow' } });
  const { service, admin, viewer, close } = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  const command = (...words: string[]) =>
    runCommandLine(words, { JETBRIDGE_DATA: service.data, JETBRIDGE_CONFIG: settings.path });
  const travelers = async () => {
    const all = await travelAdmin(service.url, service.travelApiKey).travelers();
    return all.map(({ email }) => email).toSorted();
  };
  try {
    await createPeople(service);
    const { body: before } = await viewer('GET', '/connections/default/shadow');
    expect(before.people).toMatchObject({ create: 4, unplanned: 0 });
    await applyBesideOtherWork(service);
    const { body: report } = await viewer('GET', '/connections/default/shadow');
    expect(report.people).toMatchObject({ create: 0, unplanned: 4 });
    const body = { digest: before.digest, acceptedChanges: 4 };
    const refused = await admin('POST', '/connections/default/go-live', { body });
    expect(refused).toMatchObject({ status: 409, body: { message: refusal } });
    const live = await command('shadow', 'go-live', '--yes');
    expect(live).toMatchObject({ code: 1 });
    expect(live.err).toContain('Planning runs: 4 people are not planned yet. Look again in a minute.');
    expect(live.err).toContain(refusal);

    await leasePeople(service, false);
    const path = `${settings.path}.mapping`;
    writeFileSync(path, JSON.stringify({ ...scoped, outOfScope: 'archive' }));
    expect(await command('mapping', 'apply', path, '--yes')).toMatchObject({ code: 0 });
    await eventually(async () => {
      const { people: sums } = (await viewer('GET', '/connections/default/shadow')).body;
      expect(sums).toMatchObject({ unplanned: 0, create: 2, leftOut: 2 });
    });
    const lines = (await command('shadow', 'report', '--json')).out.trim().split('\n');
    const listed: { userName: string; outcome?: string }[] = lines.map((line) => JSON.parse(line));
    const planned = (outcome: string) =>
      listed.filter((one) => one.outcome === outcome).map(({ userName }) => userName);
    expect(planned('notSent').toSorted()).toEqual(await travelers());
    expect(await command('shadow', 'go-live', '--yes')).toMatchObject({ code: 0 });
    const wanted = [...planned('notSent'), ...planned('create')].toSorted();
    await eventually(async () => expect(await travelers()).toEqual(wanted));
  } finally {
    await close();
    settings.remove();
  }
});

async function createPeople({ url, scimToken }: RunningService): Promise<void> {
  const { send } = scimClient(url, scimToken);
  for (const [name, userType] of people) {
    const user = { userName: `${name}@corp.example`, userType, name: { familyName: name } };
    const { status } = await send('POST', '/Users', user);
    if (status !== 201) throw new Error(`${name} was answered ${status}`);
  }
}

/** Puts a mapping in force while another process has everybody leased, so that nobody is planned anew. */
async function applyBesideOtherWork(service: RunningService): Promise<void> {
  await leasePeople(service, true);
  const database = await openTestDatabase(service.data);
  const { rules } = provisioningStore(database);
  const inForce = await rules.find('default');
  if (!inForce) throw new Error('no rules are in force');
  const mapping = { scimUserMapping: [], ...scoped };
  const next = { ...inForce, ...contentOf(mapping), generation: inForce.generation + 1 };
  expect(await rules.replace('default', { ...next, source: 'command' }, Date.now(), 'Ada')).toBe(true);
  await database.close();
}

/** Gives everybody the lease of another process, or takes it away. */
async function leasePeople({ data }: RunningService, isLeased: boolean): Promise<void> {
  const database = await openTestDatabase(data);
  const lease = isLeased
    ? { lease_token: 'another process', lease_until: Date.now() + LEASE_MS }
    : { lease_token: null, lease_until: null };
  await database.db.updateTable('identity').set(lease).execute();
  await database.close();
}
