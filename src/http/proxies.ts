import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { strictTransportSecurity } from 'helmet';
import ipaddr from 'ipaddr.js';

/** Returns true if an address, in the form that a socket reports, is in a set of addresses. */
export type AddressPredicate = (address: string | undefined) => boolean;

type Address = ReturnType<typeof ipaddr.process>;

/** Keywords for address ranges, with the names of the ranges in ipaddr.js (RFC 6890). */
const rangeNames: Record<string, string[]> = {
  loopback: ['loopback'],
  private: ['private', 'uniqueLocal', 'linkLocal'],
};

/** True for a valid entry of TRUSTED_PROXIES: an address, a range in CIDR notation, `loopback` or `private`. */
export function isProxyEntry(entry: string): boolean {
  return Object.hasOwn(rangeNames, entry) || ipaddr.isValidCIDR(entry) || isAddress(entry);
}

/** Returns a predicate for the addresses that the entries name. The entries must be valid. */
export function addressPredicate(entries: string[]): AddressPredicate {
  const tests = entries.map(toAddressTest);
  return (address) => {
    if (tests.length === 0 || address === undefined || !ipaddr.isValid(address)) return false;
    // On an IPv6 socket, an IPv4 client has an address such as ::ffff:10.0.0.1.
    const parsed = ipaddr.process(address);
    return tests.some((test) => test(parsed));
  };
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
  let address = stripIpv4Mapping(socket.remoteAddress ?? '');
  if (!isTrusted(address)) return address;
  for (const hop of String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .reverse()) {
    const named = parseHop(hop);
    if (named === undefined) return address;
    address = named;
    if (!isTrusted(address)) return address;
  }
  return address;
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

/** Removes the prefix of an IPv4-mapped address. The usual form needs no parsing. */
function stripIpv4Mapping(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}

/**
 * Parses an entry of `X-Forwarded-For`. Some proxies add a port; IPv6 zones are dropped. Undefined if it cannot be
 * parsed.
 */
function parseHop(hop: string): string | undefined {
  const text = hop.trim();
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
  const [address = ''] = bare.split('%');
  return isAddress(address) ? ipaddr.process(address).toString() : undefined;
}

/** Stricter than ipaddr.js, which also accepts numbers without dots, octal and shortened forms. */
function isAddress(entry: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(entry) || ipaddr.IPv6.isValid(entry);
}

function toAddressTest(entry: string): (address: Address) => boolean {
  const ranges = rangeNames[entry];
  if (ranges) return (address) => ranges.includes(address.range());
  const [network, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.process(entry), undefined];
  const length = bits ?? (network.kind() === 'ipv4' ? 32 : 128);
  return (address) => address.kind() === network.kind() && address.match(network, length);
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
  const schemes = isTrusted(socket.remoteAddress) ? forwardedSchemes(headers) : [];
  if (schemes.length === 0) return undefined;
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
