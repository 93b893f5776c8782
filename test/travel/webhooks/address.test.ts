import {
  guardedLookup,
  isPrivateHost,
  isPublicAddress,
  PrivateAddressError,
} from '../../../src/http/address-guard.ts';
import { webhookFixture } from './fixture.ts';

const inner = [
  // IPv4: "this" network, private, shared, loopback, link-local, special use, multicast, reserved, broadcast.
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  ...['100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.255', '169.254.0.1', '169.254.169.254'],
  // The wire server of Azure hands out secrets to virtual machines at a public address.
  '168.63.129.16',
  ...['192.0.0.8', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  // The corresponding ranges of IPv6.
  ...['::', '::1', 'fe80::1', 'febf::1', 'fec0::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '100::1'],
  ...['2001:db8::1', '2001::1', '2001:2::1', '3fff::1', '5f00::1', '4000::1', '::2', 'fe80::1%eth0'],
  // Embedded IPv4 addresses: mapped, compatible, translated, NAT64, 6to4.
  ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1', '::ffff:0:10.0.0.1'],
  ...['64:ff9b::127.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1'],
  ...['::ffff:168.63.129.16', '64:ff9b::168.63.129.16', '2002:a83f:8110::1'],
  ...['2002:7f00:1::', '2002:a00:1::1', '2002:c0a8:101::1', '2002:a9fe:a9fe::1'],
];
const outer = [
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '168.63.129.15',
    '168.63.129.17',
    '100.63.255.255',
    '100.128.0.1',
  ],
  ...['2606:4700::1111', '2a00:1450:4001::1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1'],
];

describe('an address', () => {
  test.each(inner)('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(outer)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test('a text that is no address is not public', () => {
    for (const text of ['', 'example.com', '300.1.1.1', '::g']) expect(isPublicAddress(text)).toBe(false);
  });
});

/** Spellings in a URL; the parser reads them as browsers do (WHATWG URL, "host parsing"). */
const spellings = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
  ],
  ...['0', '0.0.0.0', '0x0', '127.0.0.1.', '127%2e0%2e0%2e1', '１２７.0.0.1', '①②⑦.⓪.⓪.①'],
  ...['10.1', '0xa.1', '012.1', '167772161', '172.16.1', '192.168.257', '3232235777', '0xc0a80101'],
  ...[
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '100.64.1',
    '224.1',
    '255.255.255.255',
  ],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[fe80::1]',
    '[fd00::1]',
  ],
  ...['168.63.129.16', '2822734096', '0xa83f8110', '168.63.33040', '[::ffff:168.63.129.16]'],
  ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::127.0.0.1]', '[ff02::1]', '[2001:db8::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.b.localhost', 'ｌocalhost', 'loc%61lhost'],
];

describe('a URL', () => {
  const fixture = webhookFixture({ privateReceivers: false });
  const post = (url: string) => fixture.fixture.send('post', '/webhooks', { data: { url } });

  test.each(spellings)('with the host %s is private', (host) => {
    expect(isPrivateHost(new URL(`http://${host}/`).hostname)).toBe(true);
  });

  test('with a private host is refused in any spelling', async () => {
    for (const url of spellings.flatMap((host) => [`http://${host}/`, `https://${host}:8443/events`])) {
      const answer = await post(url);
      const fault = { field: 'url', value: url, code: 'url', message: expect.any(String) };
      expect([answer.status, answer.body.invalid]).toEqual([422, [fault]]);
    }
  });

  test('must be absolute, http or https, without credentials, and not too long', async () => {
    const wrong = [
      ...['', 'example.com/events', '//example.com/events', 'ftp://example.com/', 'file:///etc/passwd'],
      ...[
        'javascript:alert(1)',
        'data:text/plain,x',
        'gopher://example.com/',
        'http:example.com',
        'http:///',
      ],
      ...['https://', 'https://exa mple.com/', 'https://example.com/a b', 'https:\\\\example.com\\'],
      ...['http://[::1', 'https://user:password@example.com/', 'https://user@example.com/'],
      ...['https://example.com:99999/', ' https://example.com/', 'https://example.com/\n'],
      `https://example.com/${'x'.repeat(2048)}`,
    ];
    for (const url of wrong) {
      const answer = await post(url);
      expect([url, answer.status, answer.body.invalid]).toMatchObject([
        url,
        422,
        [{ field: 'url', code: 'url' }],
      ]);
    }
  });

  test('that is valid is stored unchanged', async () => {
    const right = [
      ...['https://example.com', 'http://example.com:8080/a/b?c=d#e', 'https://93.184.216.34/'],
      ...['HTTPS://EXAMPLE.COM/', 'https://[2606:4700::1111]/', 'https://bücher.example/'],
      'https://sub.localhost.example/',
    ];
    for (const url of right) {
      const answer = await post(url);
      expect([answer.status, answer.body.data?.url]).toEqual([201, url]);
    }
  });

  test('that is valid stays valid when other fields change, and cannot be changed to a private one', async () => {
    const { id } = await fixture.createWebhook({ url: 'https://example.com/' });
    const change = (data: object) => fixture.fixture.send('patch', `/webhooks/${id}`, { data });
    expect((await change({ disabled: true })).status).toBe(200);
    expect((await change({ url: 'http://127.1/' })).status).toBe(422);
    const put = await fixture.fixture.send('put', `/webhooks/${id}`, { data: { url: 'http://[::1]/' } });
    expect(put.status).toBe(422);
  });
});

