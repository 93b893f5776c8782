import { Router } from 'express';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { requestScopeOf } from './log.ts';

/** What /readyz asks. */
export interface HealthDeps {
  isReady(): Promise<boolean>;
  /** Why writes fail, in plain words; undefined while they work. */
  writes: { failure(): string | undefined; probe(): Promise<string | undefined> };
}

/**
 * /healthz: the process answers. /readyz: it can do its work, as `isReady` finds. While writes fail it is ready all the
 * same, as reads go on, unless the caller requires writes (`?require=writes`).
 */
export function healthRoutes({ isReady, writes }: HealthDeps): Router {
  return Router()
    .get('/healthz', (_request, response) => {
      response.json({ status: 'ok' });
    })
    .get('/readyz', async (request, response) => {
      const canRead = await isReady().catch((error: unknown) => {
        requestScopeOf(response).log.error({ err: error }, 'the check for readiness failed');
        return false;
      });
      const isRequired = [request.query['require']].flat().includes('writes');
      const reason = isRequired ? await writes.probe() : writes.failure();
      const isFit = canRead && !(isRequired && reason !== undefined);
      response.status(isFit ? 200 : 503).json({
        status: isFit ? 'ready' : 'not ready',
        ...(reason === undefined ? { writes: 'ok' } : { writes: 'failing', reason }),
      });
    });
}

/** One answered request. */
export interface RequestMeasurement {
  routeGroup: string;
  method: string;
  status: number;
  seconds: number;
}

/** The measurements of one process; `registry` takes those of other rooms too. */
export interface HttpMetrics {
  registry: Registry;
  observe(observation: RequestMeasurement): void;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Counts and times requests by area, method and status, in a registry of its own. */
export function httpMetrics(): HttpMetrics {
  const registry = new Registry();
  const requests = new Counter({
    name: 'jetbridge_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['area', 'method', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'jetbridge_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['area', 'method'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return {
    registry,
    observe: ({ routeGroup, method, status, seconds }) => {
      const known = methods.includes(method) ? method : 'other';
      requests.inc({ area: routeGroup, method: known, status });
      durations.observe({ area: routeGroup, method: known }, seconds);
    },
  };
}

/** Measures the process itself as well: memory, CPU, event loop. */
export function measureProcess({ registry }: HttpMetrics): void {
  collectDefaultMetrics({ register: registry });
}

/** What the metrics are computed by; `now` is in milliseconds and never goes back. */
export interface MetricsClock {
  now(): number;
  wait(ms: number): Promise<void>;
}

/** The least time between two computations, in milliseconds: each asks the database, and anybody may ask for them. */
const MIN_INTERVAL_MS = 1_000;

/**
 * GET /metrics, for Prometheus; computed at most once a second. Requests that come sooner wait for the next computation,
 * which is one for all of them, so that no answer is older than its request.
 */
export function metricsRoutes({ registry }: HttpMetrics, { now, wait }: MetricsClock): Router {
  let next: Promise<string> | undefined;
  let nextAt = now();
  let running: Promise<unknown> = Promise.resolve();
  const compute = async () => {
    await (nextAt > now() ? wait(nextAt - now()) : undefined);
    // One that takes long is not overtaken by the next; whether it failed is told to those who wait for it.
    await running.catch(() => {});
    next = undefined;
    nextAt = now() + MIN_INTERVAL_MS;
    const computed = registry.metrics();
    running = computed;
    return computed;
  };
  return Router().get('/metrics', async (_request, response) => {
    next ??= compute();
    response.type(registry.contentType).send(await next);
  });
}
