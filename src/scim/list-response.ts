import { Buffer } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import type { Page } from './endpoint.ts';
import type { JsonText, StreamedText } from './responses.ts';

/** A page by cursor ends behind the resource that makes it longer than this, in bytes. */
const LONGEST_PAGE = 4_194_304;

/** Other requests get a turn of the event loop between two resources when this much time has passed, in milliseconds. */
const PAUSE_MS = 5;

/** A clock in milliseconds that never goes back. */
type Now = () => number;

type Head = Pick<Page, 'total' | 'startIndex'>;

/** What is known of a page while it is written. */
interface Progress {
  itemsPerPage: number;
  nextCursor: string | undefined;
}

/**
 * A list as it is answered; `itemsPerPage` is what this page has (RFC 7644 §3.4.2), and `nextCursor` is there unless it is
 * the last page (RFC 9865 §2). Of a long page the resources are made while the client takes them, and both stand behind
 * them. A page by cursor may have fewer resources than were asked for ("the service provider MAY return fewer", §2).
 */
export async function listResponse(page: Page, now: Now): Promise<string | StreamedText> {
  const progress: Progress = { itemsPerPage: 0, nextCursor: page.nextCursor };
  const resources = piecesOf(page, progress, now);
  let text = '';
  while (text.length <= MAX_BUFFERED) {
    const next = await resources.next();
    if (next.done) return whole(page, progress, text);
    text += next.value;
  }
  return {
    pieces: streamed(page, progress, prepend(text, resources)),
    release: () => {
      for (const resource of page.resources) resource.release();
    },
  };
}

/** The same of resources that are at hand. */
export function bufferedListResponse(page: Head, resources: string[]): string {
  return whole(page, { itemsPerPage: resources.length, nextCursor: undefined }, resources.join(','));
}

function whole(page: Head, progress: Progress, resources: string): string {
  return `${opening(page, progress)},"Resources":[${resources}]}`;
}

async function* streamed(
  page: Page,
  progress: Progress,
  resources: AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${opening(page)},"Resources":[`;
  yield* resources;
  yield `],${JSON.stringify(progress).slice(1)}`;
}

async function* piecesOf({ resources }: Page, progress: Progress, now: Now): AsyncGenerator<string> {
  let bytes = 0;
  let pausedAt = now();
  for (const [index, { json, cursor }] of resources.entries()) {
    if (now() - pausedAt >= PAUSE_MS) {
      await setImmediate();
      pausedAt = now();
    }
    const made = json();
    const text = made instanceof Promise ? await made : made;
    if (text === undefined) continue;
    const comma = progress.itemsPerPage > 0 ? ',' : '';
    progress.itemsPerPage += 1;
    if (typeof text === 'string') {
      if (cursor) bytes += Buffer.byteLength(text);
      yield `${comma}${text}`;
    } else {
      if (comma) yield comma;
      for await (const piece of text) {
        if (cursor) bytes += Buffer.byteLength(piece);
        yield piece;
      }
    }
    if (!cursor || bytes < LONGEST_PAGE || index === resources.length - 1) continue;
    progress.nextCursor = cursor();
    return;
  }
}

/** A list up to its resources. */
function opening({ total, startIndex }: Head, progress?: Progress): string {
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:ListResponse'];
  return JSON.stringify({ schemas, totalResults: total, startIndex, ...progress }).slice(0, -1);
}

/** The longest text that is sent at once, with its length, in characters. */
export const MAX_BUFFERED = 262_144;

/**
 * Makes the beginning of a text, so that a fault found in it can still be answered as an error; a text that is not long
 * is then whole.
 */
export async function bufferStart(json: JsonText): Promise<string | StreamedText> {
  if (typeof json === 'string') return json;
  const rest = json[Symbol.asyncIterator]();
  let text = '';
  while (text.length <= MAX_BUFFERED) {
    const next = await rest.next();
    if (next.done) return text;
    text += next.value;
  }
  return { pieces: prepend(text, { [Symbol.asyncIterator]: () => rest }), release: () => {} };
}

/** A text and what follows it. */
export async function* prepend(text: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield text;
  yield* rest;
}
