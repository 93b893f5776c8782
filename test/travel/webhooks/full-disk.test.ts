import { sql } from 'kysely';
import { eventually } from '../../fixtures/eventually.ts';
import { waitUntilIdle } from '../../fixtures/idle.ts';
import { receivedNames, SECOND, webhookFixture } from './fixture.ts';

const fixture = webhookFixture();
const created = { events: ['costCenter.created'] };

/** Every write fails from now on, as on a full disk; reads work. */
const forbidWrites = () => sql`pragma query_only = on`.execute(fixture.fixture.database.db);
const allowWrites = () => sql`pragma query_only = off`.execute(fixture.fixture.database.db);

test('while the disk is full nothing is sent and no loop spins; waiting deliveries are sent afterwards', async () => {
  const receiver = await fixture.openReceiver();
  await fixture.createWebhook({ url: receiver.url, ...created });
  await fixture.createEvent('one');
  await forbidWrites();
  const running = fixture.fixture.webhooks.run();
  for (let second = 0; second < 30; second += 1) {
    fixture.fixture.advanceClock(SECOND);
    await waitUntilIdle();
  }
  expect(receivedNames(receiver)).toEqual([]);
  expect(fixture.fixture.logged.length).toBeGreaterThan(0);
  expect(fixture.fixture.logged.length).toBeLessThan(10);
  await allowWrites();
  await eventually(async () => {
    fixture.fixture.advanceClock(SECOND);
    expect(receivedNames(receiver)).toEqual(['one']);
  });
  await running.stop();
});

test('a webhook that is disabled just before the disk is full has its deliveries canceled afterwards', async () => {
  const receiver = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
  receiver.behave(500);
  await fixture.createEvent('one');
  await fixture.deliverAll();
  await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { disabled: true } });
  await forbidWrites();
  await expect(fixture.deliverAll()).rejects.toThrow('attempt to write a readonly database');
  await allowWrites();
  await fixture.deliverAll();
  expect((await fixture.listDeliveries(id)).map(({ status }) => status)).toEqual(['canceled']);
});

test('a write is answered 503 with Retry-After, and a read 200', async () => {
  await forbidWrites();
  const answer = await fixture.fixture.send('post', '/cost-centers', { data: { name: 'Paris' } });
  expect([answer.status, answer.headers['retry-after'], answer.body]).toEqual([
    503,
    '5',
    { code: 'internalError', message: 'Nothing can be stored at the moment; try again.' },
  ]);
  expect((await fixture.fixture.send('get', '/cost-centers')).status).toBe(200);
});
