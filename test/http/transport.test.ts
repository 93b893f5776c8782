import type { Request } from 'express';
import { addressPredicate, isAddressEntry, isLoopback, transportReader } from '../../src/http/proxies.ts';

/** The properties of a request that its transport depends on. */
interface TransportCase {
  from: string;
  to?: string;
  tls?: boolean;
  headers?: Record<string, string>;
}

function transportOf(
  { from, to = '192.0.2.1', tls = false, headers = {} }: TransportCase,
  trusted: string[],
): string {
  const socket = { remoteAddress: from, localAddress: to, ...(tls ? { encrypted: true } : {}) };
  return transportReader(addressPredicate(trusted), isLoopback)({ socket, headers } as unknown as Request);
}

const proto = (scheme: string) => ({ 'x-forwarded-proto': scheme });
const forwarded = (text: string) => ({ forwarded: text });
const PROXY = '10.1.2.3';

test.each<[string, TransportCase, string]>([
  ['by TLS', { from: '203.0.113.9', tls: true }, 'https'],
  ['without TLS from another machine', { from: '203.0.113.9' }, 'plain'],
  ['from loopback', { from: '127.0.0.1' }, 'local'],
  ['from loopback over IPv6', { from: '::1' }, 'local'],
  ['from loopback, on a dual-stack socket', { from: '::ffff:127.0.0.1' }, 'local'],
  ['to loopback', { from: '203.0.113.9', to: '127.0.0.1' }, 'local'],
  ['by a trusted proxy that says https', { from: PROXY, headers: proto('https') }, 'https'],
  [
    'by a trusted proxy, on a dual-stack socket',
    { from: `::ffff:${PROXY}`, headers: proto('https') },
    'https',
  ],
  ['by a trusted proxy that says HTTPS', { from: PROXY, headers: proto(' HTTPS ') }, 'https'],
  ['by a trusted proxy that says http', { from: PROXY, headers: proto('http') }, 'plain'],
  ['by a trusted proxy without a header', { from: PROXY }, 'plain'],
  ['by two proxies, the first by https', { from: PROXY, headers: proto('https, http') }, 'https'],
  ['by two proxies, the first by http', { from: PROXY, headers: proto('http, https') }, 'plain'],
  [
    'by a trusted proxy with TLS to the service, but not to its client',
    { from: PROXY, tls: true, headers: proto('http') },
    'plain',
  ],
  [
    'by Forwarded',
    { from: PROXY, headers: forwarded('for=192.0.2.43;proto=https;by=203.0.113.60') },
    'https',
  ],
  [
    'by Forwarded, quoted',
    { from: PROXY, headers: forwarded('Proto="https"; for="[2001:db8::1]"') },
    'https',
  ],
  ['by Forwarded, http first', { from: PROXY, headers: forwarded('proto=http, proto=https') }, 'plain'],
  ['by Forwarded without a scheme', { from: PROXY, headers: forwarded('for=192.0.2.43') }, 'plain'],
  [
    'by headers that contradict each other',
    { from: PROXY, headers: { ...proto('https'), ...forwarded('proto=http') } },
    'plain',
  ],
  [
    'by an untrusted peer that claims to be a proxy',
    { from: '203.0.113.9', headers: proto('https') },
    'plain',
  ],
  [
    'by an untrusted peer that sends Forwarded',
    { from: '203.0.113.9', headers: forwarded('proto=https') },
    'plain',
  ],
  [
    'from loopback, which is not a trusted proxy here',
    { from: '127.0.0.1', headers: proto('http') },
    'local',
  ],
])('the transport of a request %s', (_title, transportCase, expected) => {
  expect(transportOf(transportCase, ['10.0.0.0/8'])).toBe(expected);
});

test('a proxy on the same machine can report an unencrypted client', () => {
  expect(transportOf({ from: '127.0.0.1', headers: proto('http') }, ['loopback'])).toBe('plain');
});

test.each<[string, string[], string[]]>([
  ['10.0.0.7', ['10.0.0.7', '::ffff:10.0.0.7'], ['10.0.0.8', '::1']],
  ['10.0.0.0/8', ['10.0.0.7', '10.255.0.1'], ['11.0.0.1', 'fd00::1']],
  ['fd00::/8', ['fd00::1'], ['fe80::1', '10.0.0.1']],
  ['2001:db8::1', ['2001:db8::1', '2001:db8:0:0::1'], ['2001:db8::2']],
  ['loopback', ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'], ['10.0.0.1', '126.0.0.1']],
  [
    'private',
    ['10.0.0.1', '172.16.0.1', '192.168.1.1', 'fd00::1', '169.254.0.1', 'fe80::1'],
    ['172.32.0.1', '8.8.8.8', '127.0.0.1'],
  ],
])('%s names those addresses and no others', (entry, members, others) => {
  expect(isAddressEntry(entry)).toBe(true);
  const isMeant = addressPredicate([entry]);
  for (const address of members) expect([address, isMeant(address)]).toEqual([address, true]);
  for (const address of others) expect([address, isMeant(address)]).toEqual([address, false]);
  expect(isMeant(undefined)).toBe(false);
});

test.each([
  'proxy.example.com',
  '10',
  '0x0a000001',
  '10.0.0.300',
  '10.0.0.0/33',
  'constructor',
  '*',
  '10.0.0.1-9',
])('%s names no address', (entry) => expect(isAddressEntry(entry)).toBe(false));
