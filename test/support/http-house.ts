import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import type { Express } from 'express';
import { httpApp } from '../../src/http/app.ts';
import { newLog } from '../../src/http/log.ts';
import { type HttpMetrics, httpMetrics } from '../../src/http/metrics.ts';
import type { JsonObject } from '../../src/schema/resource.ts';

/** An express app of the house on a free port, with what it logs and measures. */
export interface HttpHouse {
  port: number;
  metrics: HttpMetrics;
  /** The lines logged so far. */
  lines: JsonObject[];
  close(): Promise<void>;
}

/** Opens a house with what `mount` hangs in; request ids are r1, r2 … */
export async function httpHouse(mount: (app: Express, metrics: HttpMetrics) => void): Promise<HttpHouse> {
  const metrics = httpMetrics();
  const lines: JsonObject[] = [];
  let requests = 0;
  const newId = () => {
    requests += 1;
    return `r${requests}`;
  };
  const log = newLog('info', linesTo(lines));
  const deps = { log, metrics, newId, now: () => performance.now() };
  const server = createServer(httpApp(deps, (app) => mount(app, metrics)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    metrics,
    lines,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Where a log writes its lines. */
export function linesTo(lines: JsonObject[]): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(chunk));
      done();
    },
  });
}
