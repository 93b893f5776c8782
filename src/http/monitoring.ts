import { Router } from 'express';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { markRoutine, requestScopeOf } from './log.ts';

/** The dependencies of the health routes. */
export interface HealthDeps {
  isReady(): Promise<boolean>;
  /**
   * `failure` returns why writes fail, or undefined while they succeed. `probe` returns the same after a test write.
   */
  writes: { failure(): string | undefined; probe(): Promise<string | undefined> };
  /** Resolves after some milliseconds, or when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns what needs attention, without personal data, for `?verbose`. */
  conditions(): Promise<object[]>;
}

/** A check that takes longer has failed, in milliseconds: probes of load balancers and orchestrators wait some three seconds. */
const CHECK_MS = 2_000;

/**
 * Routes of the health checks. /healthz: the process responds. /readyz: `isReady` resolves to true. If only writes
 * fail, the service is ready nevertheless, because reads work, unless the caller requires writes
 * (`?require=writes`). A database that does not answer within two seconds is not ready. With `?verbose`, the answer
 * lists the open conditions, which never change the status.
 */
export function healthRoutes({ isReady, writes, wait, conditions }: HealthDeps): Router {
  return Router({ caseSensitive: true })
    .get('/healthz', (_request, response) => {
      markRoutine(response);
      response.json({ status: 'ok' });
    })
    .get('/readyz', async (request, response) => {
      markRoutine(response);
      const isRequired = [request.query['require']].flat().includes('writes');
      const checks = async () => {
        const canRead = await isReady();
        return { canRead, reason: isRequired ? await writes.probe() : writes.failure() };
      };
      const { canRead, reason } = await withinLimit(checks(), wait).catch((error: unknown) => {
        requestScopeOf(response).log.error({ err: error }, 'the readiness check failed');
        return { canRead: false, reason: writes.failure() ?? 'the database cannot be read' };
      });
      const isVerbose = canRead && request.query['verbose'] !== undefined;
      // A database that is slow to count people is ready nevertheless.
      const open = isVerbose ? await withinLimit(conditions(), wait).catch(() => undefined) : undefined;
      const isFit = canRead && !(isRequired && reason !== undefined);
      response.status(isFit ? 200 : 503).json({
        status: isFit ? 'ready' : 'not ready',
        ...(reason === undefined ? { writes: 'ok' } : { writes: 'failing', reason }),
        ...(open && { conditions: open }),
      });
    });
}

/** Returns the result of the check, or rejects if it takes too long. */
async function withinLimit<T>(check: Promise<T>, wait: HealthDeps['wait']): Promise<T> {
  const timer = new AbortController();
  const timeOut = wait(CHECK_MS, timer.signal).then(() => {
    throw new Error(`no answer within ${CHECK_MS} ms`);
  });
  try {
    return await Promise.race([check, timeOut]);
  } finally {
    timer.abort();
  }
}

/** The measurement of one request. */
export interface RequestMeasurement {
  /** The interface, such as `scim`. */
  area: string;
  /** The pattern of the route, such as `/scim/v2/Users/:id`. */
  route: string;
  method: string;
  status: number;
  seconds: number;
}

/** The metrics of one process. Other folders register theirs in `registry`. */
export interface HttpMetrics {
  registry: Registry;
  observe(observation: RequestMeasurement): void;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Counts and times requests by area, route and method, and counts them by status. */
export function httpMetrics(): HttpMetrics {
  const registry = new Registry();
  const requests = new Counter({
    name: 'jetbridge_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['area', 'route', 'method', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'jetbridge_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['area', 'route', 'method'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return {
    registry,
    observe: ({ area, route, method, status, seconds }) => {
      const known = methods.includes(method) ? method : 'other';
      requests.inc({ area, route, method: known, status });
      durations.observe({ area, route, method: known }, seconds);
    },
  };
}

/** Interval of measuring the delay of the event loop, in milliseconds: each measurement wakes the process. */
const LAG_MS = 100;

/** Adds metrics of the process: memory, CPU, event loop. prom-client measures them until the process ends. */
export function measureProcess({ registry }: HttpMetrics): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_MS });
}

/** `now` returns milliseconds of a monotonic clock. */
export interface MetricsClock {
  now(): number;
  wait(ms: number): Promise<void>;
}

/**
 * Minimum time between two computations, in milliseconds: each queries the database, and the route needs no
 * credential.
 */
const MIN_INTERVAL_MS = 1_000;

/**
 * Returns the route GET /metrics in the Prometheus format. The metrics are computed at most once a second. Requests
 * that arrive earlier share the next computation, so that no response is older than its request.
 */
export function metricsRoutes({ registry }: HttpMetrics, { now, wait }: MetricsClock): Router {
  let next: Promise<string> | undefined;
  let nextAt = now();
  let running: Promise<unknown> = Promise.resolve();
  const compute = async () => {
    await (nextAt > now() ? wait(nextAt - now()) : undefined);
    // Computations never overlap. If one fails, the requests that wait for it get the error.
    await running.catch(() => {});
    next = undefined;
    nextAt = now() + MIN_INTERVAL_MS;
    const computed = registry.metrics();
    running = computed;
    return computed;
  };
  // A proxy that guards /metrics mostly compares the whole path, and would let /metrics/ pass.
  return Router({ caseSensitive: true, strict: true }).get('/metrics', async (_request, response) => {
    next ??= compute();
    response.type(registry.contentType).send(await next);
  });
}
