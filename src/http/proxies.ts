import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { strictTransportSecurity } from 'helmet';
import ipaddr from 'ipaddr.js';
import proxyaddr from 'proxy-addr';

/** Returns true if an address, in the form that a socket reports, is in a set of addresses. */
export type AddressPredicate = (address: string | undefined) => boolean;

/** True for a valid entry of a list of addresses: an address, a range in CIDR notation, `loopback` or `private`. */
export function isAddressEntry(entry: string): boolean {
  const [address = '', length] = entry.split('/');
  // proxy-addr takes numbers without dots for addresses, and a netmask for a length.
  if (!['loopback', 'private'].includes(entry) && (isIP(address) === 0 || !/^\d+$/.test(length ?? '0')))
    return false;
  try {
    addressPredicate([entry]);
    return true;
  } catch {
    return false;
  }
}

/** Returns a predicate for the addresses that the entries name. Throws if one is not valid. */
export function addressPredicate(entries: string[]): AddressPredicate {
  const ranges = entries.flatMap((entry) => (entry === 'private' ? ['linklocal', 'uniquelocal'] : entry));
  const isTrusted = proxyaddr.compile(ranges);
  return (address = '') => isIP(address) !== 0 && isTrusted(address, 0);
}

/** True for loopback addresses. */
export const isLoopback = addressPredicate(['loopback']);

/**
 * Returns true if a URL is https, or http to this machine. With any other URL, others on the network can read and
 * change the answers.
 */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (protocol === 'https:') return true;
  const isHere = hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return protocol === 'http:' && isHere;
}

/**
 * Returns the address of the client: the socket's, or behind trusted proxies the last untrusted address in
 * `X-Forwarded-For`. The header is ignored if the peer is not trusted, since any client can set it. IPv4-mapped IPv6
 * addresses become IPv4 addresses.
 */
export function clientAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  isTrusted: AddressPredicate,
): string {
  const forwarded = headers['x-forwarded-for'];
  const hops =
    forwarded === undefined ? [socket.remoteAddress ?? ''] : hopsOf(String(forwarded), socket, isTrusted);
  // The last one may be no address.
  const address = hops.findLast((hop) => isIP(hop) !== 0) ?? '';
  return isIP(address) === 6 ? ipaddr.process(address).toString() : address;
}

/** Returns the addresses from the socket's to the first untrusted one of the header. */
function hopsOf(forwarded: string, socket: IncomingMessage['socket'], isTrusted: AddressPredicate): string[] {
  const headers = { 'x-forwarded-for': forwarded.split(',').map(bareAddress).join(',') };
  return proxyaddr.all({ socket, headers } as unknown as IncomingMessage, isTrusted);
}

/** Some proxies add a port. IPv6 zones are dropped. */
function bareAddress(hop: string): string {
  const [, bracketed, ipv4, other = ''] =
    /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$|^([^%]*)/.exec(hop.trim()) ?? [];
  return bracketed ?? ipv4 ?? other;
}

/**
 * Returns the key under which the requests of one client are counted: an IPv4 address, or the /64 network of an IPv6
 * address, because a client usually owns the whole network.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

/** The transport of a request: encrypted, unencrypted from the same machine, or unencrypted over a network. */
export type Transport = 'https' | 'local' | 'plain';

/**
 * Creates a function that returns the transport of a request. Forwarding headers count only from trusted proxies, since
 * any client can set them.
 */
export function transportReader(
  isTrusted: AddressPredicate,
  isLoopback: AddressPredicate,
): (request: Request) => Transport {
  return (request) => {
    const { socket } = request;
    const forwarded = forwardedScheme(request, isTrusted);
    if ((forwarded ?? socketScheme(socket)) === 'https') return 'https';
    const isLocal = isLoopback(socket.remoteAddress) || isLoopback(socket.localAddress);
    return forwarded === undefined && isLocal ? 'local' : 'plain';
  };
}

/**
 * Returns a function that returns the scheme and host that a client used; undefined if the Host header holds anything
 * but a host and a port.
 */
export function originReader(isTrusted: AddressPredicate): (request: Request) => string | undefined {
  return (request) => {
    const { host } = request.headers;
    const isHost = host !== undefined && /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host);
    if (!isHost) return undefined;
    return `${forwardedScheme(request, isTrusted) ?? socketScheme(request.socket)}://${host}`;
  };
}

type Scheme = 'https' | 'http';

function socketScheme(socket: Request['socket']): Scheme {
  return 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
}

/**
 * Returns the scheme that a trusted proxy names in `X-Forwarded-Proto` and `Forwarded` (RFC 7239 §5.4); undefined
 * without such a header. If the two headers contradict each other, it is http.
 */
function forwardedScheme({ socket, headers }: Request, isTrusted: AddressPredicate): Scheme | undefined {
  const schemes = forwardedSchemes(headers);
  if (schemes.length === 0 || !isTrusted(socket.remoteAddress)) return undefined;
  return schemes.every((scheme) => scheme === 'https') ? 'https' : 'http';
}

/**
 * Returns the schemes of the client's own connection: the first entry of each header. The two headers may contradict
 * each other.
 */
function forwardedSchemes(headers: Request['headers']): string[] {
  const first = String(headers['x-forwarded-proto'] ?? '').split(',')[0] ?? '';
  const element = (headers.forwarded ?? '').split(',')[0] ?? '';
  const proto = /(?:^|;)\s*proto="?([a-z][a-z0-9+.-]*)"?\s*(?:;|$)/i.exec(element)?.[1] ?? '';
  return [first, proto].map((scheme) => scheme.trim().toLowerCase()).filter((scheme) => scheme !== '');
}

/** One year, and without subdomains, which may belong to other services. */
const setStrictTransportSecurity = strictTransportSecurity({
  maxAge: 365 * 24 * 60 * 60,
  includeSubDomains: false,
});

/** Probes are sent inside the network without TLS, and their responses reveal nothing. */
const probePaths = ['/healthz', '/readyz'];

/** The policy for unencrypted requests. */
export interface HttpsPolicy {
  transportOf(request: Request): Transport;
  /** Sends the response to a refused request. */
  refuse(request: Request, response: Response, next: NextFunction): void;
  isRequired: boolean;
}

/**
 * Sets Strict-Transport-Security on responses over HTTPS (RFC 6797 §7.1). If HTTPS is required, refuses unencrypted
 * requests.
 */
export function enforceHttps({ transportOf, refuse, isRequired }: HttpsPolicy): RequestHandler {
  return (request, response, next) => {
    const transport = transportOf(request);
    if (transport === 'https') setStrictTransportSecurity(request, response, () => {});
    if (isRequired && transport === 'plain' && !probePaths.includes(request.path))
      refuse(request, response, next);
    else next();
  };
}
