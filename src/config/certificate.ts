import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Fault } from './faults.ts';

/** The files that TLS_CERT and TLS_KEY name. */
export interface CertificateFiles {
  cert: string;
  key: string;
}

/** A certificate with its chain and key, as HTTPS is served with it. */
export interface Certificate {
  cert: string;
  key: string;
  /** Between these, in epoch milliseconds, clients accept it. */
  validFrom: number;
  validTo: number;
}

/** Reads certificate and key, and makes sure that HTTPS can be served with them; what keeps that from being so joins the faults. */
export function readCertificate(files: CertificateFiles, faults: Fault[]): Certificate | undefined {
  const cert = readPem('TLS_CERT', files.cert, faults);
  const key = readPem('TLS_KEY', files.key, faults);
  if (cert === undefined || key === undefined) return undefined;
  const certificate = parsed(() => new X509Certificate(cert));
  const privateKey = parsed(() => createPrivateKey(key));
  if (!certificate) faults.push(noPem('TLS_CERT', files.cert, 'certificate', 'BEGIN CERTIFICATE'));
  if (!privateKey)
    faults.push(noPem('TLS_KEY', files.key, 'private key without a passphrase', 'BEGIN PRIVATE KEY'));
  if (!certificate || !privateKey) return undefined;
  const problem = problemOf({ cert, key }, certificate, privateKey);
  if (problem) {
    faults.push(problem);
    return undefined;
  }
  return {
    cert,
    key,
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
  };
}

/** What whoever runs the service should hear of a certificate that can be served, but that clients will refuse. */
export function certificateWarning({ validFrom, validTo }: Certificate, now: number): string | undefined {
  if (validTo <= now) return `the certificate in TLS_CERT ended on ${new Date(validTo).toISOString()}`;
  if (validFrom > now) return `the certificate in TLS_CERT begins on ${new Date(validFrom).toISOString()}`;
  return undefined;
}

function readPem(name: string, file: string, faults: Fault[]): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = typeof error === 'object' && error && 'code' in error ? String(error.code) : String(error);
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    faults.push(fault(name, `names ${file}, which ${problem}`, 'Name a file that Jetbridge may read.'));
    return undefined;
  }
}

function parsed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function noPem(name: string, file: string, what: string, header: string): Fault {
  return fault(
    name,
    `names ${file}, which holds no ${what} in PEM`,
    `Name a file that has a line -----${header}-----.`,
  );
}

function problemOf(
  pem: { cert: string; key: string },
  certificate: X509Certificate,
  key: KeyObject,
): Fault | undefined {
  if (!certificate.checkPrivateKey(key))
    return fault(
      'TLS_KEY',
      'does not belong to the certificate in TLS_CERT',
      'Name the key that the certificate was made with; in TLS_CERT the own certificate stands before its chain.',
    );
  try {
    createSecureContext(pem);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fault(
      'TLS_CERT',
      `cannot be served (${reason})`,
      'Use a key of 2048 bits (RSA) or 256 (EC) or more.',
    );
  }
}

function fault(path: string, problem: string, remedy: string): Fault {
  return { file: 'environment', path, problem, remedy };
}
