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
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path, ALERTS_SLACK_URL });
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
