import type { IncomingHttpHeaders } from 'node:http';

/**
 * Makes the spans of traces. It is undefined where no traces are configured, so that they cost nothing then
 * (docs/decisions/0058-spans-are-made-by-hand.md).
 */
export interface Tracing {
  /** Begins a span. Its parent is the span in which the caller runs, unless the span is a root. */
  startSpan(span: NewSpan): Span;
  /** Runs work in no span. */
  runOutside(work: () => void): void;
}

/** Facts about a span. They contain no personal data: no ids, addresses, paths or texts of errors. */
type Attributes = Record<string, string | number>;

/** A span that begins. */
export interface NewSpan {
  name: string;
  kind: 'server' | 'client' | 'internal';
  attributes?: Attributes;
  /** True: the span begins a trace, whatever has started the work. */
  isRoot?: boolean;
}

/** A span that has begun. */
export interface Span {
  /** Runs work whose spans are children of this one, also those that it begins after it has returned a promise. */
  run<T>(work: () => T): T;
  /**
   * Makes the span that `traceparent` and `tracestate` of a request name the parent. What has begun inside before stays in the trace that the
   * span had.
   */
  joinCaller(headers: IncomingHttpHeaders): void;
  /** Returns the headers that name the span as the parent in a request to another service (W3C Trace Context). */
  headers(): Record<string, string>;
  end(end: { name?: string; attributes: Attributes; isFailed: boolean }): void;
}

/** Does background work in a trace of its own, if there are traces; `resultOf` names its result. */
export async function traceWork<T>(
  tracing: Tracing | undefined,
  { name, attributes, resultOf }: { name: string; attributes: Attributes; resultOf(value: T): SpanResult },
  work: () => Promise<T>,
): Promise<T> {
  if (!tracing) return work();
  const span = tracing.startSpan({ name, kind: 'internal', attributes, isRoot: true });
  try {
    const value = await span.run(work);
    const { result, isFailed } = resultOf(value);
    span.end({ attributes: { 'jetbridge.result': result }, isFailed });
    return value;
  } catch (error) {
    span.end({ attributes: { 'jetbridge.result': 'error' }, isFailed: true });
    throw error;
  }
}

/** Starts work that goes on after the request which starts it, so that its spans are no children of that of the request. */
export function runOutside(tracing: Tracing | undefined, work: () => void): void {
  if (tracing) tracing.runOutside(work);
  else work();
}

/** The outcome of background work, for its span. */
interface SpanResult {
  result: string;
  isFailed: boolean;
}
