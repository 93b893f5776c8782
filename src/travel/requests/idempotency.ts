import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { callerId } from '../authentication/authentication.ts';
import { ApiError, validationFailed } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { RepeatableRequest, TravelStore, TravelTransaction } from '../ports.ts';

/** The time for which a request with an `Idempotency-Key` gets the answer of the first one, in milliseconds. */
export const ANSWER_KEPT_MS = 24 * 60 * 60_000;

/** Keeps the data of an answer within the transaction that makes it true. */
export type KeepAnswer = (
  transaction: TravelTransaction,
  data: JsonObject,
  hasSecret?: boolean,
) => Promise<void>;

/** Carries out a POST, or repeats the answer of an earlier one with the same `Idempotency-Key`. Without a key there is nothing to keep. */
export type RunOnce = (
  request: Request,
  response: Response,
  work: (keep?: KeepAnswer) => Promise<JsonObject>,
) => Promise<JsonObject>;

/**
 * Makes POSTs safe to repeat (draft-ietf-httpapi-idempotency-key-header). An answer of success is kept in the transaction of the change.
 * A failure is not kept, because it had no effect: the request is carried out again. While the first request is under way, a second one is
 * 409; in another process it waits for the transaction of the first, and then gets its answer.
 */
export function idempotency({ store, now }: { store: TravelStore; now(): number }): RunOnce {
  const underWay = new Set<string>();
  return async (request, response, work) => {
    const key = keyOf(request);
    if (key === undefined) return work();
    const at = now();
    const once = { owner: callerId(response), key, request: hashOf(request), at, since: at - ANSWER_KEPT_MS };
    const name = JSON.stringify([once.owner, key]);
    if (underWay.has(name))
      throw new ApiError('conflict', 'A request with this Idempotency-Key is under way. Repeat it later.');
    underWay.add(name);
    try {
      return (await keptData(store, once, response)) ?? (await workOnce(store, once, response, work));
    } finally {
      underWay.delete(name);
    }
  };
}

class AnsweredMeanwhile extends Error {}

async function workOnce(
  store: TravelStore,
  once: RepeatableRequest,
  response: Response,
  work: Parameters<RunOnce>[2],
): Promise<JsonObject> {
  try {
    return await work(async (transaction, data, hasSecret = false) => {
      if (!(await transaction.keepAnswer(once, data, hasSecret))) throw new AnsweredMeanwhile();
    });
  } catch (error) {
    // The change clashes with that of a request in another process, which may have been this one.
    const isClash = error instanceof AnsweredMeanwhile || error instanceof ApiError;
    const data = isClash ? await keptData(store, once, response) : undefined;
    if (!data) throw error;
    return data;
  }
}

/** Returns the data of the first answer; undefined if there is none. Throws 422 if the key belongs to another request. */
async function keptData(
  store: TravelStore,
  once: RepeatableRequest,
  response: Response,
): Promise<JsonObject | undefined> {
  const kept = await store.findAnswer(once);
  if (!kept) return undefined;
  if (kept.request !== once.request) {
    const message = 'This key was used for a request with another path or body.';
    throw validationFailed([{ field: HEADER, value: once.key, code: 'reused', message }]);
  }
  if (!kept.data)
    throw new ApiError('conflict', 'The request was carried out, and its answer can no longer be decrypted.');
  response.set('Idempotent-Replayed', 'true');
  return kept.data;
}

const HEADER = 'Idempotency-Key';

/** Reads the key: a text in quotes, as in the draft (RFC 8941 §3.3.3), or as it stands. */
function keyOf(request: Request): string | undefined {
  const header = request.get(HEADER);
  if (header === undefined) return undefined;
  const [, quoted = header] = /^"([^"\\]*)"$/.exec(header) ?? [];
  if (!/^[!#-~]{1,255}$/.test(quoted))
    throw new ApiError(
      'badRequest',
      `The ${HEADER} must have 1 to 255 visible ASCII characters, without inner quotes.`,
    );
  return quoted;
}

function hashOf({ method, originalUrl, body }: Request): string {
  const text = JSON.stringify([method, originalUrl, sorted(body ?? null)]);
  return createHash('sha256').update(text).digest('base64url');
}

/** A copy whose members are sorted: their order means nothing. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]));
}
