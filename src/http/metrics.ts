import { Router } from 'express';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** One answered request. */
export interface Observation {
  area: string;
  method: string;
  status: number;
  seconds: number;
}

/** The measurements of one process; `registry` takes those of other rooms too. */
export interface HttpMetrics {
  registry: Registry;
  observe(observation: Observation): void;
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
    observe: ({ area, method, status, seconds }) => {
      const known = methods.includes(method) ? method : 'other';
      requests.inc({ area, method: known, status });
      durations.observe({ area, method: known }, seconds);
    },
  };
}

/** Measures the process itself as well: memory, CPU, event loop. */
export function measureProcess({ registry }: HttpMetrics): void {
  collectDefaultMetrics({ register: registry });
}

/** GET /metrics, for Prometheus. */
export function metricsRoutes({ registry }: HttpMetrics): Router {
  return Router().get('/metrics', async (_request, response) => {
    response.type(registry.contentType).send(await registry.metrics());
  });
}
