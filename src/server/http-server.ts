import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Express, NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { type Fault, SettingsFault } from '../config/faults.ts';
import {
  type Certificate,
  certificateWarning,
  readCertificate,
  type TransportSettings,
} from '../config/transport.ts';
import { areaOf, type HttpDeps, httpApp } from '../http/app.ts';
import { type Handlers, limitedOptions, type SocketLimits, serveLimited } from '../http/sockets.ts';
import { ScimError, scimErrorHandler } from '../scim/errors.ts';
import { ApiError, errorBody } from '../travel/errors.ts';

/**
 * Suites with forward secrecy and authenticated encryption only: a key that is stolen later opens no recorded traffic,
 * and CBC is open to padding attacks (RFC 9325 §4.2). The first three are those of TLS 1.3.
 */
const CIPHERS = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ...['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');
const tlsOptions = { ciphers: CIPHERS, minVersion: 'TLSv1.2' } as const;

/** How long running requests may take to end when the service stops; whoever stops it kills it after ten seconds. */
const GRACE_MS = 8_000;
const IDLE_SWEEP_MS = 20;

/** A server that does not listen yet. */
export interface HttpServer {
  server: Server;
  scheme: 'http' | 'https';
  /** Answers requests within the limits. */
  serve(handlers: Handlers): void;
  /** Serves with what is in the certificate's files by now; what is wrong with that goes to the log, and nothing changes. */
  renewCertificate(): void;
}

/** A server of HTTPS where there is a certificate for it, else one of HTTP. */
export function createHttpServer(
  tls: TransportSettings['tls'],
  log: Logger,
  limits: SocketLimits,
): HttpServer {
  // By itself Node answers a request without Host, too, and with no body.
  const options = { requireHostHeader: false, ...limitedOptions(limits) };
  const servedBy = (server: Server) => ({
    server,
    serve: (handlers: Handlers) => serveLimited(server, limits, handlers),
  });
  if (!tls) return { ...servedBy(createServer(options)), scheme: 'http', renewCertificate: () => {} };
  const { cert, key } = tls.certificate;
  logCertificateWarning(tls.certificate, log);
  const server = createHttpsServer({ ...options, ...tlsOptions, cert, key });
  const renewCertificate = () => {
    const faults: Fault[] = [];
    const renewed = readCertificate(tls.files, faults);
    if (!renewed) {
      log.error({ err: new SettingsFault(faults) }, 'the certificate was not renewed; the old one is served');
      return;
    }
    // It takes nothing over from the context before.
    server.setSecureContext({ ...tlsOptions, cert: renewed.cert, key: renewed.key });
    log.info({ validTo: new Date(renewed.validTo).toISOString() }, 'the certificate was renewed');
    logCertificateWarning(renewed, log);
  };
  return { ...servedBy(server), scheme: 'https', renewCertificate };
}

/** The bridge's own way to the embedded travel service, at `/api` of a port that nobody is told; nothing else is served there. */
export async function openLoopbackServer(
  travel: Express,
  deps: HttpDeps,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(httpApp(deps, (app) => app.use('/api', travel)));
  const url = await listen({ server, scheme: 'http' }, { port: 0, host: '127.0.0.1' });
  return { url, close: () => stopServer(server) };
}

function logCertificateWarning(certificate: Certificate, log: Logger): void {
  const warning = certificateWarning(certificate, Date.now());
  if (warning !== undefined) log.warn(`${warning}; clients will refuse it`);
}

/** Serves on a port, and answers the URL. */
export async function listen(
  { server, scheme }: Pick<HttpServer, 'server' | 'scheme'>,
  { port, host }: { port: number; host: string },
): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const isAny = address.address === '::' || address.address === '0.0.0.0';
  const name = isAny ? '127.0.0.1' : address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${scheme}://${name}:${address.port}`;
}

/** Ends a server: idle connections at once, running requests when they are done or the grace is over. */
export async function stopServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A kept connection becomes idle when its last request is answered; our own ones to the embedded service do so, too.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(late);
}

const text = 'Plain HTTP is refused here, as it can be read on the way. Use https.';

/** Answers a request that came in plain where HTTPS is required: 403, in the form of the part that was asked. */
export function refusePlainHttp(request: Request, response: Response, next: NextFunction): void {
  switch (areaOf(request.path.toLowerCase())) {
    case 'scim':
      scimErrorHandler(new ScimError(403, undefined, text), request, response, next);
      return;
    case 'api': {
      const error = new ApiError('forbidden', text);
      response.status(error.status).json(errorBody(error));
      return;
    }
    case 'oauth':
      response.status(403).json({ error: 'invalid_request', error_description: text });
      return;
    default:
      response.status(403).json({ error: text });
  }
}
