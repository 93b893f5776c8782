import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { strictTransportSecurity } from 'helmet';
import type { Addresses } from './proxies.ts';

/** How a request came: encrypted all the way, from this very machine, or readable by others. */
export type Arrival = 'https' | 'local' | 'plain';

/**
 * Tells how a request came. What `X-Forwarded-Proto` and `Forwarded` (RFC 7239 §5.4) say of the client's own connection is
 * heeded when a trusted proxy says it; from anybody else it would be a claim.
 */
export function arrivals(isTrusted: Addresses, isLoopback: Addresses): (request: Request) => Arrival {
  return ({ socket, headers }) => {
    const told = isTrusted(socket.remoteAddress) ? toldSchemes(headers) : [];
    if (told.length > 0) return told.every((scheme) => scheme === 'https') ? 'https' : 'plain';
    if ('encrypted' in socket && socket.encrypted === true) return 'https';
    return isLoopback(socket.remoteAddress) || isLoopback(socket.localAddress) ? 'local' : 'plain';
  };
}

/** The schemes that the headers give to the client's own connection, which is the first of several; two may contradict each other. */
function toldSchemes(headers: Request['headers']): string[] {
  const first = String(headers['x-forwarded-proto'] ?? '').split(',')[0] ?? '';
  const element = (headers.forwarded ?? '').split(',')[0] ?? '';
  const proto = /(?:^|;)\s*proto="?([a-z][a-z0-9+.-]*)"?\s*(?:;|$)/i.exec(element)?.[1] ?? '';
  return [first, proto].map((scheme) => scheme.trim().toLowerCase()).filter((scheme) => scheme !== '');
}

/** For a year, and for our own name only: what else the domain serves is not ours to say. */
const keepToHttps = strictTransportSecurity({ maxAge: 365 * 24 * 60 * 60, includeSubDomains: false });

/** Probes come from inside, in plain, and learn nothing but that we are there. */
const probes = ['/healthz', '/readyz'];

/** What the door of HTTPS needs. */
export interface HttpsDoor {
  arrivalOf(request: Request): Arrival;
  /** Answers a request that is not let in. */
  refuse(request: Request, response: Response, next: NextFunction): void;
  isRequired: boolean;
}

/** Tells clients that came by HTTPS to keep to it (RFC 6797 §7.1), and where it is required, refuses who came in plain. */
export function httpsDoor({ arrivalOf, refuse, isRequired }: HttpsDoor): RequestHandler {
  return (request, response, next) => {
    const arrival = arrivalOf(request);
    if (arrival === 'https') keepToHttps(request, response, () => {});
    if (isRequired && arrival === 'plain' && !probes.includes(request.path)) refuse(request, response, next);
    else next();
  };
}
