import { promises as dns, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The other service has a private address, so nothing is sent. */
export class PrivateAddressError extends Error {
  constructor() {
    super('leads to a private address');
    this.name = 'PrivateAddress';
  }
}

/**
 * Blocks requests to private addresses. Throws PrivateAddressError for a URL that names one; the returned look-up
 * checks all addresses of a name. The connection uses exactly the checked addresses, so that a second DNS answer cannot
 * redirect it (DNS rebinding).
 */
export function guardedLookup(url: URL, resolve: Resolve, allowPrivate: boolean): LookupFunction {
  if (!allowPrivate && isPrivateHost(url.hostname)) throw new PrivateAddressError();
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (!first) return callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
        if (!allowPrivate && !found.every(({ address }) => isPublicAddress(address)))
          return callback(new PrivateAddressError(), '');
        if (options.all) return callback(null, withoutRepeats(found));
        return callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/** Removes duplicate addresses. */
function withoutRepeats(found: LookupAddress[]): LookupAddress[] {
  return [...new Map(found.map((one) => [one.address, one])).values()];
}

type IPv6 = InstanceType<typeof ipaddr.IPv6>;

/** The address space allocated to networks so far; anything else is not routable (IANA IPv6 address space). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** The address range of NAT64, "the Well-Known Prefix" (RFC 6052 §2.1). */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * The wire server of Azure, reachable from every virtual machine there, hands out configuration with secrets. Its
 * address is public by the registries but unused elsewhere.
 */
const AZURE_WIRE_SERVER = '168.63.129.16';

/**
 * Reports whether an address belongs to the public Internet: not private, loopback, link-local, multicast or otherwise
 * special, and not an IPv6 form of such an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const one = ipaddr.parse(address);
  if (one instanceof ipaddr.IPv4) return isPublicIPv4(one);
  // An address with a zone is on a local link (RFC 4007 §6).
  if (one.zoneId) return false;
  const inner = embeddedIPv4(one);
  if (inner) return isPublicIPv4(inner);
  return one.match(globalUnicast) && one.range() === 'unicast';
}

function isPublicIPv4(address: InstanceType<typeof ipaddr.IPv4>): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_WIRE_SERVER;
}

/** Returns the IPv4 address that an IPv6 address is translated to, if any. */
function embeddedIPv4(address: IPv6): InstanceType<typeof ipaddr.IPv4> | undefined {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(nat64)) return ipv4At(address, 12);
  // In an address of 6to4, the IPv4 address follows the first 16 bits: "2002:V4ADDR::/48" (RFC 3056 §2).
  return address.range() === '6to4' ? ipv4At(address, 2) : undefined;
}

function ipv4At(address: IPv6, from: number): InstanceType<typeof ipaddr.IPv4> {
  return new ipaddr.IPv4(address.toByteArray().slice(from, from + 4));
}

/** Reports whether the host of a URL is a private address or a localhost name. Other names are checked when they are resolved. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (ipaddr.isValid(host)) return !isPublicAddress(host);
  // A name below `localhost` is a loopback address: "Users may assume that IPv4 and IPv6 address queries for localhost
  // names will always resolve to the respective IP loopback address" (RFC 6761 §6.3).
  return host === 'localhost' || host.endsWith('.localhost');
}

/** Resolves a name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const TIMEOUT_MS = 2_000;

/**
 * Resolves a name through the DNS servers. The system's own look-up occupies one of the few threads of the process
 * while it waits, so unresponsive DNS servers would block all requests. It is used only for names that the DNS servers
 * do not know, e.g. from the hosts file, which it answers quickly.
 */
export async function resolveName(hostname: string): Promise<LookupAddress[]> {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: 2 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [...toAddresses(four, 4), ...toAddresses(six, 6)];
  if (found.length > 0) return found;
  const late = [four, six].find((answer) => answer.status === 'rejected' && isTimeout(answer.reason));
  if (late?.status === 'rejected') throw late.reason;
  return dns.lookup(hostname, { all: true });
}

function toAddresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

function isTimeout(error: unknown): boolean {
  return errorCode(error) === 'ETIMEOUT';
}

/** The `code` of a Node error; '' if there is none. */
export function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
