import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { type AlertReceiver, alertReceiver } from '../fixtures/alert-receiver.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

let receiver: AlertReceiver;
let settings: ReturnType<typeof writeSettingsFile>;
let fixture: AdminFixture;
beforeAll(async () => {
  receiver = await alertReceiver();
  settings = writeSettingsFile({ alerts: { slack: {} } });
  const ALERTS_SLACK_URL = `${receiver.url}/services/secret`;
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path, ALERTS_SLACK_URL }, { countMs: 0 });
});
afterAll(async () => {
  await fixture.close();
  await receiver.close();
  settings.remove();
});

test('the channels of the settings are listed without their URLs', async () => {
  const { status, body } = await fixture.viewer('GET', '/alerts');
  expect([status, body]).toEqual([200, { channels: [{ name: 'slack' }] }]);
});

test('a test alert is sent once, and the answer of the receiver is told', async () => {
  receiver.answers.push({ status: 403, body: 'no_service' });
  const failed = await fixture.admin('POST', '/alerts/test');
  expect(failed.body.results).toEqual([
    { name: 'slack', accepted: false, text: expect.stringContaining('403') },
  ]);
  const { body } = await fixture.admin('POST', '/alerts/test');
  expect(body.results).toMatchObject([{ name: 'slack', accepted: true }]);
  expect(receiver.received.map(({ path }) => path)).toEqual([
    '/hook/services/secret',
    '/hook/services/secret',
  ]);
  expect((await fixture.viewer('POST', '/alerts/test')).status).toBe(403);
});

test('a condition is acknowledged by an admin until a time, and its kind kept quiet; both are shown and taken back', async () => {
  const { admin, viewer } = fixture;
  await admin('POST', '/admin-tokens', { body: { name: 'nightly', role: 'viewer', days: 5 } });
  const found = async (path: string) =>
    (await viewer('GET', path)).body.conditions.find(
      ({ subject }: { subject: string }) => subject === 'nightly',
    );
  expect(await found('/conditions')).toMatchObject({ kind: 'adminTokenEnds', severity: 'warning' });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const key = { kind: 'adminTokenEnds', subject: 'nightly' };
  const put = (path: string, body: object, client = admin) => client('PUT', `/conditions/${path}`, { body });
  expect((await put('acknowledgement', { ...key, until }, viewer)).status).toBe(403);
  expect((await put('acknowledgement', { ...key, subject: 'other', until })).status).toBe(404);
  const past = new Date(Date.now() - 1_000).toISOString();
  expect((await put('acknowledgement', { ...key, until: past })).status).toBe(422);
  expect((await put('acknowledgement', { ...key, until })).status).toBe(204);
  const acknowledged = { by: 'admin of tests', until, isOfKind: false };
  for (const path of ['/conditions', '/overview']) expect(await found(path)).toMatchObject({ acknowledged });
  await put('acknowledgement', key);
  expect(await found('/conditions')).not.toHaveProperty('acknowledged');
  await put('quiet', { kind: 'adminTokenEnds', until });
  expect(await found('/conditions')).toMatchObject({ acknowledged: { isOfKind: true } });
  expect((await viewer('GET', '/conditions')).body.quiet).toEqual([
    { kind: 'adminTokenEnds', by: 'admin of tests', until },
  ]);
  await put('quiet', { kind: 'adminTokenEnds' });
  expect((await viewer('GET', '/conditions')).body.quiet).toEqual([]);
});
