import { Agent, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { parseJson } from '../schema/json-depth.ts';
import { matches, readPath } from './matchers.ts';
import type { Expectation, Scenario, Step, StepRequest } from './scenario.ts';

/** A played step with its mismatches. */
export interface StepResult {
  step: Step;
  /** The index of the step, beginning with 0. */
  index: number;
  method: string;
  /** The path and query as they were sent. */
  target: string;
  mismatches: Mismatch[];
  /** True if the step expects something of the traveler that could not be checked, as the travel API is not known. */
  isUnchecked: boolean;
}

/** The client, the service and the clock that a scenario is played with. */
export interface PlayDeps {
  /** The SCIM base URL. */
  url: string;
  client: RawClient;
  /** A clock in milliseconds, to measure rates with. */
  now(): number;
  /** Compares the traveler of a step with what the step expects; undefined if the travel API is not known. */
  checkTraveler?: ((step: Step, variables: Variables) => Promise<Mismatch[]>) | undefined;
  afterStep?:
    | ((scenario: Scenario, step: Step, index: number, variables: Variables) => Promise<void>)
    | undefined;
}

/**
 * Plays all steps of a scenario. A mismatch does not end it: later steps show more differences, and the last ones often clean up.
 * Stores captured values in `variables`.
 */
export async function playSteps(
  scenario: Scenario,
  variables: Variables,
  deps: PlayDeps,
): Promise<StepResult[]> {
  const played: StepResult[] = [];
  for (const [index, step] of scenario.steps.entries()) {
    const request = buildRequest(deps.url, step.request, variables);
    const { replies, mismatches } = await sendRepeatedly(step, request, deps);
    const differing = replies.flatMap((reply) => findMismatches(reply, step.expect, variables));
    const reply = replies.find(({ status }) => status === step.expect.status[0]) ?? replies.at(-1);
    saveCaptures(step, reply, variables);
    const { method, target } = request;
    const ofTraveler = (await deps.checkTraveler?.(step, variables)) ?? [];
    const isUnchecked = step.travel !== undefined && !deps.checkTraveler;
    const all = [...mismatches, ...differing, ...ofTraveler];
    played.push({ step, index, method, target, mismatches: all, isUnchecked });
    await deps.afterStep?.(scenario, step, index, variables);
  }
  return played;
}

interface Exchanges {
  replies: RawReply[];
  mismatches: Mismatch[];
}

async function sendRepeatedly(step: Step, request: BuiltRequest, deps: PlayDeps): Promise<Exchanges> {
  const { count = 1, concurrency = 1, minPerSecond, exactlyOne } = step.request.repeat ?? {};
  const startedAt = deps.now();
  const exchanges: Exchanges = { replies: [], mismatches: [] };
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await sendOnce(request, deps.client, exchanges);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, concurrency) }, worker));
  const perSecond = Math.floor((count * 1_000) / Math.max(1, deps.now() - startedAt));
  if (minPerSecond !== undefined && perSecond < minPerSecond)
    exchanges.mismatches.push({
      at: 'requests a second',
      expected: { $gte: minPerSecond },
      actual: perSecond,
    });
  const statuses = exchanges.replies.map(({ status }) => status);
  if (exactlyOne !== undefined && statuses.filter((status) => status === exactlyOne).length !== 1)
    exchanges.mismatches.push({ at: 'statuses', expected: `exactly one ${exactlyOne}`, actual: statuses });
  return exchanges;
}

async function sendOnce(
  request: BuiltRequest,
  client: RawClient,
  { replies, mismatches }: Exchanges,
): Promise<void> {
  try {
    replies.push(await client.send(request.origin, request.target, request));
  } catch (error) {
    mismatches.push({ at: 'connection', expected: 'an answer', actual: String(error) });
  }
}

/** Stores captured values in `variables`; a capture without a value removes its variable. */
function saveCaptures({ capture: captures }: Step, reply: RawReply | undefined, variables: Variables): void {
  const body = reply && parseJson(reply.body);
  for (const [name, path] of Object.entries(captures)) {
    const value = readPath(body, substituteText(path, variables));
    if (value === undefined || value === null) delete variables[name];
    else variables[name] = value;
  }
}

