import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { encryption } from '../../../src/store/credentials/encryption.ts';
import { webhookRecords } from '../../../src/store/travel/webhook-deliveries.ts';
import { DAY, HOUR, webhookFixture } from './fixture.ts';
import { type ReceivedRequest, signatureByHand } from './receiver.ts';

const fixture = webhookFixture();
const created = { events: ['costCenter.created'] };
const signatures = ({ headers }: ReceivedRequest) => String(headers['webhook-signature']).split(' ');

/** Creates a cost center and returns the request that the receiver gets. */
async function told(receiver: { received: ReceivedRequest[] }): Promise<ReceivedRequest> {
  await fixture.createEvent('Research');
  await fixture.deliverAll();
  const last = receiver.received.at(-1);
  if (!last) throw new Error('nothing came');
  return last;
}

const replaced = async (id: string): Promise<string> => {
  const { status, body } = await fixture.fixture.send('post', `/webhooks/${id}/secret`);
  expect(status).toBe(200);
  return body.data.secret;
};

test('a secret is whsec_ and 32 random bytes in base64, different for each webhook', async () => {
  const url = 'https://example.com/';
  const secrets = [
    (await fixture.createWebhook({ url })).secret,
    (await fixture.createWebhook({ url })).secret,
  ];
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    expect(() => new Webhook(secret)).not.toThrow();
  }
  expect(secrets[0]).not.toBe(secrets[1]);
});

test('a secret is returned when it is created, and in no other response', async () => {
  const { id, secret } = await fixture.createWebhook({ url: 'https://example.com/', description: 'x' });
  const item = `/webhooks/${id}`;
  const answers = [
    await fixture.fixture.send('get', item),
    await fixture.fixture.send('get', '/webhooks'),
    await fixture.fixture.send('patch', item, { data: { description: 'y' } }),
    await fixture.fixture.send('put', item, { data: { url: 'https://example.com/' } }),
    await fixture.fixture.send('get', '/events?limit=100'),
    await fixture.fixture.send('get', `${item}/deliveries`),
    await fixture.fixture.send('delete', item),
  ];
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(text).not.toContain(secret.slice(6));
    expect(text).not.toContain('"secret"');
  }
});

test('a body that contains a secret is refused', async () => {
  const secret = `whsec_${'A'.repeat(43)}=`;
  const answer = await fixture.fixture.send('post', '/webhooks', {
    data: { url: 'https://example.com/', secret },
  });
  expect([answer.status, answer.body.invalid]).toMatchObject([422, [{ field: 'secret', code: 'readOnly' }]]);
});

test('a new secret is returned once; for 24 hours both sign, the new one first, and then it alone', async () => {
  const receiver = await fixture.openReceiver();
  const { secret: first, id } = await fixture.createWebhook({ url: receiver.url, ...created });
  const second = await replaced(id);
  expect(second).toMatch(/^whsec_/);
  expect(second).not.toBe(first);
  const both = await told(receiver);
  expect(signatures(both)).toEqual([signatureByHand(second, both), signatureByHand(first, both)]);
  fixture.fixture.advanceClock(DAY - 1);
  expect(signatures(await told(receiver))).toHaveLength(2);
  fixture.fixture.advanceClock(1);
  const alone = await told(receiver);
  expect(signatures(alone)).toEqual([signatureByHand(second, alone)]);
});

test('a secret that was replaced earlier keeps its own end', async () => {
  const receiver = await fixture.openReceiver();
  const { secret: first, id } = await fixture.createWebhook({ url: receiver.url, ...created });
  const second = await replaced(id);
  fixture.fixture.advanceClock(HOUR);
  const third = await replaced(id);
  const three = await told(receiver);
  expect(signatures(three)).toEqual([third, second, first].map((secret) => signatureByHand(secret, three)));
  fixture.fixture.advanceClock(23 * HOUR);
  const two = await told(receiver);
  expect(signatures(two)).toEqual([third, second].map((secret) => signatureByHand(secret, two)));
  const before = fixture.fixture.runtime.now();
  expect(await fixture.fixture.records.deleteEndedSecrets(before + 1, 10)).toBe(1);
  expect(signatures(await told(receiver))).toHaveLength(2);
});

test('a new secret requires an existing webhook and POST', async () => {
  expect((await fixture.fixture.send('post', '/webhooks/abcdefabcdefabcdefabcdef/secret')).status).toBe(404);
  const { id } = await fixture.createWebhook({ url: 'https://example.com/' });
  for (const method of ['get', 'put', 'patch', 'delete'] as const) {
    expect((await fixture.fixture.send(method, `/webhooks/${id}/secret`)).status).toBe(403);
  }
});

test('a secret is stored encrypted and deleted with its webhook', async () => {
  const { id, secret } = await fixture.createWebhook({ url: 'https://example.com/' });
  const { rows } = await sql<{ sealed: string }>`select sealed from travel_secret`.execute(
    fixture.fixture.database.db,
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.sealed).toMatch(/^1\.[0-9a-f]{8}\.[\w-]+$/);
  expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
  expect(await fixture.fixture.dump()).not.toContain(secret.slice(6));
  await fixture.fixture.send('delete', `/webhooks/${id}`);
  const left = await sql<object>`select * from travel_secret`.execute(fixture.fixture.database.db);
  expect(left.rows).toEqual([]);
});

test('with another encryption key nothing is sent, and the history contains the remedy', async () => {
  const receiver = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
  // Simulates a start with another key.
  const { records, database } = fixture.fixture;
  const stranger = webhookRecords(database, encryption(new Uint8Array(32)));
  records.activeSecrets = stranger.activeSecrets;
  await fixture.createEvent('Research');
  await fixture.deliverAll();
  expect(await fixture.listDeliveries(id)).toMatchObject([
    { status: 'pending', attempts: [{ error: 'the secret cannot be read: make a new one' }] },
  ]);
  expect(receiver.received).toEqual([]);
  expect(fixture.fixture.logged).toHaveLength(1);
});
