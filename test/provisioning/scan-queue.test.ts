import { scanQueue } from '../../src/provisioning/users/list-users.ts';
import { clock } from '../fixtures/clock.ts';

/** A gate that work waits for until it is opened. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('short work never waits', async () => {
  const time = clock();
  const { run: take } = scanQueue(time);
  const { opened, open } = gate();
  const long = take('okta', async (step) => {
    time.advance(5);
    await step();
    await opened;
  });
  const short = take('okta', async (step) => {
    time.advance(4);
    await step();
    return 'done';
  });
  expect(await short).toBe('done');
  open();
  await long;
});

test('long work of one connection runs one after the other, and beside that of another connection', async () => {
  const time = clock();
  const { run: take } = scanQueue(time);
  const done: string[] = [];
  const { opened, open } = gate();
  const work = (name: string, connection: string, wait: Promise<void>) =>
    take(connection, async (step) => {
      time.advance(5);
      await step();
      await wait;
      done.push(name);
    });
  const first = work('first', 'okta', opened);
  const second = work('second', 'okta', Promise.resolve());
  const third = work('third', 'okta', Promise.resolve());
  await work('other', 'entra', Promise.resolve());
  expect(done).toEqual(['other']);
  open();
  await Promise.all([first, second, third]);
  expect(done).toEqual(['other', 'first', 'second', 'third']);
});

test('work that fails ends its turn', async () => {
  const time = clock();
  const { run: take } = scanQueue(time);
  const failing = take('okta', async (step) => {
    time.advance(5);
    await step();
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
  const next = take('okta', async (step) => {
    time.advance(5);
    await step();
    return 'done';
  });
  expect(await next).toBe('done');
});

test('long work yields to other requests every 5 ms', async () => {
  const time = clock();
  const { run: take } = scanQueue(time);
  let others = 0;
  let isOver = false;
  const other = () => {
    others += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await take('okta', async (step) => {
    for (let ms = 0; ms < 100; ms += 1) {
      time.advance(1);
      await step();
    }
  });
  isOver = true;
  expect(others).toBeGreaterThanOrEqual(20);
});

test('work that takes more than 5 seconds, waiting included, fails with tooMany', async () => {
  const time = clock();
  const { run: take } = scanQueue(time);
  let steps = 0;
  const endless = take('okta', async (step) => {
    for (;;) {
      time.advance(200);
      await step();
      steps += 1;
    }
  });
  const waiting = take('okta', async (step) => {
    time.advance(100);
    await step();
  });
  await expect(endless).rejects.toMatchObject({ kind: 'tooMany' });
  time.advance(500);
  await expect(waiting).rejects.toMatchObject({ kind: 'tooMany' });
  expect(steps).toBeGreaterThan(20);
});
