import type { z } from 'zod';
import { isLoopback } from '../http/proxies.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';
import type { Fault } from './faults.ts';
import type { environmentSchema } from './schema.ts';

/** How requests travel to us, and whom we believe about how they came. */
export interface TransportSettings {
  /** What HTTPS is served with; undefined: plain HTTP is. */
  tls: { files: CertificateFiles; certificate: Certificate } | undefined;
  requireHttps: boolean;
  /** Entries of TRUSTED_PROXIES. */
  trustedProxies: string[];
}

/** Settles the variables about HTTPS; what is wrong with them joins the faults. */
export function transportSettings(
  variables: z.infer<typeof environmentSchema>,
  faults: Fault[],
): TransportSettings {
  const { TLS_CERT: cert, TLS_KEY: key, REQUIRE_HTTPS: required, HOST: host, TRUSTED_PROXIES } = variables;
  return {
    tls: tlsOf(cert, key, faults),
    requireHttps: required ?? !isLoopbackHost(host),
    trustedProxies: TRUSTED_PROXIES,
  };
}

function tlsOf(cert: string | undefined, key: string | undefined, faults: Fault[]): TransportSettings['tls'] {
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
