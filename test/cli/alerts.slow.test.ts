import { type CertificateFiles, certificateFiles } from '../fixtures/certificate.ts';
import { runJetbridge } from '../fixtures/jetbridge.ts';
import { mailServer } from '../fixtures/mail-server.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

let certificate: CertificateFiles;
beforeAll(async () => {
  certificate = await certificateFiles();
});
afterAll(() => certificate.remove());

test.each([
  ['smtp', 'by STARTTLS'],
  ['smtps', 'by TLS from the start'],
])('a mail to a server at %s:// with a trusted certificate is sent %s', async (scheme) => {
  const server = await mailServer({ certificate, isImplicit: scheme === 'smtps', password: 'pass-of-mail' });
  const email = { from: 'jetbridge@corp.example', to: ['ada@corp.example'] };
  const file = writeSettingsFile({ alerts: { email } });
  const { code, out } = await runJetbridge(['alerts', 'test'], {
    JETBRIDGE_CONFIG: file.path,
    ALERTS_SMTP_URL: `${scheme}://jetbridge:pass-of-mail@localhost:${server.port}`,
    NODE_EXTRA_CA_CERTS: certificate.cert,
  });
  expect([code, out.trim()]).toEqual([0, 'ok email: 250 queued as 7']);
  expect(server.mails).toMatchObject([{ isEncrypted: true }]);
  file.remove();
  await server.close();
});
