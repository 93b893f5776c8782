import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { strictTransportSecurity } from 'helmet';
import ipaddr from 'ipaddr.js';

/** Tells whether an address, as a socket has it, belongs to those meant. */
export type AddressPredicate = (address: string | undefined) => boolean;

type Address = ReturnType<typeof ipaddr.process>;

/** Words for whole ranges, by what a range is called in the IANA registries of special addresses (RFC 6890). */
const rangeNames: Record<string, string[]> = {
  loopback: ['loopback'],
  private: ['private', 'uniqueLocal', 'linkLocal'],
};

/** Whether an entry of TRUSTED_PROXIES can be read: an address, a range in CIDR notation, or one of two words. */
export function isProxyEntry(entry: string): boolean {
  return Object.hasOwn(rangeNames, entry) || ipaddr.isValidCIDR(entry) || isAddress(entry);
}

/** The addresses that the entries name; none of them can be unreadable. */
export function addressPredicate(entries: string[]): AddressPredicate {
  const tests = entries.map(toAddressTest);
  return (address) => {
    if (tests.length === 0 || address === undefined || !ipaddr.isValid(address)) return false;
    // An IPv4 client of an IPv6 socket comes as ::ffff:10.0.0.1.
    const one = ipaddr.process(address);
    return tests.some((isMeant) => isMeant(one));
  };
}

/** The addresses of this machine that no other can have. */
export const isLoopback = addressPredicate(['loopback']);

/**
 * The address of the client: the socket's, or where that is a trusted proxy's, the last address in `X-Forwarded-For` that
 * is none. What an untrusted peer writes there is its own claim and is not read. IPv4-mapped IPv6 addresses are IPv4.
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

/** What counts as one client: an IPv4 address, or the /64 network of an IPv6 address, as a client has all of that. */
export function addressGroup(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const one = ipaddr.process(address);
  return one instanceof ipaddr.IPv6 ? one.parts.slice(0, 4).join(':') : one.toString();
}

/** The text of most sockets for both families, without parsing it. */
function stripIpv4Mapping(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}

/** One entry of `X-Forwarded-For`. Some proxies add the port; a zone is local to them. Undefined: it cannot be read. */
function parseHop(hop: string): string | undefined {
  const text = hop.trim();
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
  const [address = ''] = bare.split('%');
  return isAddress(address) ? ipaddr.process(address).toString() : undefined;
}

/** Not what ipaddr.js reads beside the usual forms: numbers without dots, octal and shortened ones. */
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

/** How a request came: encrypted all the way, from this very machine, or readable by others. */
export type Transport = 'https' | 'local' | 'plain';

/**
 * Tells how a request came. What `X-Forwarded-Proto` and `Forwarded` (RFC 7239 §5.4) say of the client's own connection is
 * heeded when a trusted proxy says it; from anybody else it would be a claim.
 */
export function transportReader(
  isTrusted: AddressPredicate,
  isLoopback: AddressPredicate,
): (request: Request) => Transport {
  return ({ socket, headers }) => {
    const told = isTrusted(socket.remoteAddress) ? forwardedSchemes(headers) : [];
    if (told.length > 0) return told.every((scheme) => scheme === 'https') ? 'https' : 'plain';
    if ('encrypted' in socket && socket.encrypted === true) return 'https';
    return isLoopback(socket.remoteAddress) || isLoopback(socket.localAddress) ? 'local' : 'plain';
  };
}

/** The schemes that the headers give to the client's own connection, which is the first of several; two may contradict each other. */
function forwardedSchemes(headers: Request['headers']): string[] {
  const first = String(headers['x-forwarded-proto'] ?? '').split(',')[0] ?? '';
  const element = (headers.forwarded ?? '').split(',')[0] ?? '';
  const proto = /(?:^|;)\s*proto="?([a-z][a-z0-9+.-]*)"?\s*(?:;|$)/i.exec(element)?.[1] ?? '';
  return [first, proto].map((scheme) => scheme.trim().toLowerCase()).filter((scheme) => scheme !== '');
}

/** For a year, and for our own name only: what else the domain serves is not ours to say. */
const setStrictTransportSecurity = strictTransportSecurity({
  maxAge: 365 * 24 * 60 * 60,
  includeSubDomains: false,
});

/** Probes come from inside, in plain, and learn nothing but that we are there. */
const probePaths = ['/healthz', '/readyz'];

/** What the door of HTTPS needs. */
export interface HttpsPolicy {
  transportOf(request: Request): Transport;
  /** Answers a request that is not let in. */
  refuse(request: Request, response: Response, next: NextFunction): void;
  isRequired: boolean;
}

/** Tells clients that came by HTTPS to keep to it (RFC 6797 §7.1), and where it is required, refuses who came in plain. */
export function enforceHttps({ transportOf, refuse, isRequired }: HttpsPolicy): RequestHandler {
  return (request, response, next) => {
    const transport = transportOf(request);
    if (transport === 'https') setStrictTransportSecurity(request, response, () => {});
    if (isRequired && transport === 'plain' && !probePaths.includes(request.path))
      refuse(request, response, next);
    else next();
  };
}
