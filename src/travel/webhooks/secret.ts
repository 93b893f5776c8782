import { randomBytes } from 'node:crypto';
import type { DeclaredSecret } from '../resource.ts';

/** "between 24 bytes (192 bits) and 64 bytes (512 bits)" (Standard Webhooks, "Signature scheme") */
const BYTES = 32;

/** The secret of a webhook, which signs what it is sent; "base64 encoded, prefixed with whsec_" (Standard Webhooks). */
export const webhookSecret: DeclaredSecret = {
  field: 'secret',
  example: `whsec_${Buffer.from('not a secret, but an example of it').subarray(0, BYTES).toString('base64')}`,
  make: () => `whsec_${randomBytes(BYTES).toString('base64')}`,
};
