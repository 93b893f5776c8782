import type { InvalidField, TravelAnswer, TravelFailure } from '../../model/travel-ports.ts';
import type { TravelerChange } from '../../model/traveler.ts';
import { parseJson } from '../../schema/json-depth.ts';
import { asObject, asString, type JsonRecord } from '../json.ts';
import type { ErrorForm } from '../profile.ts';

/** The parts of an HTTP response that are needed to interpret it. */
export interface HttpResponse {
  status: number;
  body: string;
  retryAfter: string | undefined;
  /** The `Date` header: when the travel API made the response, by its own clock. */
  date: string | undefined;
  /** The media types of the `Accept-Patch` header (RFC 5789 §3.1). */
  acceptPatch: string | undefined;
  /** The version of the resource (RFC 9110 §8.8.3). */
  etag: string | undefined;
}

/** The most fields of a refusal that are read: with what is stored about them, one person must not fill a page of the list of people. */
const MAX_INVALID_FIELDS = 20;
/** Maximum length of the name and of the code of a field, in characters; longer ones are cut. */
const MAX_NAME_LENGTH = 100;
/** Maximum length of the messages about all fields together, in characters; what is beyond is cut. */
const MAX_MESSAGE_LENGTH = 300;
/** The maximum Retry-After in seconds, some 30 years; longer ones are cut. */
const MAX_RETRY_AFTER = 1_000_000_000;

/** The facts about a request that the meaning of its response depends on. */
interface AnsweredRequest {
  /** How the travel API says what it refuses. */
  errors: ErrorForm;
  /** The change of a traveler that the request says. */
  change?: TravelerChange | undefined;
  /** True if a 403 or 404 counts only if it is the travel API's own. */
  needsOwnError?: boolean | undefined;
}

/**
 * Converts an HTTP response to its meaning for provisioning: the JSON object in its body, which is undefined for a 204, or a
 * failure. `call` is the method and path for the log, without personal data.
 *
 * A 422 is `invalid` even if it names no field, because the same values would be refused again. A 400 is `invalid` only if
 * it names fields. Any status without a meaning of its own is `unavailable`: it is logged, and the call is repeated later.
 */
export function toTravelAnswer(
  call: string,
  response: HttpResponse,
  now: number,
  { errors, change, needsOwnError = false }: AnsweredRequest,
): TravelAnswer<JsonRecord | undefined> {
  const { status } = response;
  if (status === 401) return { kind: 'unauthorized' };
  if (status === 204) return { kind: 'ok', value: undefined };
  const body = asObject(parseJson(response.body));
  if (status === 200 || status === 201) return body ? { kind: 'ok', value: body } : toUnreadableFailure(call);
  if (needsOwnError && (status === 403 || status === 404) && !errors.isOwn(status, body))
    return toBareFailure(call, status);
  // A 403 or 404 of the travel API changes the state of a user. An error page of a gateway is not JSON and must not
  // have this effect.
  if (body === undefined && response.body.trim() !== '') return toUnavailable(call, response, now);
  if (status === 422) return { kind: 'invalid', fields: readInvalidFields(errors, body) };
  if (status === 400) {
    const fields = fieldsRefusedBy400(readInvalidFields(errors, body), change);
    return fields.length > 0 ? { kind: 'invalid', fields } : toRejected(call, status);
  }
  if (status === 412 || status === 413 || status === 415) return toRejected(call, status);
  if (status === 403) return { kind: 'forbidden' };
  if (status === 404) return { kind: 'notFound' };
  if (status === 409) return { kind: 'conflict' };
  return toUnavailable(call, response, now);
}

/** Returns the failure for a response that is not JSON, or not the expected JSON. */
export function toUnreadableFailure(call: string): TravelFailure {
  return { kind: 'unavailable', text: `${call}: the answer cannot be read` };
}

/**
 * Returns the failure for a call without a response. Its text has only the error code, because other properties of the
 * error contain the credential.
 */
export function toNetworkFailure(call: string, error: unknown): TravelFailure {
  const reason = asString(asObject(error)?.code) ?? 'no answer';
  return { kind: 'unavailable', text: `${call}: ${reason}`, isUnanswered: true };
}

