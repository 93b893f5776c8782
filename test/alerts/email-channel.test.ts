import { type AddressInfo, createServer } from 'node:net';
import type { Alert } from '../../src/alerts/channel.ts';
import { emailChannel } from '../../src/alerts/email-channel.ts';
import { certificateFiles } from '../fixtures/certificate.ts';
import { type MailServer, mailServer } from '../fixtures/mail-server.ts';

const alert: Alert = {
  type: 'travelOutage.opened',
  at: Date.UTC(2026, 10, 20, 10),
  severity: 'failing',
  text: 'Connection default: the travel API answers 503 since 14:02; 25 changes wait.',
  data: {},
  path: '/overview',
};

let server: MailServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(options?: Parameters<typeof mailServer>[0]): Promise<MailServer> {
  server = await mailServer(options);
  return server;
}

/** Makes one attempt to deliver the alert to a mail server. */
function deliver(smtpUrl: string, sent: Alert = alert, signal = new AbortController().signal) {
  const settings = { smtpUrl, from: 'jetbridge@corp.example', to: ['ada@corp.example', 'bob@corp.example'] };
  const deps = { publicUrl: 'https://bridge.example.com', now: () => Date.UTC(2026, 10, 20, 10) };
  return emailChannel(settings, deps).deliver({ id: 'msg_1', alert: sent }, signal);
}

test('a mail has the text, a link to the page, and the same id in every attempt', async () => {
  const { port, mails } = await start();
  expect(await deliver(`smtp://127.0.0.1:${port}`)).toEqual({ answer: '250 queued as 7' });
  const [mail = { from: '', to: [], text: '' }] = mails;
  expect([mail.from, mail.to]).toEqual(['jetbridge@corp.example', ['ada@corp.example', 'bob@corp.example']]);
  expect(mail.text.replaceAll('\r\n', '\n').replace(/\n /g, ' ')).toMatch(
    /^Subject: Jetbridge: Failing: Connection default: the travel API answers 503 since 14:02; 25 changes wait\.$/m,
  );
  expect(mail.text).toContain('From: Jetbridge <jetbridge@corp.example>\r\n');
  expect(mail.text).toContain('Message-ID: <msg_1@corp.example>\r\n');
  expect(mail.text).toContain('Auto-Submitted: auto-generated\r\n');
  expect(mail.text).toContain(
    `\r\n\r\n${alert.text}\r\n\r\nOpen the admin page: https://bridge.example.com/`,
  );
  expect(mail.text).toContain('\r\ntravelOutage.opened, 2026-11-20T10:00:00.000Z');
});

test('a line break in a text adds no header, and a long text is cut in the subject alone', async () => {
  const { port, mails } = await start();
  const text = `First line\r\nBcc: eve@evil.example\r\n\r\n${'x'.repeat(200)}.`;
  await deliver(`smtp://127.0.0.1:${port}`, { ...alert, text });
  const [headers = '', ...body] = mails[0]?.text.split('\r\n\r\n') ?? [];
  expect(headers).not.toMatch(/^Bcc:/m);
  expect(mails[0]?.to).toHaveLength(2);
  expect(headers).not.toContain('x'.repeat(100));
  expect(body.join('').replaceAll(/=\r\n/g, '')).toContain('x'.repeat(200));
});

test('the user and the password of the URL open the session, with escaped characters', async () => {
  const { port, mails } = await start({ password: 'p@ss:w/rd' });
  expect(await deliver(`smtp://jetbridge:p%40ss%3Aw%2Frd@127.0.0.1:${port}`)).toHaveProperty('answer');
  expect(mails).toHaveLength(1);
});

test('a wrong password is told without the password', async () => {
  const { port } = await start({ password: 'right' });
  expect(await deliver(`smtp://jetbridge:wrong-secret@127.0.0.1:${port}`)).toEqual({
    failure: 'the mail server refuses the user or the password (535)',
    retryAfterMs: 0,
  });
});

test('a recipient that is refused does not stop the mail to the others', async () => {
  const { port, mails } = await start({ refused: ['bob@corp.example'] });
  expect(await deliver(`smtp://127.0.0.1:${port}`)).toEqual({
    answer: '250 queued as 7, and 1 of the recipients are refused',
  });
  expect(mails[0]?.to).toEqual(['ada@corp.example']);
});

test('if every recipient is refused the attempt has failed, and the reason has no address', async () => {
  const { port } = await start({ refused: ['ada@corp.example', 'bob@corp.example'] });
  expect(await deliver(`smtp://127.0.0.1:${port}`)).toEqual({
    failure: 'the mail server refuses the sender or every recipient (550)',
    retryAfterMs: 0,
  });
});

test.each(['smtp', 'smtps'])(
  'a certificate that nobody vouches for is not accepted by %s',
  async (scheme) => {
    const certificate = await certificateFiles();
    const { port, mails } = await start({ certificate, isImplicit: scheme === 'smtps' });
    expect(await deliver(`${scheme}://127.0.0.1:${port}`)).toEqual({
      failure: expect.stringMatching(/^the certificate or the encryption is not accepted/),
      retryAfterMs: 0,
    });
    expect(mails).toEqual([]);
    certificate.remove();
  },
);

test('a server that nobody runs is told as such', async () => {
  const { port, close } = await mailServer();
  await close();
  expect(await deliver(`smtp://127.0.0.1:${port}`)).toMatchObject({ failure: 'the connection was refused' });
});

test('a server that never greets does not prevent the sender from closing', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo; // It listens on a port.
  const stop = new AbortController();
  const connected = new Promise((resolve) => silent.once('connection', resolve));
  const delivery = deliver(`smtp://127.0.0.1:${port}`, alert, stop.signal);
  await connected;
  stop.abort();
  expect(await delivery).toEqual({ failure: 'the mail server does not answer in time', retryAfterMs: 0 });
  await new Promise((resolve) => silent.close(resolve));
});
