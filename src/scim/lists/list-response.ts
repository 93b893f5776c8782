import { Buffer } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import type { JsonText } from '../protocol/responses.ts';

/** A page of a list of resources. */
export interface Page {
  /** The number of all resources that match. */
  total: number;
  /** Only set on a page by index; a page by cursor has no start index (RFC 9865 §2). */
  startIndex?: number | undefined;
  /** The cursor of the next page; undefined on the last page and on a page by index. */
  nextCursor?: string | undefined;
  resources: PageResource[];
}

/** A resource on a page. It is serialized only when it is about to be sent, to save memory. */
export interface PageResource {
  /** Returns undefined if the resource has been deleted meanwhile; the page then omits it. */
  json(): JsonText | Promise<JsonText | undefined>;
  /** Returns the cursor of a page that begins after this resource; undefined if the page must not end here. */
  cursor: (() => string) | undefined;
}

/** A response up to this length, in characters, is sent at once and has a Content-Length. */
const MAX_BUFFERED = 262_144;

/** Size of a page by cursor, in bytes: the page ends after the resource that exceeds it. */
const MAX_PAGE_BYTES = 4_194_304;

/** After this time, in milliseconds, a long response yields to other requests before the next resource. */
const PAUSE_MS = 5;

/** The members of a ListResponse whose values are known only after the last resource was serialized. */
interface Progress {
  itemsPerPage: number;
  nextCursor: string | undefined;
}

/**
 * Serializes a ListResponse. `itemsPerPage` is the number of resources on this page (RFC 7644 §3.4.2); `nextCursor` is
 * missing on the last page (RFC 9865 §2). A long response is streamed, and has both behind the resources. A page by cursor
 * may have fewer resources than `count` ("the service provider MAY return fewer", §2). `now` is a monotonic clock in
 * milliseconds.
 */
export async function listResponse(page: Page, now: () => number): Promise<JsonText> {
  const progress: Progress = { itemsPerPage: 0, nextCursor: page.nextCursor };
  const pieces = serializeResources(page, progress, now);
  let text = '';
  while (text.length <= MAX_BUFFERED) {
    const next = await pieces.next();
    if (next.done) return `${serializeHead(page, progress)},"Resources":[${text}]}`;
    text += next.value;
  }
  return streamList(page, progress, prepend(text, pieces));
}

/** The URN of a ListResponse (RFC 7644 §3.4.2). */
export const listResponseUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Serializes the members of a ListResponse except its resources, without the closing brace. */
function serializeHead({ total, startIndex }: Page, progress?: Progress): string {
  const body = { schemas: [listResponseUrn], totalResults: total, startIndex, ...progress };
  return JSON.stringify(body).slice(0, -1);
}

/** Yields the resources with commas between them, in pieces, and counts them in `progress`. */
async function* serializeResources(
  { resources }: Page,
  progress: Progress,
  now: () => number,
): AsyncGenerator<string> {
  let bytes = 0;
  let pausedAt = now();
  for (const [index, { json, cursor }] of resources.entries()) {
    if (now() - pausedAt >= PAUSE_MS) {
      await setImmediate();
      pausedAt = now();
    }
    const text = await json();
    if (text === undefined) continue;
    let separator = progress.itemsPerPage > 0 ? ',' : '';
    progress.itemsPerPage += 1;
    for await (const piece of typeof text === 'string' ? [text] : text) {
      if (cursor) bytes += Buffer.byteLength(piece);
      yield separator + piece;
      separator = '';
    }
    if (!cursor || bytes < MAX_PAGE_BYTES || index === resources.length - 1) continue;
    progress.nextCursor = cursor();
    return;
  }
}

/** `progress` is read after the last resource, when it is complete. */
async function* streamList(
  page: Page,
  progress: Progress,
  resources: AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${serializeHead(page)},"Resources":[`;
  yield* resources;
  yield `],${JSON.stringify(progress).slice(1)}`;
}

/**
 * Reads the beginning of a text before the response starts, so that an error in it still becomes an error response. Returns
 * the whole text if it is short.
 */
export async function bufferStart(json: JsonText): Promise<JsonText> {
  if (typeof json === 'string') return json;
  const rest = json[Symbol.asyncIterator]();
  let text = '';
  while (text.length <= MAX_BUFFERED) {
    const next = await rest.next();
    if (next.done) return text;
    text += next.value;
  }
  return prepend(text, { [Symbol.asyncIterator]: () => rest });
}

async function* prepend(text: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield text;
  yield* rest;
}
