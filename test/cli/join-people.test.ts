import { joinPeopleNamed } from '../../src/cli/people/join-people.ts';
import { urns } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { type RecordedShell, recordedShell } from '../fixtures/shell.ts';

let service: RunningService;
let shell: RecordedShell;
let idp: ScimClient;
beforeAll(async () => {
  service = await startService();
  idp = scimClient(service.url, service.scimToken);
});
afterAll(() => service.close());
beforeEach(async () => {
  shell = await recordedShell({ JETBRIDGE_DATA: service.data });
});

interface Provisioned {
  id: string;
  travelId: string;
}

async function provision(userName: string): Promise<Provisioned> {
  const { status, body } = await idp.send('POST', '/Users', { userName, active: true });
  expect(status).toBe(201);
  return { id: body.id, travelId: body[urns.travel].travelUserId };
}

/** A deleted user without names, and a new one with the same address: nobody can tell whether they are one person. */
async function createUnclearPeople(
  userName: string,
): Promise<{ leaver: Provisioned; newcomer: Provisioned }> {
  const leaver = await provision(userName);
  expect((await idp.send('DELETE', `/Users/${leaver.id}`)).status).toBe(204);
  const newcomer = await provision(userName);
  expect(newcomer.travelId).not.toBe(leaver.travelId);
  return { leaver, newcomer };
}

test('a user gets the traveler of a leaver while the server runs', async () => {
  const { leaver, newcomer } = await createUnclearPeople('desk@corp.example');
  const names = { leaver: leaver.id, newcomer: newcomer.id };
  expect(await joinPeopleNamed(shell, { ...names, yes: true, json: true })).toBe(0);
  expect(JSON.parse(shell.out.join('\n'))).toEqual({
    joined: { connection: 'default', id: newcomer.id, travelId: leaver.travelId },
  });
  await eventually(async () => {
    const { body } = await idp.send('GET', `/Users/${newcomer.id}`);
    expect(body[urns.travel].travelUserId).toBe(leaver.travelId);
  });
});

test('nothing is changed without a confirmation', async () => {
  const { leaver, newcomer } = await createUnclearPeople('info@corp.example');
  expect(await joinPeopleNamed(shell, { leaver: leaver.id, newcomer: newcomer.id })).toBe(1);
  expect(shell.err).toEqual(['Nothing was changed.']);
  const { body } = await idp.send('GET', `/Users/${newcomer.id}`);
  expect(body[urns.travel].travelUserId).toBe(newcomer.travelId);
});

test('people who cannot be joined are refused with the reason', async () => {
  const one = await provision('one@corp.example');
  const two = await provision('two@corp.example');
  expect(await joinPeopleNamed(shell, { leaver: one.id, newcomer: two.id, yes: true })).toBe(1);
  expect(await joinPeopleNamed(shell, { leaver: 'nobody', newcomer: two.id, yes: true })).toBe(1);
  expect(shell.err).toEqual([
    'The first person is active: deactivate that user in the identity provider first.',
    'There is no person nobody.',
  ]);
});
