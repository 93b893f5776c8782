import ipaddr from 'ipaddr.js';

/** Tells whether an address, as a socket has it, belongs to those meant. */
export type Addresses = (address: string | undefined) => boolean;

type Address = ReturnType<typeof ipaddr.process>;

/** Words for whole ranges, by what a range is called in the IANA registries of special addresses (RFC 6890). */
const words: Record<string, string[]> = {
  loopback: ['loopback'],
  private: ['private', 'uniqueLocal', 'linkLocal'],
};

/** Whether an entry of TRUSTED_PROXIES can be read: an address, a range in CIDR notation, or one of two words. */
export function isProxyEntry(entry: string): boolean {
  return Object.hasOwn(words, entry) || ipaddr.isValidCIDR(entry) || isAddress(entry);
}

/** The addresses that the entries name; none of them can be unreadable. */
export function addressesOf(entries: string[]): Addresses {
  const tests = entries.map(testOf);
  return (address) => {
    if (tests.length === 0 || address === undefined || !ipaddr.isValid(address)) return false;
    // An IPv4 client of an IPv6 socket comes as ::ffff:10.0.0.1.
    const one = ipaddr.process(address);
    return tests.some((isMeant) => isMeant(one));
  };
}

/** The addresses of this machine that no other can have. */
export const isLoopback = addressesOf(['loopback']);

/** Not what ipaddr.js reads beside the usual forms: numbers without dots, octal and shortened ones. */
function isAddress(entry: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(entry) || ipaddr.IPv6.isValid(entry);
}

function testOf(entry: string): (address: Address) => boolean {
  const ranges = words[entry];
  if (ranges) return (address) => ranges.includes(address.range());
  const [network, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.process(entry), undefined];
  const length = bits ?? (network.kind() === 'ipv4' ? 32 : 128);
  return (address) => address.kind() === network.kind() && address.match(network, length);
}
