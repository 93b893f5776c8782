import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { folder } from './jetbridge.ts';

/** A certificate for this machine and its key, in files of their own. */
export interface CertificateFiles {
  cert: string;
  key: string;
  /** What a client trusts to accept it. */
  pem: string;
  /** Puts another certificate with another key into the same files. */
  renew(): Promise<string>;
  remove(): void;
}

interface Wanted {
  /** When it is valid, in days from now. */
  from?: number;
  to?: number;
  keyType?: 'ec' | 'rsa';
}

/** Makes a certificate for localhost and 127.0.0.1, valid now and with an EC key unless told otherwise. */
export async function certificateFiles(wanted: Wanted = {}): Promise<CertificateFiles> {
  const place = folder();
  const cert = join(place.path, 'cert.pem');
  const key = join(place.path, 'key.pem');
  const write = async () => {
    const made = await pair(wanted);
    writeFileSync(cert, made.cert);
    writeFileSync(key, made.private);
    return made.cert;
  };
  return { cert, key, pem: await write(), renew: write, remove: place.remove };
}

const DAY_MS = 24 * 60 * 60_000;

function pair({ from = -1, to = 30, keyType = 'ec' }: Wanted) {
  return generate([{ name: 'commonName', value: 'localhost' }], {
    keyType,
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() + from * DAY_MS),
    notAfterDate: new Date(Date.now() + to * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
}