describe('a name', () => {
  const answers = new Map<string, string[]>();
  let asked: string[] = [];
  const fixture = webhookFixture({
    privateReceivers: false,
    resolve: async (hostname) => {
      asked.push(hostname);
      return (answers.get(hostname) ?? []).map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      }));
    },
  });
  beforeEach(() => {
    asked = [];
  });

  // Loopback addresses only: a broken guard would connect to them.
  test.each([[['127.0.0.1']], [['::1']], [['::1', '127.0.0.1']], [['::ffff:127.0.0.1']]])(
    'that resolves to %j is not connected to, and the history contains the reason',
    async (addresses) => {
      const receiver = await fixture.openReceiver();
      answers.set('hooks.example.com', addresses);
      const { id } = await fixture.createWebhook({
        url: `http://hooks.example.com:${receiver.port}/`,
        events: ['costCenter.created'],
      });
      await fixture.createEvent('one');
      await fixture.deliverAll();
      const [delivery] = await fixture.listDeliveries(id);
      expect(delivery).toMatchObject({
        status: 'pending',
        attempts: [{ error: 'the host leads to a private address' }],
      });
      expect([asked, receiver.received.length]).toEqual([['hooks.example.com'], 0]);
    },
  );

  test('that does not resolve is a failed attempt', async () => {
    const { id } = await fixture.createWebhook({
      url: 'http://nobody.example.com/',
      events: ['costCenter.created'],
    });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    expect(await fixture.listDeliveries(id)).toMatchObject([
      { attempts: [{ error: 'the host is not known' }] },
    ]);
  });
});

describe('where private addresses are allowed', () => {
  const names: string[] = [];
  const fixture = webhookFixture({
    resolve: async (hostname) => {
      names.push(hostname);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });

  test('the connection uses the resolved address', async () => {
    const receiver = await fixture.openReceiver();
    await fixture.createWebhook({
      url: `http://hooks.example.com:${receiver.port}/`,
      events: ['costCenter.created'],
    });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    expect(receiver.received.map(({ headers }) => headers.host)).toEqual([
      `hooks.example.com:${receiver.port}`,
    ]);
    expect(names).toEqual(['hooks.example.com']);
  });
});

test('the look-up returns one address, or all if all are requested', async () => {
  const found = ['1.1.1.1', '2606:4700::1111', '1.1.1.1'].map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  const lookup = guardedLookup(new URL('http://example.com/'), async () => found, false);
  const ask = (all: boolean) =>
    new Promise((resolve) => lookup('example.com', { all }, (...answer) => resolve(answer)));
  expect(await ask(false)).toEqual([null, '1.1.1.1', 4]);
  expect(await ask(true)).toEqual([null, found.slice(0, 2)]);
  expect(() => guardedLookup(new URL('http://[::1]/'), async () => found, false)).toThrow(
    PrivateAddressError,
  );
});

// Calls the look-up only: even a broken guard would connect nowhere.
test.each([
  [['10.0.0.1', '93.184.216.34']],
  [['93.184.216.34', '169.254.169.254']],
  [['64:ff9b::7f00:1']],
  [['168.63.129.16']],
  [['93.184.216.34', '168.63.129.16']],
  [['::ffff:a83f:8110']],
])(
  'the look-up refuses a name that resolves to a private address or to the wire server of Azure (%j)',
  async (addresses) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const lookup = guardedLookup(new URL('http://hooks.example.com/'), async () => found, false);
    for (const all of [false, true]) {
      const error = await new Promise((resolve) =>
        lookup('hooks.example.com', { all }, (refusal) => resolve(refusal)),
      );
      expect(error).toBeInstanceOf(PrivateAddressError);
    }
  },
);
