import { randomBytes, randomUUID } from 'node:crypto';

/**
 * Returns a UUID of version 7 (RFC 9562 §5.7), which begins with the time. Ids that are made one after the other are neighbors
 * in the indexes of the database; random ones would each change another page of each index.
 */
export function timeOrderedId(now = Date.now()): string {
  const time = toHexadecimal(now);
  // The variant and the random bits are those of a random UUID.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/**
 * Returns an id for a resource of the embedded travel service, which begins with the time: 24 hexadecimal characters for form A, a
 * UUID for form B (travel API specification, "Conventions common to all resources").
 */
export function travelResourceId(form: 'A' | 'B', now = Date.now()): string {
  return form === 'B' ? timeOrderedId(now) : toHexadecimal(now) + randomBytes(6).toString('hex');
}

/** The milliseconds as 12 hexadecimal characters. */
function toHexadecimal(time: number): string {
  return time.toString(16).padStart(12, '0');
}
