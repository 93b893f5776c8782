import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { client } from './client.mjs';
import { nextNumber } from './contenders.mjs';
import { travelKey } from './data.mjs';
import { launch, script } from './program.mjs';
import { say } from './progress.mjs';
import { overRounds } from './statistics.mjs';
import { isMet, tableOf, textOf, threeOf } from './table.mjs';

/** What the request log may add to a request. */
const MOST = 1.05;
const CONNECTIONS = 10;
/** The log is written a moment after the answers: that belongs to the round before. */
const WRITTEN_MS = 300;

const ASKED = [
  { name: 'GET one user', amount: 2_000, ask: (id) => ({ path: `/users/${id}` }) },
  {
    name: 'PATCH a user',
    amount: 600,
    ask: (id) => ({
      ...{ path: `/users/${id}`, method: 'PATCH', mediaType: 'application/json' },
      body: { data: { firstName: `Ada${nextNumber()}` } },
    }),
  },
];

/** What requests to the travel service cost with the request log and without, in turn, in microseconds of CPU. */
export async function measureRequestLog(place, rounds) {
  const folder = join(place.folder, 'request-log');
  mkdirSync(folder);
  const program = launch(place, { words: [script('logging.mjs'), folder], name: 'logging' });
  const { bases, id } = await program.told('logging');
  const measured = [];
  for (const { name, amount, ask } of ASKED) {
    say(`request log: ${name}`);
    const all = [];
    // The first round warms up, and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      const costs = {};
      // Who is first changes from round to round.
      const order = round % 2 === 0 ? ['without', 'withLog'] : ['withLog', 'without'];
      for (const which of order) {
        const base = bases[which === 'without' ? 0 : 1];
        costs[which] = await cost(program, { base, amount, asked: () => ask(id) });
      }
      if (round > 0) all.push(costs);
    }
    measured.push({ name, rounds: all });
  }
  return measured;
}

async function cost(program, { base, amount, asked }) {
  const { send, close } = client(CONNECTIONS);
  const before = await program.usage();
  let left = amount;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const { status, text } = await send(base, travelKey, asked());
      if (status !== 200) throw new Error(`the travel service answered ${status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane)).finally(close);
  await wait(WRITTEN_MS);
  return ((await program.usage()).cpu - before.cpu) / amount;
}

/** A line for each kind of request: what it costs, and how much more with the log. */
export function requestLogTable(measured) {
  const table = tableOf(['', 'us', 'with log', 'min', 'median', 'max', 'promise'], 1);
  for (const { name, rounds } of measured) {
    const median = (key) => overRounds(rounds, (round) => round[key]).median.toFixed(0);
    const ratio = overRounds(rounds, ({ without, withLog }) => withLog / without);
    const promise = `at most ${MOST}: ${isMet(ratio.median <= MOST)}`;
    table.push([name, median('without'), median('withLog'), ...threeOf(ratio), promise]);
  }
  return textOf(table);
}
