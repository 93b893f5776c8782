import { connect, getCiphers } from 'node:tls';
import { type CertificateFiles, certificateFiles } from '../fixtures/certificate.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** Every suite of TLS 1.2 and older that this Node.js supports. */
const oldSuites = getCiphers().filter((name) => !name.startsWith('tls_'));

/** The suites that the server accepts over TLS 1.2, each offered alone. */
async function acceptedSuites(url: string): Promise<string[]> {
  const accepted: string[] = [];
  for (const suite of oldSuites)
    if ((await protocolOf(url, { suite, version: 'TLSv1.2' })) !== undefined) accepted.push(suite);
  return accepted.sort();
}

/**
 * The protocol that a handshake negotiates; undefined if it fails. With SECLEVEL=0 the client itself refuses
 * nothing.
 */
function protocolOf(
  url: string,
  { suite, version }: { suite?: string; version: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3' },
): Promise<string | undefined> {
  const { hostname: host, port } = new URL(url);
  const ciphers = `${suite?.toUpperCase() ?? 'ALL'}:@SECLEVEL=0`;
  const versions = { minVersion: version, maxVersion: version };
  return new Promise((resolve) => {
    const options = { host, port: Number(port), rejectUnauthorized: false, ciphers, ...versions };
    const socket = connect(options, () => {
      resolve(socket.getProtocol() ?? undefined);
      socket.destroy();
    });
    socket.on('error', () => resolve(undefined));
  });
}

const suitesFor = (key: string) => [
  `ecdhe-${key}-aes128-gcm-sha256`,
  `ecdhe-${key}-aes256-gcm-sha384`,
  `ecdhe-${key}-chacha20-poly1305`,
];

describe.each([
  ['ec', 'ecdsa'],
  ['rsa', 'rsa'],
] as const)('with a certificate of an %s key', (keyType, name) => {
  let files: CertificateFiles;
  let service: RunningService;
  beforeAll(async () => {
    files = await certificateFiles({ keyType });
    service = await startService({ TLS_CERT: files.cert, TLS_KEY: files.key }, { background: false });
  });
  afterAll(async () => {
    await service.close();
    files.remove();
  });

  it('TLS 1.2 offers only suites with forward secrecy and authenticated encryption', async () => {
    expect(oldSuites).toEqual(expect.arrayContaining(['aes128-gcm-sha256', 'ecdhe-rsa-aes128-sha']));
    expect(await acceptedSuites(service.url)).toEqual(suitesFor(name));
  });

  it('the suites stay the same after the certificate is renewed', async () => {
    await files.renew();
    service.renewCertificate();
    expect(await acceptedSuites(service.url)).toEqual(suitesFor(name));
  });

  it('TLS 1.3 is supported, and nothing older than 1.2', async () => {
    expect(await protocolOf(service.url, { version: 'TLSv1.3' })).toBe('TLSv1.3');
    expect(await protocolOf(service.url, { version: 'TLSv1.2' })).toBe('TLSv1.2');
    for (const version of ['TLSv1', 'TLSv1.1'] as const)
      expect(await protocolOf(service.url, { version })).toBeUndefined();
  });
});
