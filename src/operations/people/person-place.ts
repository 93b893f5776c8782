import type { PersonPlace } from '../../model/people.ts';
import { invalidField } from '../errors.ts';

/** The place after which a page begins: in a connection, or at its beginning. */
export interface Place {
  connection: string;
  after: PersonPlace | undefined;
}

/** Returns the beginning of a connection. */
export function placeAt(connection: string | undefined): Place | undefined {
  return connection === undefined ? undefined : { connection, after: undefined };
}

/** Returns a place as the text that a client sends with the next request. */
export function placeText({ connection, after }: Place): string {
  const parts = [connection, ...(after ? [after.key, after.id] : [])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Parses the text of a place in one of these connections. Throws 422 for any other text. */
export function parsePlace(text: string, connections: string[]): Place {
  const [connection, key, id] = parseTexts(Buffer.from(text, 'base64url').toString());
  if (connection === undefined || !connections.includes(connection))
    throw invalidField('after', 'is not the end of a page of this list');
  return { connection, after: key === undefined || id === undefined ? undefined : { key, id } };
}

/** Parses a JSON array of strings; returns an empty one for any other text. */
function parseTexts(text: string): string[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) && parsed.every((one) => typeof one === 'string') ? parsed : [];
  } catch {
    return [];
  }
}
