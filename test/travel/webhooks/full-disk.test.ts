import { sql } from 'kysely';
import { eventually } from '../../fixtures/eventually.ts';
import { deskOf, names, SECOND } from './desk.ts';

const desk = deskOf();
const created = { events: ['costCenter.created'] };

/** Every write fails from now on, as on a full disk; reads work. */
const forbidWrites = () => sql`pragma query_only = on`.execute(desk.fixture.database.db);
const allowWrites = () => sql`pragma query_only = off`.execute(desk.fixture.database.db);

test('while the disk is full nothing is sent, nothing spins, and what waits is sent afterwards', async () => {
  const receiver = await desk.receiver();
  await desk.webhook({ url: receiver.url, ...created });
  await desk.happen('one');
  await forbidWrites();
  const running = desk.fixture.webhooks.run();
  for (let second = 0; second < 30; second += 1) {
    desk.fixture.pass(SECOND);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  }
  expect(names(receiver)).toEqual([]);
  expect(desk.fixture.logged.length).toBeGreaterThan(0);
  expect(desk.fixture.logged.length).toBeLessThan(10);
  await allowWrites();
  await eventually(async () => {
    desk.fixture.pass(SECOND);
    expect(names(receiver)).toEqual(['one']);
  }, 5_000);
  await running.stop();
});

test('a webhook that is disabled just before the disk is full has its deliveries canceled afterwards', async () => {
  const receiver = await desk.receiver();
  const { id } = await desk.webhook({ url: receiver.url, ...created });
  receiver.feel(500);
  await desk.happen('one');
  await desk.settle();
  await desk.fixture.send('patch', `/webhooks/${id}`, { data: { disabled: true } });
  await forbidWrites();
  await expect(desk.settle()).rejects.toThrow('attempt to write a readonly database');
  await allowWrites();
  await desk.settle();
  expect((await desk.deliveries(id)).map(({ status }) => status)).toEqual(['canceled']);
});

test('a write is answered 503 with Retry-After, and a read 200', async () => {
  await forbidWrites();
  const answer = await desk.fixture.send('post', '/cost-centers', { data: { name: 'Paris' } });
  expect([answer.status, answer.headers['retry-after'], answer.body]).toEqual([
    503,
    '5',
    { code: 'internalError', message: 'Nothing can be stored at the moment; try again.' },
  ]);
  expect((await desk.fixture.send('get', '/cost-centers')).status).toBe(200);
});
