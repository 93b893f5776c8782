import type { InvalidField, TravelAnswer, TravelFailure } from '../bridge/ports.ts';
import { list, record, text } from './fields.ts';

/** What came back over the wire, before anybody judged it. */
export interface Reply {
  status: number;
  body: string;
  retryAfter: string | undefined;
  /** The `Date` header in milliseconds. */
  date: number | undefined;
}

/** The two members of a successful answer (specification, "Envelope"). */
export interface Body {
  data: unknown;
  meta: unknown;
}

/** Longer messages are cut: they end up in findings. */
const MESSAGE_LENGTH = 300;

/**
 * The one table from an HTTP answer to what it means (DESIGN §6). `call` names the request for the log, by method, path
 * and ids alone.
 *
 * A request that the service calls bad (400, 413, 415, 422) is `invalid` even when no field is named: sent again it would
 * be refused again, so the reconciler must settle it with a finding and not try for ever. Every other status without a
 * meaning of its own is `unavailable`: it is logged, and tried again later.
 */
export function answerOf(call: string, reply: Reply, now: number): TravelAnswer<Body> {
  const { status } = reply;
  if (status === 401) return { kind: 'unauthorized' };
  const body = parse(reply.body);
  if (status === 200 || status === 201) return bodyOf(body) ?? unreadable(call);
  // 404 and 403 change what becomes of a person. A page of a gateway in between is not the travel API's word on that.
  if (body === undefined && reply.body.trim() !== '') return unavailable(call, reply, now);
  if (status === 400 || status === 413 || status === 415 || status === 422)
    return { kind: 'invalid', fields: invalidFields(body) };
  if (status === 403) return { kind: 'forbidden' };
  if (status === 404) return { kind: 'notFound' };
  if (status === 409) return { kind: 'conflict' };
  return unavailable(call, reply, now);
}

/** What an answer says that is well-formed JSON but not what was asked for, or no JSON at all. */
export function unreadable(call: string): TravelFailure {
  return { kind: 'unavailable', text: `${call}: the answer cannot be read` };
}

/** What it means that no answer came. Only the error's code is kept: its other properties hold the credential. */
export function failureOf(call: string, error: unknown): TravelFailure {
  return { kind: 'unavailable', text: `${call}: ${text(record(error)?.code) ?? 'no answer'}` };
}

/** What it means that a call's time was over before it was sent or answered. */
export function overdue(call: string, timeoutMs: number): TravelFailure {
  return { kind: 'unavailable', text: `${call}: no answer within ${timeoutMs} ms` };
}

/** A collection that is not found has a wrong path or address: that says nothing about anybody in it. */
export function ofCollection<T>(call: string, answer: TravelAnswer<T>): TravelAnswer<T> {
  if (answer.kind !== 'notFound') return answer;
  return { kind: 'unavailable', text: `${call}: 404, check the travel API's address and paths` };
}

function parse(body: string): Record<string, unknown> | undefined {
  try {
    return record(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function bodyOf(body: Record<string, unknown> | undefined): TravelAnswer<Body> | undefined {
  return body && Object.hasOwn(body, 'data')
    ? { kind: 'ok', value: { data: body.data, meta: body.meta } }
    : undefined;
}

function invalidFields(body: Record<string, unknown> | undefined): InvalidField[] {
  return list(body?.invalid).flatMap((item) => {
    const named = record(item);
    const field = text(named?.field);
    if (field === undefined) return [];
    const code = text(named?.code) ?? 'invalid';
    return [{ field, code, message: (text(named?.message) ?? code).slice(0, MESSAGE_LENGTH) }];
  });
}

function unavailable(call: string, { status, retryAfter }: Reply, now: number): TravelFailure {
  const retryAfterMs = waitOf(retryAfter, now);
  return {
    kind: 'unavailable',
    text: `${call}: ${status}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === 501 ? { isUnsupported: true as const } : {}),
  };
}

/** RFC 9110 §10.2.3: seconds, or an HTTP date. */
function waitOf(retryAfter: string | undefined, now: number): number | undefined {
  const value = retryAfter?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
