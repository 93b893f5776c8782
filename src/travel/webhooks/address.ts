import ipaddr from 'ipaddr.js';

type IPv6 = InstanceType<typeof ipaddr.IPv6>;

/** What has been given to networks so far; whatever else there may be is not the Internet (IANA IPv6 address space). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** "the Well-Known Prefix" of NAT64 (RFC 6052 §2.1). */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * The wire server of Azure, which every virtual machine there reaches, and which hands out its configuration; the
 * address is public by the registries, and no other network can use it.
 */
const AZURE_WIRE_SERVER = '168.63.129.16';

/**
 * Whether an address is one of the Internet: not private, loopback, link-local, multicast or of any other special use,
 * and not such a one written inside an IPv6 address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const one = ipaddr.parse(address);
  if (one instanceof ipaddr.IPv4) return isPublicIPv4(one);
  // A zone is a network next to this machine (RFC 4007 §6).
  if (one.zoneId) return false;
  const inner = embedded(one);
  if (inner) return isPublicIPv4(inner);
  return one.match(globalUnicast) && one.range() === 'unicast';
}

function isPublicIPv4(address: InstanceType<typeof ipaddr.IPv4>): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_WIRE_SERVER;
}

/** The IPv4 address to which an IPv6 address leads in the end. */
function embedded(address: IPv6): InstanceType<typeof ipaddr.IPv4> | undefined {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(nat64)) return octets(address, 12);
  // "2002:V4ADDR::/48" (RFC 3056 §2)
  return address.range() === '6to4' ? octets(address, 2) : undefined;
}

function octets(address: IPv6, from: number): InstanceType<typeof ipaddr.IPv4> {
  return new ipaddr.IPv4(address.toByteArray().slice(from, from + 4));
}

/** Whether the host of a URL by itself says that it is not one of the Internet; a name mostly says nothing. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (ipaddr.isValid(host)) return !isPublicAddress(host);
  // "Users may assume that IPv4 and IPv6 address queries for localhost names will always resolve to the respective IP loopback address" (RFC 6761 §6.3)
  return host === 'localhost' || host.endsWith('.localhost');
}
