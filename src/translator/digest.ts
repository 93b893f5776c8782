/**
 * A short stable digest of a text (FNV-1a, two lanes of 32 bits): tells versions of rules apart, and keeps no secret.
 */
export function digest(text: string): string {
  return `${lane(text, 0x811c9dc5)}${lane(text, 0x9747b28c)}`;
}

function lane(text: string, seed: number): string {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