/** A request with its variables substituted, and its destination. */
export interface BuiltRequest extends RawRequest {
  origin: string;
  /** The path and query, exactly as they are sent. */
  target: string;
}

/** Builds the request of a step for a SCIM base URL. A path that is an absolute URL replaces the base URL. */
export function buildRequest(url: string, request: StepRequest, variables: Variables): BuiltRequest {
  const path = substitutePath(request.path, variables);
  const isElsewhere = /^https?:\/\//.test(path);
  const { origin, pathname, search } = new URL(isElsewhere ? path : url);
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    substituteText(value, variables),
  ]);
  return {
    method: request.method,
    origin,
    target: isElsewhere ? pathname + search : pathname.replace(/\/+$/, '') + path,
    headers: Object.fromEntries(headers),
    body: requestBody(request, variables),
  };
}

function requestBody(
  { body, rawBody, bodyGenerator }: StepRequest,
  variables: Variables,
): string | undefined {
  if (rawBody !== undefined) return substituteText(rawBody, variables);
  if (bodyGenerator)
    return JSON.stringify(padAttribute(substitute(bodyGenerator.template, variables), bodyGenerator));
  return body === null ? undefined : JSON.stringify(substitute(body, variables));
}

/** Returns the template with one attribute (a dotted name) padded so that the whole has the given number of bytes. */
function padAttribute(value: unknown, { attribute, bytes }: { attribute: string; bytes: number }): unknown {
  const [name = '', ...rest] = attribute.split('.');
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const current = members.find(([key]) => key === name)?.[1];
  const start = typeof current === 'string' ? current : '';
  const filled =
    rest.length > 0
      ? padAttribute(current, { attribute: rest.join('.'), bytes })
      : start + 'x'.repeat(Math.max(0, bytes - Buffer.byteLength(start)));
  return { ...Object.fromEntries(members), [name]: filled };
}

/** A difference between an answer and its expectation. */
export interface Mismatch {
  /** The part of the answer that differs: `status`, the name of a header, or a path in the body. */
  at: string;
  expected: unknown;
  actual: unknown;
}

/** Returns every difference between an answer and the expectation of the step. */
export function findMismatches(reply: RawReply, expect: Expectation, variables: Variables): Mismatch[] {
  const { status } = reply;
  if (!expect.status.includes(status)) {
    return [{ at: 'status', expected: expect.status.join(' or '), actual: statusWithReason(reply) }];
  }
  return [
    ...headerMismatches(reply, expect, variables),
    ...bodyMismatches(
      parseJson(reply.body),
      { ...bodyMatchersOf(status, expect), ...expect.bodyMatchesByStatus[status] },
      variables,
    ),
  ];
}

/**
 * Returns the matchers of the body. They apply only to an answer with a body that succeeds or fails as the preferred
 * status does.
 */
function bodyMatchersOf(status: number, expect: Expectation): Record<string, unknown> {
  return status === 204 || !isPreferred(status, expect) ? {} : expect.bodyMatches;
}

function isPreferred(status: number, { status: [preferred = 0] }: Expectation): boolean {
  return status >= 400 === preferred >= 400;
}

function headerMismatches(reply: RawReply, expect: Expectation, variables: Variables): Mismatch[] {
  return Object.entries(expect.headers).flatMap(([name, matcher]) => {
    const isMediaType = name.toLowerCase() === 'content-type';
    // A 204 has no Content-Type. All other headers are checked only if the answer succeeds or fails as the preferred
    // status does.
    const isExpected = isMediaType ? reply.status !== 204 : isPreferred(reply.status, expect);
    const expected = substitute(matcher, variables);
    const actual = reply.headers[name.toLowerCase()];
    const compared = isMediaType && typeof expected === 'string' ? actual?.split(';')[0]?.trim() : actual;
    return !isExpected || matches(compared, expected) ? [] : [{ at: `header ${name}`, expected, actual }];
  });
}

function bodyMismatches(body: unknown, expected: Record<string, unknown>, variables: Variables): Mismatch[] {
  return Object.entries(expected).flatMap(([template, matcher]) => {
    const path = substituteText(template, variables);
    const wanted = substitute(matcher, variables);
    const actual = readPath(body, path);
    return matches(actual, wanted) ? [] : [{ at: path, expected: wanted, actual }];
  });
}

