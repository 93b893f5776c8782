/** JSON text: a whole one, or pieces that are made while the client takes them. */
export type JsonText = string | AsyncIterable<string>;

/** JSON text that is too long to be held in memory. */
export interface LongText {
  pieces: AsyncGenerator<string>;
  /** Frees what is held in memory for the pieces that are still to come. */
  release(): void;
}

/** The longest text that is sent at once, with its length, in characters. */
export const LONGEST_WHOLE = 262_144;

/**
 * Makes the beginning of a text, so that a fault found in it can still be answered as an error; a text that is not long
 * is then whole.
 */
export async function begin(json: JsonText): Promise<string | LongText> {
  if (typeof json === 'string') return json;
  const rest = json[Symbol.asyncIterator]();
  let text = '';
  while (text.length <= LONGEST_WHOLE) {
    const next = await rest.next();
    if (next.done) return text;
    text += next.value;
  }
  return { pieces: following(text, { [Symbol.asyncIterator]: () => rest }), release: () => {} };
}

/** A text and what follows it. */
export async function* following(text: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield text;
  yield* rest;
}
