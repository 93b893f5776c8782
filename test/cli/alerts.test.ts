import { type AlertReceiver, alertReceiver } from '../fixtures/alert-receiver.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { freePort } from '../fixtures/free-port.ts';
import { type MailServer, mailServer } from '../fixtures/mail-server.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

let receiver: AlertReceiver;
let mails: MailServer;
beforeEach(async () => {
  receiver = await alertReceiver();
  mails = await mailServer({ password: 'pass-of-mail' });
});
afterEach(async () => {
  await receiver.close();
  await mails.close();
});

/** Runs the command with a settings file that configures these channels. */
async function testAlerts(alerts: object, args: string[] = [], environment: Record<string, string> = {}) {
  const file = writeSettingsFile({ alerts });
  try {
    return await runCommandLine(['alerts', 'test', ...args], {
      JETBRIDGE_CONFIG: file.path,
      PUBLIC_URL: 'https://bridge.example.com',
      ...environment,
    });
  } finally {
    file.remove();
  }
}

function everyChannel() {
  return {
    webhookUrl: receiver.url,
    slack: {},
    teams: { urlEnv: 'ACME_TEAMS' },
    pagerduty: { url: `${receiver.url}/pagerduty` },
    email: { from: 'jetbridge@corp.example', to: ['ada@corp.example'] },
  };
}

function secrets() {
  return {
    ALERTS_WEBHOOK_SECRET: secret,
    ALERTS_SLACK_URL: `${receiver.url}/slack-secret`,
    ACME_TEAMS: `${receiver.url}/teams-secret`,
    ALERTS_PAGERDUTY_KEY: '0123456789abcdef0123456789secret',
    ALERTS_SMTP_URL: `smtp://jetbridge:pass-of-mail@127.0.0.1:${mails.port}`,
  };
}

test('a test alert goes to every channel, whose answers are printed', async () => {
  receiver.answers.push(...[1, 2, 3, 4].map(() => ({ status: 200, body: 'ok' })));
  const { code, out, err } = await testAlerts(everyChannel(), [], secrets());
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.trim().split('\n')).toEqual([
    'ok webhook: status 200 (ok)',
    'ok slack: status 200 (ok)',
    'ok teams: status 200 (ok)',
    'ok pagerduty: status 200 (ok)',
    'ok email: 250 queued as 7',
  ]);
  const bodies = new Map(receiver.received.map(({ path, body }) => [path, body]));
  expect(JSON.parse(bodies.get('/hook') ?? '')).toMatchObject({ type: 'alerts.test', data: {} });
  expect(bodies.get('/hook/slack-secret')).toContain('This is a test. Alerts of Jetbridge arrive here.');
  expect(bodies.get('/hook/teams-secret')).toContain('https://bridge.example.com/admin/overview');
  expect(JSON.parse(bodies.get('/hook/pagerduty') ?? '')).toMatchObject({ event_action: 'trigger' });
  expect(mails.mails).toHaveLength(1);
});

test('a channel that fails is a fault and exit code 1, and the others get the alert; no secret is printed', async () => {
  const environment = {
    ...secrets(),
    ALERTS_SLACK_URL: `http://127.0.0.1:${await freePort()}/slack-secret`,
    ALERTS_SMTP_URL: `smtp://jetbridge:wrong-pass@127.0.0.1:${mails.port}`,
  };
  const { code, out, err } = await testAlerts(everyChannel(), [], environment);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(out.trim().split('\n')).toEqual([
    'ok webhook: status 204',
    'fault slack: the connection was refused',
    'ok teams: status 204',
    'ok pagerduty: status 204',
    'fault email: the mail server refuses the user or the password (535)',
  ]);
  for (const text of ['secret', 'wrong-pass', '127.0.0.1']) expect(out).not.toContain(text);
});

test('--json prints one object for each channel', async () => {
  const { code, out } = await testAlerts({ slack: {} }, ['--json'], secrets());
  expect([code, JSON.parse(out)]).toEqual([0, { channel: 'slack', accepted: true, text: 'status 204' }]);
});

test('without a channel the command says how to configure one, and is a fault', async () => {
  expect(await testAlerts({})).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^No channel .*alerts\.slack.*alerts\.email.*docs\/operations\/alerts\.md/),
  });
});