/** The longest body that is shown, in characters. */
const SHOWN_BODY = 400;

/** Returns the status and its reason: what a SCIM error says (RFC 7644 §3.12), or the beginning of another body. */
function statusWithReason(reply: RawReply): string {
  const { status, body } = reply;
  const answer = parseJson(body);
  const scimType = readPath(answer, 'scimType');
  const detail = readPath(answer, 'detail');
  if (typeof detail !== 'string')
    return body === '' ? `${status}` : `${status}: ${body.slice(0, SHOWN_BODY)}`;
  return `${status}${typeof scimType === 'string' ? ` ${scimType}` : ''}: ${detail}`;
}

/** The values of `{{name}}`: given by the runner, or captured from an answer with their JSON type. */
export type Variables = Record<string, unknown>;

const placeholder = /\{\{(\w+)\}\}/g;
/** The variable that contains an absolute URL. In a path, its value is not percent-encoded. */
const urlVariable = 'tokenEndpoint';

/** Substitutes variables in a text. If the capture of a variable failed, its value becomes `missing-<name>`. */
export function substituteText(text: string, variables: Variables): string {
  return text.replace(placeholder, (_, name: string) => String(variableValue(name, variables)));
}

/** Substitutes variables in a path and percent-encodes their values. The rest of the path is encoded already. */
export function substitutePath(path: string, variables: Variables): string {
  return path.replace(placeholder, (_, name: string) => {
    const value = String(variableValue(name, variables));
    return name === urlVariable ? value : encodeURIComponent(value);
  });
}

/** Substitutes variables in all strings and member names of a JSON value. A string of one variable alone becomes its value, type included. */
export function substitute(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') {
    const alone = /^\{\{(\w+)\}\}$/.exec(value)?.[1];
    return alone === undefined ? substituteText(value, variables) : variableValue(alone, variables);
  }
  if (Array.isArray(value)) return value.map((item) => substitute(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  // Object.fromEntries creates `__proto__` as an ordinary member, which recordings contain.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      substituteText(name, variables),
      substitute(member, variables),
    ]),
  );
}

/** Returns the names of all variables in a JSON value. */
export function variableNames(value: unknown): Set<string> {
  return new Set([...JSON.stringify(value).matchAll(placeholder)].flatMap(([, name]) => name ?? []));
}

function variableValue(name: string, variables: Variables): unknown {
  return Object.hasOwn(variables, name) ? variables[name] : `missing-${name}`;
}

const TIMEOUT_MS = 30_000;

/** A request as it is sent, byte for byte. */
export interface RawRequest {
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** An answer; its header names are in lower case. */
export interface RawReply {
  status: number;
  headers: Record<string, string | undefined>;
  body: string;
}

/** An HTTP client that sends requests unchanged, over kept-alive connections. */
export interface RawClient {
  /** Sends `target`, the path and query, unchanged; other HTTP libraries would encode it again. */
  send(origin: string, target: string, request: RawRequest): Promise<RawReply>;
  close(): void;
}

/** Creates a client for http and https. */
export function rawClient(): RawClient {
  const plain = new Agent({ keepAlive: true });
  const secure = new SecureAgent({ keepAlive: true });
  return {
    send: (origin, target, { method, headers, body }) =>
      new Promise((resolve, reject) => {
        const isSecure = origin.startsWith('https:');
        const [open, agent] = isSecure ? [requestHttps, secure] : [requestHttp, plain];
        const request = open(
          origin,
          { method, path: target, headers, agent, timeout: TIMEOUT_MS },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () => {
              const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
              const status = response.statusCode ?? 0;
              resolve({
                status,
                headers: Object.fromEntries(flat),
                body: decodeBody(chunks, response.headers),
              });
            });
          },
        );
        request.on('error', reject);
        request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
        request.end(body);
      }),
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function decodeBody(chunks: Buffer[], headers: { 'content-encoding'?: string | undefined }): string {
  const bytes = Buffer.concat(chunks);
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}
