import { codeOf } from './error-code.ts';
import { PrivateAddress } from './guard.ts';

/** A receiver that sends interim answers and no final one. */
export class TooManyInterim extends Error {
  constructor(limit: number) {
    super(`more than ${limit} interim (1xx) answers came before the final one`);
    this.name = 'TooManyInterim';
  }
}

const texts = new Map([
  ['ENOTFOUND', 'the host is not known'],
  ['ENODATA', 'the host is not known'],
  ['EAI_AGAIN', 'the name servers do not answer'],
  ['ETIMEOUT', 'the name servers do not answer'],
  ['ESERVFAIL', 'the name servers do not answer'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was closed without an answer'],
  ['EPIPE', 'the connection was closed without an answer'],
  ['ETIMEDOUT', 'the host cannot be reached'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the host cannot be reached'],
]);

/** Why no answer came, for the delivery history: what an admin can act upon, and nothing of our network. */
export function failureText(error: unknown): string {
  if (error instanceof PrivateAddress) return 'the host leads to a private address';
  if (error instanceof TooManyInterim) return error.message;
  const code = codeOf(error);
  const known = texts.get(code);
  if (known) return known;
  if (code.startsWith('HPE_')) return 'the answer is no HTTP';
  if (/CERT|SSL|TLS|ISSUER|SIGNATURE|EPROTO/.test(code))
    return `the certificate or the encryption is not accepted (${code})`;
  return code === '' ? 'the request failed' : `the request failed (${code})`;
}
