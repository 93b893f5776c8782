import { readAt } from './json-path.ts';
import { matches } from './matchers.ts';
import type { Expectation } from './scenario.ts';
import { fill, fillText, type Variables } from './variables.ts';
import type { WireReply } from './wire.ts';

/** One thing that was not as expected. */
export interface Mismatch {
  /** `status`, a header's name, a path in the body, or what else went wrong. */
  at: string;
  expected: unknown;
  actual: unknown;
}

/** Everything in which an answer differs from what the step needs back. */
export function judge(reply: WireReply, expect: Expectation, variables: Variables): Mismatch[] {
  const { status } = reply;
  if (!expect.status.includes(status)) {
    return [{ at: 'status', expected: expect.status, actual: told(reply) }];
  }
  return [
    ...judgeHeaders(reply, expect, variables),
    ...judgeBody(
      bodyOf(reply),
      { ...bodyMatchersOf(status, expect), ...expect.bodyMatchesByStatus[status] },
      variables,
    ),
  ];
}

/** The body as JSON; undefined when there is none or it is none. */
export function bodyOf({ body }: WireReply): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The body's matchers hold for answers of the preferred kind, success or error, and that have a body. */
function bodyMatchersOf(status: number, expect: Expectation): Record<string, unknown> {
  return status === 204 || !isPreferred(status, expect) ? {} : expect.bodyMatches;
}

function isPreferred(status: number, { status: [preferred = 0] }: Expectation): boolean {
  return status >= 400 === preferred >= 400;
}

function judgeHeaders(reply: WireReply, expect: Expectation, variables: Variables): Mismatch[] {
  return Object.entries(expect.headers).flatMap(([name, matcher]) => {
    const isMediaType = name.toLowerCase() === 'content-type';
    // An answer without content has no type; what else is asked for is asked of the preferred kind of answer.
    const isAsked = isMediaType ? reply.status !== 204 : isPreferred(reply.status, expect);
    const expected = fill(matcher, variables);
    const actual = reply.headers[name.toLowerCase()];
    const compared = isMediaType && typeof expected === 'string' ? actual?.split(';')[0]?.trim() : actual;
    return !isAsked || matches(compared, expected) ? [] : [{ at: `header ${name}`, expected, actual }];
  });
}

function judgeBody(body: unknown, expected: Record<string, unknown>, variables: Variables): Mismatch[] {
  return Object.entries(expected).flatMap(([template, matcher]) => {
    const path = fillText(template, variables);
    const wanted = fill(matcher, variables);
    const actual = readAt(body, path);
    return matches(actual, wanted) ? [] : [{ at: path, expected: wanted, actual }];
  });
}

/** A status with what was said about it, as the reason is mostly in there. */
function told({ status, body }: WireReply): unknown {
  return body === '' ? status : `${status} ${body.slice(0, 400)}`;
}
