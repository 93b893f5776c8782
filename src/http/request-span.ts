import type { Request } from 'express';
import type { Span, Tracing } from '../tracing/tracing.ts';
import type { RequestScope } from './log.ts';

/** The areas that monitoring asks all day, whose requests have no spans. */
const untracedAreas = ['healthz', 'readyz', 'metrics'];

/**
 * Begins the span of a request; undefined if the request has none. It becomes a child of the caller's span once the request is known to have a
 * valid credential: a stranger could otherwise decide what is sampled, and join traces of others.
 */
export function beginRequestSpan(
  tracing: Tracing | undefined,
  { headers }: Pick<Request, 'headers'>,
  { scope, area }: { scope: RequestScope; area: string },
): Span | undefined {
  if (!tracing || untracedAreas.includes(area)) return undefined;
  const span = tracing.startSpan({ name: area, kind: 'server', isRoot: true });
  scope.onCredential = () => span.joinCaller(headers);
  return span;
}

/** The facts of a request that its span shows. None of them contains personal data. */
interface EndedRequest {
  method: string;
  /** The pattern of the route. */
  route: string;
  status: number;
  /** The connection of the credential; undefined without a valid one. */
  connection: string | undefined;
}

/** Ends the span of a request. It is named by method and route, which is known at the end only. */
export function endRequestSpan(span: Span, { method, route, status, connection }: EndedRequest): void {
  span.end({
    name: `${method} ${route}`,
    attributes: {
      ...{ 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
      ...(connection !== undefined && { 'jetbridge.connection': connection }),
    },
    isFailed: status >= 500,
  });
}