/** Returns the failure for a call that timed out. A call that was never sent cannot have had an effect. */
export function toTimeoutFailure(call: string, timeoutMs: number, isSent: boolean): TravelFailure {
  const failure = { kind: 'unavailable', text: `${call}: no answer within ${timeoutMs} ms` } as const;
  return isSent ? { ...failure, isUnanswered: true } : failure;
}

/** Converts a 404 for a whole collection to `unavailable`: the configured path is wrong, and no user is missing. */
export function toCollectionAnswer<T>(call: string, answer: TravelAnswer<T>): TravelAnswer<T> {
  const isBareNotFound = answer.kind === 'unavailable' && answer.bareStatus === 404;
  if (answer.kind !== 'notFound' && !isBareNotFound) return answer;
  return { kind: 'unavailable', text: `${call}: 404, check the travel API's address and paths` };
}

function readInvalidFields(
  { readInvalidFields: read }: ErrorForm,
  body: JsonRecord | undefined,
): InvalidField[] {
  const named = body ? read(body).slice(0, MAX_INVALID_FIELDS) : [];
  let left = MAX_MESSAGE_LENGTH;
  return named.map(({ field, code, message }) => {
    const kept = message.slice(0, left);
    left -= kept.length;
    return { field: field.slice(0, MAX_NAME_LENGTH), code: code.slice(0, MAX_NAME_LENGTH), message: kept };
  });
}

/**
 * The fields that a 400 names, except `archived`: a deactivated person must not keep access because of a malformed request.
 * If `archived` was sent, fields that were not sent are left out as well, because provisioning takes a refusal that matches
 * no sent field as a refusal of all fields.
 */
function fieldsRefusedBy400(fields: InvalidField[], change: TravelerChange = {}): InvalidField[] {
  const isArchiving = Object.hasOwn(change, 'archived');
  return fields.filter(({ field }) => {
    const [name = ''] = field.split(/[.[]/);
    return name !== 'archived' && (!isArchiving || Object.hasOwn(change, name));
  });
}

/** If something in between has sent a conditional PUT twice (412), the first one may have changed the traveler. */
function toRejected(call: string, status: number): TravelFailure {
  const failure = { kind: 'unavailable', text: `${call}: ${status}`, isRejected: true } as const;
  return status === 412 ? { ...failure, isDoubtful: true } : failure;
}

/**
 * After a 404 the outcome is unknown, so that the traveler is read before anything is sent again. A 403 refuses the request,
 * so that a part of it may pass.
 */
function toBareFailure(call: string, status: 403 | 404): TravelFailure {
  const failure = {
    kind: 'unavailable',
    text: `${call}: ${status} without an error code`,
    bareStatus: status,
  } as const;
  return status === 403 ? { ...failure, isRejected: true } : failure;
}

function toUnavailable(call: string, response: HttpResponse, now: number): TravelFailure {
  const { status } = response;
  const retryAfterMs = retryDelay(response, now);
  const isThrottled = status === 429 || (status === 503 && retryAfterMs !== undefined);
  return {
    kind: 'unavailable',
    text: `${call}: ${status}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isThrottled ? { isThrottled: true as const } : {}),
    ...(isThrottled && status !== 429 ? { isDoubtful: true as const } : {}),
    ...(status === 501 ? { isUnsupported: true as const } : {}),
  };
}

/** Retry-After in milliseconds (RFC 9110 §10.2.3). An HTTP date is relative to the response's own Date if it has one. */
function retryDelay({ retryAfter, date }: HttpResponse, now: number): number | undefined {
  const value = retryAfter?.trim() ?? '';
  if (/^\d+$/.test(value)) return Math.min(Number(value), MAX_RETRY_AFTER) * 1_000;
  const until = parseHttpDate(value);
  return until === undefined ? undefined : Math.max(0, until - (parseHttpDate(date?.trim() ?? '') ?? now));
}

/** Parses the three formats of RFC 9110 §5.6.7. All are in GMT; the asctime format does not say so. */
function parseHttpDate(value: string): number | undefined {
  const isAsctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(value);
  const date = Date.parse(isAsctime ? `${value} GMT` : value.endsWith('GMT') ? value : '');
  return Number.isNaN(date) ? undefined : date;
}
