import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { hrTime, setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Tracing } from './tracing.ts';

/** The traces of a process, and the function that sends those that are left. */
export interface OpenTracing {
  tracing: Tracing;
  close(): Promise<void>;
}

interface OpenTracingDeps {
  log: { warn(fields: object, text: string): void };
  /** Milliseconds of a monotonic clock. */
  now(): number;
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The time that a stop waits until the last spans are sent, in milliseconds. */
const CLOSE_MS = 1_500;
/** Minimum time between two log lines about spans that were lost, in milliseconds. */
const LOG_MS = 60_000;

/**
 * Sends traces by OTLP (HTTP, JSON) to the address of a collector. The SDK reads all other variables, such as OTEL_TRACES_SAMPLER, from the
 * environment of the process.
 */
export function openTelemetry({ url }: { url: string }, { log, now, wait }: OpenTracingDeps): OpenTracing {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const report = (error: unknown) => {
    if (now() - loggedAt < LOG_MS) return;
    loggedAt = now();
    log.warn({ err: error }, 'traces could not be sent; spans are lost');
  };
  setGlobalErrorHandler(report);
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'jetbridge' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  return {
    tracing: createTracing(provider),
    close: async () => {
      const timer = new AbortController();
      // A collector that does not answer must not delay the stop.
      const flushed = provider.shutdown().catch(report);
      await Promise.race([flushed, wait(CLOSE_MS, timer.signal)]);
      timer.abort();
    },
  };
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

const propagator = new W3CTraceContextPropagator();

const getter = {
  keys: (headers: object) => Object.keys(headers),
  get: (headers: Record<string, string | string[] | undefined>, key: string) => headers[key],
};

const setter = {
  set: (headers: Record<string, string>, key: string, value: string) => {
    headers[key] = value;
  },
};

function createTracing(provider: BasicTracerProvider): Tracing {
  const tracer = provider.getTracer('jetbridge');
  // The span in which code runs, through all that it awaits.
  const current = new AsyncLocalStorage<{ context: Context }>();
  return {
    runOutside: (work) => current.exit(work),
    startSpan: ({ name, kind, attributes = {}, isRoot = false }) => {
      const surrounding = isRoot ? ROOT_CONTEXT : (current.getStore()?.context ?? ROOT_CONTEXT);
      const startTime = hrTime();
      const begin = (context: Context) => {
        const begun = tracer.startSpan(name, { kind: kinds[kind], attributes, startTime }, context);
        return { begun, context: trace.setSpan(context, begun) };
      };
      let { begun: span, context } = begin(surrounding);
      const place = { context };
      return {
        run: (work) => current.run(place, work),
        joinCaller: (headers) => {
          // A span cannot change its parent, and one that is not ended is never sent.
          ({ begun: span, context } = begin(propagator.extract(ROOT_CONTEXT, headers, getter)));
          place.context = context;
        },
        headers: () => {
          const headers: Record<string, string> = {};
          propagator.inject(context, headers, setter);
          return headers;
        },
        end: (end) => {
          if (end.name !== undefined) span.updateName(end.name);
          span.setAttributes(end.attributes);
          if (end.isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
  };
}
