import type { Request } from 'express';
import type { Span, Tracing } from '../tracing/tracing.ts';

/** The areas that monitoring asks all day, whose requests have no spans. */
const untracedAreas = ['healthz', 'readyz', 'metrics'];

/** Begins the span of a request, as a child of the caller's span if the request names one; undefined if the request has none. */
export function beginRequestSpan(
  tracing: Tracing | undefined,
  { headers }: Pick<Request, 'headers'>,
  area: string,
): Span | undefined {
  if (!tracing || untracedAreas.includes(area)) return undefined;
  return tracing.startSpan({ name: area, kind: 'server', parent: headers });
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
