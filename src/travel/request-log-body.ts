import type { IncomingMessage } from 'node:http';
import type { LoggedBody } from './ports.ts';
import { withoutSecrets } from './request-log-secrets.ts';

/** The longest body that is kept, in bytes. */
const LONGEST = 16_384;

/** A request and, once its body was read, the bytes as they came: also those that turned out to be no JSON. */
export interface Received extends IncomingMessage {
  received?: { bytes: Buffer; encoding: string };
}

/** What the log keeps of a request's body; undefined when there was none, or when nobody read it. */
export function requestBody({ received }: Received): LoggedBody | undefined {
  if (!received || received.bytes.length === 0) return undefined;
  const { bytes, encoding } = received;
  if (encoding === 'utf-8') return loggedBody(bytes.toString('utf8'));
  // Names could not be recognised in it.
  return { text: `(left out: ${bytes.length} bytes of ${encoding})`, cut: false };
}

/** A text as the log keeps it: secrets struck out first, so that a cut cannot hide their names. */
export function loggedBody(text: string): LoggedBody {
  const safe = withoutSecrets(text);
  const struck = safe.includes('\0') ? safe.replaceAll('\0', '\uFFFD') : safe;
  // No character takes more than three bytes for each unit of its length.
  if (struck.length * 3 <= LONGEST) return { text: struck, cut: false };
  const kept = Buffer.alloc(LONGEST);
  const { read, written } = new TextEncoder().encodeInto(struck, kept);
  if (read === struck.length) return { text: struck, cut: false };
  return { text: kept.toString('utf8', 0, written), cut: true };
}
