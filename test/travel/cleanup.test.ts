import { cleanupJobs, runCleanupJobs } from '../../src/travel/deletion/cleanup.ts';
import { clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { DAY, MINUTE, webhookFixture } from './webhooks/fixture.ts';

describe('cleanup jobs', () => {
  // They remove 200 rows at a time.
  const fixture = webhookFixture();

  /** Runs all jobs until no work is left. */
  async function keep(): Promise<void> {
    const { store, now } = fixture.fixture.runtime;
    for (const job of cleanupJobs({ store, records: fixture.fixture.records, now })) while (await job.run());
  }

  test('remove events and deliveries after exactly thirty days', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, events: ['costCenter.created'] });
    await fixture.createEvents(Array.from({ length: 210 }, (_, number) => `center ${number}`));
    await fixture.deliverAll();
    const total = async (path: string) => (await fixture.fixture.send('get', path)).body.meta.total;
    const deliveries = `/webhooks/${id}/deliveries`;
    const events = await total('/events');
    fixture.fixture.advanceClock(30 * DAY);
    await keep();
    expect([await total('/events'), await total(deliveries)]).toEqual([events, 210]);
    fixture.fixture.advanceClock(1);
    await fixture.createEvent('young');
    await keep();
    expect([await total('/events'), await total(deliveries)]).toEqual([1, 1]);
    expect(await total('/cost-centers')).toBe(211);
  });

  test('remove the deliveries and the queue of a deleted webhook', async () => {
    const { id } = await fixture.createWebhook({
      url: 'https://example.com/',
      events: ['costCenter.created'],
    });
    await fixture.createEvents(Array.from({ length: 210 }, (_, number) => `center ${number}`));
    await fixture.fixture.send('delete', `/webhooks/${id}`);
    await keep();
    const { db } = fixture.fixture.database;
    expect(await db.selectFrom('travel_delivery').select('id').execute()).toEqual([]);
    expect(await db.selectFrom('travel_delivery_queue').select('webhook_id').execute()).toEqual([]);
  });

  test('remove secrets once they no longer sign', async () => {
    const { id } = await fixture.createWebhook({ url: 'https://example.com/' });
    await fixture.fixture.send('post', `/webhooks/${id}/secret`);
    const kept = async () =>
      (await fixture.fixture.database.db.selectFrom('travel_secret').select('sealed').execute()).length;
    fixture.fixture.advanceClock(DAY);
    await keep();
    expect(await kept()).toBe(2);
    fixture.fixture.advanceClock(1);
    await keep();
    expect(await kept()).toBe(1);
  });
});

describe('jobs', () => {
  const errors: object[] = [];
  const log = { error: (fields: object) => errors.push(fields) };

  test('run at once and then at their intervals, in batches with pauses, until they are stopped', async () => {
    const { wait, advance } = clock();
    const done = { often: 0, rarely: 0, inParts: 0 };
    const job = (name: keyof typeof done, everyMs: number, more: () => boolean) => ({
      name,
      everyMs,
      run: async () => {
        done[name] += 1;
        return more();
      },
    });
    const running = runCleanupJobs(
      [
        job('often', MINUTE, () => false),
        job('rarely', 5 * MINUTE, () => false),
        job('inParts', 5 * MINUTE, () => done.inParts % 3 !== 0),
      ],
      { wait, log },
    );
    const counts = (often: number, rarely: number, inParts: number) =>
      eventually(async () => expect(done).toEqual({ often, rarely, inParts }));
    await counts(1, 1, 1);
    advance(20);
    await counts(1, 1, 2);
    advance(20);
    await counts(1, 1, 3);
    advance(MINUTE);
    await counts(2, 1, 3);
    await running.stop();
    advance(5 * MINUTE);
    await counts(2, 1, 3);
  });

  test('that fail are logged and run again, and do not delay other jobs', async () => {
    const { wait, advance } = clock();
    let [broken, fine] = [0, 0];
    const running = runCleanupJobs(
      [
        {
          name: 'broken',
          everyMs: MINUTE,
          run: async () => {
            broken += 1;
            throw new Error('disk on fire');
          },
        },
        {
          name: 'fine',
          everyMs: MINUTE,
          run: async () => {
            fine += 1;
            return false;
          },
        },
      ],
      { wait, log },
    );
    await eventually(async () => expect([broken, fine]).toEqual([1, 1]));
    advance(MINUTE);
    await eventually(async () => expect([broken, fine]).toEqual([2, 2]));
    expect(errors).toMatchObject([{ job: 'broken' }, { job: 'broken' }]);
    await running.stop();
  });
});
