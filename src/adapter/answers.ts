import type { InvalidField, TravelAnswer, TravelFailure } from '../provisioning/travel-ports.ts';

/** What came back over the wire, before anybody judged it. */
export interface Reply {
  status: number;
  body: string;
  retryAfter: string | undefined;
  /** When the answer was made, by the clock of the travel API; undefined: it does not say. */
  date: string | undefined;
  /** The media types of the `Accept-Patch` header (RFC 5789 §3.1). */
  acceptPatch: string | undefined;
}

/** The two members of a successful answer (specification, "Envelope"). */
export interface Body {
  data: unknown;
  meta: unknown;
}

/** Longer messages are cut: they end up in findings. */
const MESSAGE_LENGTH = 300;
/** A Retry-After of more seconds is as good as for ever. */
const MOST_SECONDS = 1_000_000_000;

/**
 * The one table from an HTTP answer to what it means. `call` names the request for the log, by method, path and ids
 * alone; `sent` is the data of the request.
 *
 * A 422 is `invalid` even when it names no field: the values are refused, and would be refused again. A 400 is `invalid`
 * only when it names fields. Every other status without a meaning of its own is `unavailable`: it is logged, and tried
 * again later.
 */
export function answerOf(call: string, reply: Reply, now: number, sent?: object): TravelAnswer<Body> {
  const { status } = reply;
  if (status === 401) return { kind: 'unauthorized' };
  const body = parse(reply.body);
  if (status === 200 || status === 201) return bodyOf(body) ?? unreadable(call);
  // 404 and 403 change what becomes of a person. A page of a gateway in between is not the travel API's word on that.
  if (body === undefined && reply.body.trim() !== '') return unavailable(call, reply, now);
  if (status === 422) return { kind: 'invalid', fields: invalidFields(body) };
  if (status === 400) {
    const fields = refusedBy400(invalidFields(body), sent);
    return fields.length > 0 ? { kind: 'invalid', fields } : rejected(call, status);
  }
  if (status === 413 || status === 415) return rejected(call, status);
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
  const reason = text(record(error)?.code) ?? 'no answer';
  return { kind: 'unavailable', text: `${call}: ${reason}`, isUnanswered: true };
}

/** What it means that a call's time was over before it was sent or answered. */
export function overdue(call: string, timeoutMs: number, isSent: boolean): TravelFailure {
  const failure = { kind: 'unavailable', text: `${call}: no answer within ${timeoutMs} ms` } as const;
  return isSent ? { ...failure, isUnanswered: true } : failure;
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

/**
 * The named fields, without `archived`: a 400 is about the form of a request, and a person whom the identity provider
 * ends must not keep access because of it. Where `archived` was sent, a field that was not sent does not count either: a
 * refusal that fits no field is taken for one of all fields.
 */
function refusedBy400(fields: InvalidField[], sent: object = {}): InvalidField[] {
  const isArchiving = Object.hasOwn(sent, 'archived');
  return fields.filter(({ field }) => {
    const [name = ''] = field.split(/[.[]/);
    return name !== 'archived' && (!isArchiving || Object.hasOwn(sent, name));
  });
}

function rejected(call: string, status: number): TravelFailure {
  return { kind: 'unavailable', text: `${call}: ${status}`, isRejected: true };
}

function unavailable(call: string, reply: Reply, now: number): TravelFailure {
  const { status } = reply;
  const retryAfterMs = waitOf(reply, now);
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

/** RFC 9110 §10.2.3: seconds, or an HTTP date, which counts from the answer's own Date where there is one. */
function waitOf({ retryAfter, date }: Reply, now: number): number | undefined {
  const value = retryAfter?.trim() ?? '';
  if (/^\d+$/.test(value)) return Math.min(Number(value), MOST_SECONDS) * 1_000;
  const until = httpDate(value);
  return until === undefined ? undefined : Math.max(0, until - (httpDate(date?.trim() ?? '') ?? now));
}

/** RFC 9110 §5.6.7: the preferred form and the two obsolete ones, of which asctime names no zone; all are in GMT. */
function httpDate(value: string): number | undefined {
  const isAsctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(value);
  const date = Date.parse(isAsctime ? `${value} GMT` : value.endsWith('GMT') ? value : '');
  return Number.isNaN(date) ? undefined : date;
}

/** A JSON object, or undefined. */
export function record(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}

/** The items of an array; nothing for anything else. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string, or undefined. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The strings among the named members: what is missing or of another type is passed over. */
export function texts<Name extends string>(
  source: Record<string, unknown>,
  names: readonly Name[],
): { [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = text(source[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** What a reader makes of each item, without those it cannot read. */
export function readable<T>(items: unknown, read: (item: unknown) => T | undefined): T[] {
  return list(items).flatMap((item) => {
    const value = read(item);
    return value === undefined ? [] : [value];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
