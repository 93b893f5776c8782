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
import {
  createMessageClasses,
  type HttpDeps,
  httpApp,
  type MessageClasses,
  routeGroupOf,
} from '../http/app.ts';
import { type LimitHandlers, type SocketLimits, serverOptions, serveWithLimits } from '../http/sockets.ts';
import { ScimError, scimErrorHandler } from '../scim/protocol/errors.ts';
import { ApiError, errorBody } from '../travel/errors.ts';

/**
 * Cipher suites with forward secrecy and authenticated encryption only (RFC 9325 §4.2): a key that is stolen later decrypts no recorded
 * traffic, and CBC suites allow padding attacks. The first three are for TLS 1.3.
 */
const CIPHERS = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ...['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');
const tlsOptions = { ciphers: CIPHERS, minVersion: 'TLSv1.2' } as const;

/** Grace period for running requests when the service stops, in milliseconds. Container platforms kill it after ten seconds. */
const GRACE_MS = 8_000;
/** Interval at which a stopping server closes idle connections, in milliseconds. */
const IDLE_SWEEP_MS = 20;

/** An HTTP or HTTPS server that does not listen yet. */
export interface HttpServer {
  server: Server;
  scheme: 'http' | 'https';
  /** For the app that handles the requests. */
  messageClasses: MessageClasses;
  /** Sets the handlers of requests, which answer within the socket limits. */
  serve(handlers: LimitHandlers): void;
  /** Reads the certificate files again. If they have a fault, logs it and keeps the old certificate. */
  renewCertificate(): void;
  /** The certificate that is served; undefined without HTTPS. */
  certificate(): Certificate | undefined;
}

/** Creates an HTTPS server if there is a certificate, else an HTTP server. */
export function createHttpServer(
  tls: TransportSettings['tls'],
  log: Logger,
  limits: SocketLimits,
): HttpServer {
  // With this option, requests without Host reach the app. Node would answer them itself, with an empty body.
  const messageClasses = createMessageClasses();
  const options = { requireHostHeader: false, ...serverOptions(limits), ...messageClasses };
  const withHandlers = (server: Server) => ({
    server,
    messageClasses,
    serve: (handlers: LimitHandlers) => serveWithLimits(server, limits, handlers),
  });
  if (!tls) return { ...withHandlers(createServer(options)), scheme: 'http', ...withoutCertificate };
  let { certificate } = tls;
  const { cert, key } = certificate;
  logCertificateWarning(certificate, log);
  const server = createHttpsServer({ ...options, ...tlsOptions, cert, key });
  const renewCertificate = () => {
    const faults: Fault[] = [];
    const renewed = readCertificate(tls.files, faults);
    if (!renewed) {
      log.error(
        { err: new SettingsFault(faults) },
        'the certificate could not be reloaded; keeping the old one',
      );
      return;
    }
    // Repeat all options, because the new context inherits none from the old one.
    server.setSecureContext({ ...tlsOptions, cert: renewed.cert, key: renewed.key });
    certificate = renewed;
    log.info({ validTo: new Date(renewed.validTo).toISOString() }, 'the certificate was renewed');
    logCertificateWarning(renewed, log);
  };
  return { ...withHandlers(server), scheme: 'https', renewCertificate, certificate: () => certificate };
}

const withoutCertificate = { renewCertificate: () => {}, certificate: () => undefined };

/** A server for requests of this process to itself. */
export interface LoopbackServer {
  url: string;
  close(): Promise<void>;
}

/** Serves what `mount` adds on a free loopback port, by plain HTTP. */
export async function openLoopbackServer(
  deps: HttpDeps,
  mount: (app: Express) => void,
): Promise<LoopbackServer> {
  const messageClasses = createMessageClasses();
  const app = httpApp({ ...deps, messageClasses }, mount);
  const server = createServer(messageClasses, app);
  const url = await listen({ server, scheme: 'http' }, { port: 0, host: '127.0.0.1' });
  return { url, close: () => stopServer(server) };
}

function logCertificateWarning(certificate: Certificate, log: Logger): void {
  const warning = certificateWarning(certificate, Date.now());
  if (warning !== undefined) log.warn(`${warning}; clients will refuse it`);
}

/** Starts to listen (port 0 takes a free port) and returns the URL. */
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

/** Stops a server: closes idle connections at once, the others when their requests end or the grace period is over. */
export async function stopServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A kept-alive connection becomes idle only when its last request is answered, so close idle ones repeatedly.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(late);
}

const plainHttpText = 'Plain HTTP is refused here, as it can be read on the way. Use https.';

/** Answers plain HTTP with 403 where HTTPS is required, in the error format of the requested interface. */
export function refusePlainHttp(request: Request, response: Response, next: NextFunction): void {
  switch (routeGroupOf(request.path)) {
    case 'scim':
      scimErrorHandler(new ScimError(403, undefined, plainHttpText), request, response, next);
      return;
    case 'api': {
      const error = new ApiError('forbidden', plainHttpText);
      response.status(error.status).json(errorBody(error));
      return;
    }
    case 'oauth':
      response.status(403).json({ error: 'invalid_request', error_description: plainHttpText });
      return;
    default:
      response.status(403).json({ error: plainHttpText });
  }
}
