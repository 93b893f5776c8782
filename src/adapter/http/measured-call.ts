import type { TravelAnswer } from '../../model/travel-ports.ts';
import type { Span, Tracing } from '../../tracing/tracing.ts';
import type { HttpResponse } from './answers.ts';

/** The purpose of a call to the travel API; the metrics and spans are named by it. */
export type TravelOperation =
  | 'createTraveler'
  | 'readTraveler'
  | 'updateTraveler'
  | 'deleteTraveler'
  | 'searchTravelers'
  | 'listTravelers'
  | 'readLookups'
  | 'readOwnUser'
  | 'readEvents';

/** A call that has ended. */
export interface EndedMeasurement {
  operation: TravelOperation;
  /** The kind of the answer; `throttled` and `unanswered` are two of those that are `unavailable`. */
  outcome: string;
  /** From the first request to the end of the answer; undefined for a call that was never sent. */
  seconds: number | undefined;
}

/** The receivers of the measurements of a connection: metrics (`onCall`) and spans (`tracing`). */
export interface CallMeasurement {
  connection?: string;
  clock: { now(): number };
  onCall?: ((call: EndedMeasurement) => void) | undefined;
  tracing?: Tracing | undefined;
}

/** The measurement of one call, from its first request to its answer. */
export interface MeasuredCall {
  /** Starts the measurement. Called before each request, only the first call counts; the wait for a free slot is not measured. */
  begin(): void;
  /** The headers that name the span of the call. */
  headers(): Record<string, string>;
  end(answer: TravelAnswer<unknown>, response: HttpResponse | undefined): void;
}

/** Measures one call for the metrics and as a span. Polls have no spans, because they would be most of all spans. */
export function measureCall(
  { connection = '', clock, onCall, tracing }: CallMeasurement,
  {
    method,
    operation,
    isPolling = false,
  }: { method: string; operation: TravelOperation; isPolling?: boolean },
): MeasuredCall {
  let began: number | undefined;
  let span: Span | undefined;
  return {
    begin: () => {
      if (began !== undefined) return;
      began = clock.now();
      if (isPolling) return;
      const attributes = { 'http.request.method': method, 'jetbridge.connection': connection };
      span = tracing?.startSpan({ name: operation, kind: 'client', attributes });
    },
    headers: () => span?.headers() ?? {},
    end: (answer, response) => {
      const outcome = outcomeOf(answer);
      onCall?.({
        operation,
        outcome,
        seconds: began === undefined ? undefined : (clock.now() - began) / 1000,
      });
      span?.end({
        attributes: {
          'jetbridge.outcome': outcome,
          ...(response && { 'http.response.status_code': response.status }),
        },
        isFailed: answer.kind !== 'ok',
      });
    },
  };
}

function outcomeOf(answer: TravelAnswer<unknown>): string {
  if (answer.kind !== 'unavailable') return answer.kind;
  if (answer.isUnanswered) return 'unanswered';
  return answer.isThrottled ? 'throttled' : answer.kind;
}
