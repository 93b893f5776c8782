import { urns } from '../../src/schema/resource.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

let service: RunningService;
let idp: ScimClient;
beforeAll(async () => {
  service = await startService();
  idp = scimClient(service.url, service.scimToken);
});
afterAll(() => service.close());

const join = (...args: string[]) =>
  runCommandLine(['people', 'join', ...args], { JETBRIDGE_DATA: service.data });

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
  const { code, out } = await join(leaver.id, newcomer.id, '--yes', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ joined: { connection: 'default', id: newcomer.id } });
  await eventually(async () => {
    const { body } = await idp.send('GET', `/Users/${newcomer.id}`);
    expect(body[urns.travel].travelUserId).toBe(leaver.travelId);
  });
});

test('nothing is changed without a confirmation', async () => {
  const { leaver, newcomer } = await createUnclearPeople('info@corp.example');
  expect(await join(leaver.id, newcomer.id)).toMatchObject({
    code: 2,
    err: expect.stringContaining('give --yes'),
  });
  const { body } = await idp.send('GET', `/Users/${newcomer.id}`);
  expect(body[urns.travel].travelUserId).toBe(newcomer.travelId);
});

test('people who cannot be joined are refused with the reason', async () => {
  const one = await provision('one@corp.example');
  const two = await provision('two@corp.example');
  const common = { code: 1, out: '' };
  expect(await join(one.id, two.id, '--yes')).toEqual({
    ...common,
    err: 'The first person is active: deactivate that user in the identity provider first.\n',
  });
  expect(await join('nobody', two.id, '--yes')).toMatchObject({
    ...common,
    err: expect.stringMatching(/^Nobody has the userName, email address, SCIM id or travel user id nobody\./),
  });
});
