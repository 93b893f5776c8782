import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { addressGroup, addressPredicate, clientAddress } from '../../src/http/proxies.ts';

const isTrusted = addressPredicate(['10.0.0.0/8', 'loopback']);
const PROXY = '10.1.2.3';

function addressOf(remoteAddress: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, isTrusted);
}

test.each([
  ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
  ['::ffff:198.51.100.7', undefined, '198.51.100.7'],
  [PROXY, undefined, PROXY],
  [PROXY, '203.0.113.9', '203.0.113.9'],
  [`::ffff:${PROXY}`, '203.0.113.9', '203.0.113.9'],
  [PROXY, '192.0.2.1, 203.0.113.9', '203.0.113.9'],
  [PROXY, '192.0.2.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
  [PROXY, '10.7.7.7, 10.9.9.9', '10.7.7.7'],
  [PROXY, '203.0.113.9:50123', '203.0.113.9'],
  [PROXY, '[2001:db8::1]:443', '2001:db8::1'],
  [PROXY, '::ffff:203.0.113.9', '203.0.113.9'],
  [PROXY, 'fe80::1%ada', 'fe80::1'],
  [PROXY, 'ada@corp.example', PROXY],
  [PROXY, 'ada@corp.example, 10.9.9.9', '10.9.9.9'],
  [PROXY, '', PROXY],
])('a request from %s with X-Forwarded-For %j is from %s', (socket, forwarded, expected) => {
  expect(addressOf(socket, forwarded)).toBe(expected);
});

test('whatever a trusted proxy sends, the client address is one of the addresses in the request', () => {
  const entry = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string(),
    fc.ipV4().map((ip) => `${ip}:80`),
  );
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const address = addressOf(PROXY, entries.join(','));
      expect(isIP(address)).not.toBe(0);
    }),
  );
});

test('addresses of one IPv6 /64 network are one group, and no others', () => {
  const parts = fc.tuple(...Array.from({ length: 8 }, () => fc.integer({ min: 1, max: 0xffff })));
  const text = (numbers: number[]) => numbers.map((part) => part.toString(16)).join(':');
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const neighbour = [...one.slice(0, 4), ...other.slice(4)];
      expect(addressGroup(text(neighbour))).toBe(addressGroup(text(one)));
      const isSame = text(one.slice(0, 4)) === text(other.slice(0, 4));
      expect(addressGroup(text(other)) === addressGroup(text(one))).toBe(isSame);
    }),
  );
  expect(addressGroup('::ffff:c000:201')).toBe('192.0.2.1');
  expect(addressGroup('192.0.2.1')).toBe('192.0.2.1');
});
