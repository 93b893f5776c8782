import type { StepRequest } from './scenario.ts';
import { fill, fillPath, fillText, type Variables } from './variables.ts';
import type { WireRequest } from './wire.ts';

/** A step's request with all variables in their places, and where it goes. */
export interface Outgoing extends WireRequest {
  origin: string;
  /** Path and query, to the letter. */
  target: string;
}

/** Makes the request of a step against a SCIM base URL; a path that begins with a URL is a place of its own. */
export function outgoing(url: string, request: StepRequest, variables: Variables): Outgoing {
  const path = fillPath(request.path, variables);
  const isElsewhere = /^https?:\/\//.test(path);
  const { origin, pathname, search } = new URL(isElsewhere ? path : url);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, fillText(value, variables)]);
  return {
    method: request.method,
    origin,
    target: isElsewhere ? pathname + search : pathname.replace(/\/+$/, '') + path,
    headers: Object.fromEntries(headers),
    body: bodyOf(request, variables),
  };
}

function bodyOf({ body, rawBody, bodyGenerator }: StepRequest, variables: Variables): string | undefined {
  if (rawBody !== undefined) return fillText(rawBody, variables);
  if (bodyGenerator) return JSON.stringify(padded(fill(bodyGenerator.template, variables), bodyGenerator));
  return body === null ? undefined : JSON.stringify(fill(body, variables));
}

/** The template with one attribute, by its dotted name, filled up to so many bytes. */
function padded(value: unknown, { attribute, bytes }: { attribute: string; bytes: number }): unknown {
  const [name = '', ...rest] = attribute.split('.');
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const current = members.find(([key]) => key === name)?.[1];
  const start = typeof current === 'string' ? current : '';
  const filled =
    rest.length > 0
      ? padded(current, { attribute: rest.join('.'), bytes })
      : start + 'x'.repeat(Math.max(0, bytes - Buffer.byteLength(start)));
  return { ...Object.fromEntries(members), [name]: filled };
}
