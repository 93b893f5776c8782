import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { z } from 'zod';
import { isLoopback } from '../http/proxies.ts';
import type { environmentSchema } from './environment.ts';
import type { Fault } from './faults.ts';

/** The settings of HTTPS and of trusted proxies. */
export interface TransportSettings {
  /** The certificate of HTTPS; undefined: the service speaks plain HTTP. */
  tls: { files: CertificateFiles; certificate: Certificate } | undefined;
  requireHttps: boolean;
  /** The entries of TRUSTED_PROXIES. */
  trustedProxies: string[];
}

/** Reads the HTTPS variables and the certificate files. Adds all faults to `faults`. */
export function transportSettings(
  variables: z.infer<typeof environmentSchema>,
  faults: Fault[],
): TransportSettings {
  const { TLS_CERT: cert, TLS_KEY: key, REQUIRE_HTTPS: required, HOST: host, TRUSTED_PROXIES } = variables;
  return {
    tls: readTls(cert, key, faults),
    requireHttps: required ?? !isLoopbackHost(host),
    trustedProxies: TRUSTED_PROXIES,
  };
}

function readTls(
  cert: string | undefined,
  key: string | undefined,
  faults: Fault[],
): TransportSettings['tls'] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const [missing, given] = cert === undefined ? ['TLS_CERT', 'TLS_KEY'] : ['TLS_KEY', 'TLS_CERT'];
    const problem = `is not set, and ${given} is`;
    faults.push({ file: 'environment', path: missing, problem, remedy: 'Set both, or neither.' });
    return undefined;
  }
  const certificate = readCertificate({ cert, key }, faults);
  return certificate && { files: { cert, key }, certificate };
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopback(host);
}

/** The paths in TLS_CERT and TLS_KEY. */
export interface CertificateFiles {
  cert: string;
  key: string;
}

/** A certificate with its chain and private key, in PEM. */
export interface Certificate {
  cert: string;
  key: string;
  /** Start of the validity, in epoch milliseconds. */
  validFrom: number;
  /** End of the validity, in epoch milliseconds. */
  validTo: number;
}

/**
 * Reads a certificate and its key, and checks that HTTPS can be served with them. If not, adds a fault and returns
 * undefined.
 */
export function readCertificate(files: CertificateFiles, faults: Fault[]): Certificate | undefined {
  const cert = readPem('TLS_CERT', files.cert, faults);
  const key = readPem('TLS_KEY', files.key, faults);
  if (cert === undefined || key === undefined) return undefined;
  const certificate = parseOrUndefined(() => new X509Certificate(cert));
  const privateKey = parseOrUndefined(() => createPrivateKey(key));
  if (!certificate) faults.push(missingPemFault('TLS_CERT', files.cert, 'certificate', 'BEGIN CERTIFICATE'));
  if (!privateKey)
    faults.push(
      missingPemFault('TLS_KEY', files.key, 'private key without a passphrase', 'BEGIN PRIVATE KEY'),
    );
  if (!certificate || !privateKey) return undefined;
  const problem = certificatePairFault({ cert, key }, certificate, privateKey);
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

/** Returns a warning if the certificate has expired or is not valid yet: it can be served, but clients refuse it. */
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
    faults.push(
      environmentFault(name, `names ${file}, which ${problem}`, 'Name a file that Jetbridge may read.'),
    );
    return undefined;
  }
}

function parseOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function missingPemFault(name: string, file: string, what: string, header: string): Fault {
  return environmentFault(
    name,
    `names ${file}, which holds no ${what} in PEM`,
    `Name a file that has a line -----${header}-----.`,
  );
}

function certificatePairFault(
  pem: { cert: string; key: string },
  certificate: X509Certificate,
  key: KeyObject,
): Fault | undefined {
  if (!certificate.checkPrivateKey(key))
    return environmentFault(
      'TLS_KEY',
      'does not belong to the certificate in TLS_CERT',
      'Name the key that the certificate was made with; in TLS_CERT the own certificate stands before its chain.',
    );
  try {
    createSecureContext(pem);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return environmentFault(
      'TLS_CERT',
      `cannot be served (${reason})`,
      'Use a key of 2048 bits (RSA) or 256 (EC) or more.',
    );
  }
}

function environmentFault(path: string, problem: string, remedy: string): Fault {
  return { file: 'environment', path, problem, remedy };
}
