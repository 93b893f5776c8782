import { hashSecret, newSecret } from '../http/bearer.ts';
import type { Clients, Grant, Proof } from './ports.ts';

/** What a client is registered with. */
export interface Registration {
  name: string;
  grant: Grant;
  /** Where the client's public keys are; undefined: it gets a secret. */
  keys: Exclude<Proof, { kind: 'secret' }> | undefined;
}

/** Registers a client. Its secret, if it has one, is answered now and never again. */
export async function registerClient(
  { clients, now, newId }: { clients: Clients; now(): number; newId(): string },
  { name, grant, keys }: Registration,
): Promise<{ id: string; secret: string | undefined }> {
  const id = newId();
  const secret = keys ? undefined : newSecret('client');
  const proof: Proof = keys ?? { kind: 'secret', hash: hashSecret(secret ?? '') };
  await clients.add({ id, name, grant, proof, createdAt: now() });
  return { id, secret };
}
