import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { client } from './client.mjs';
import { nextNumber } from './contenders.mjs';
import { travelKey } from './data.mjs';
import { fromSources, launch } from './program.mjs';
import { printProgress } from './progress.mjs';
import { overRounds } from './statistics.mjs';
import { spreadCells, tableOf, tableText, verdictText } from './table.mjs';

const CONNECTIONS = 10;
/** The log is written shortly after the responses; the cost of that belongs to the round before. */
const WRITTEN_MS = 800;

/** `most` is the promised limit of the cost with the log, in times the cost without it. */
const REQUESTS = [
  { name: 'GET one user', most: 1.25, amount: 2_000, requestOf: (id) => ({ path: `/users/${id}` }) },
  {
    name: 'PATCH a user',
    most: 1.2,
    amount: 600,
    requestOf: (id) => ({
      ...{ path: `/users/${id}`, method: 'PATCH', mediaType: 'application/json' },
      body: { data: { firstName: `Ada${nextNumber()}` } },
    }),
  },
];

/** Measures requests to the travel service with the request log and without, in turn, in microseconds of CPU. */
export async function measureRequestLog(place, rounds) {
  const folder = join(place.folder, 'request-log');
  mkdirSync(folder);
  const program = launch(place, { words: [...fromSources('logging.mjs'), folder], name: 'logging' });
  const { bases, id } = await program.receive('logging');
  const measured = [];
  for (const { name, most, amount, requestOf } of REQUESTS) {
    printProgress(`request log: ${name}`);
    const all = [];
    // The first round warms up, and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      const costs = {};
      // The two services are first in turn.
      const order = round % 2 === 0 ? ['without', 'withLog'] : ['withLog', 'without'];
      for (const which of order) {
        const base = bases[which === 'without' ? 0 : 1];
        costs[which] = await cost(program, { base, amount, makeRequest: () => requestOf(id) });
      }
      if (round > 0) all.push(costs);
    }
    measured.push({ name, most, rounds: all });
  }
  return measured;
}

async function cost(program, { base, amount, makeRequest }) {
  const { send, close } = client(CONNECTIONS);
  const before = await program.usage();
  let left = amount;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const { status, text } = await send(base, travelKey, makeRequest());
      if (status !== 200) throw new Error(`the travel service answered ${status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane)).finally(close);
  await wait(WRITTEN_MS);
  return ((await program.usage()).cpu - before.cpu) / amount;
}

/** Returns a row for each kind of request: its cost without the log, and the ratio of the cost with the log to it. */
export function requestLogTable(measured) {
  const table = tableOf(['', 'us', 'with log', 'min', 'median', 'max', 'promise'], 1);
  for (const { name, most, rounds } of measured) {
    const median = (key) => overRounds(rounds, (round) => round[key]).median.toFixed(0);
    const ratio = overRounds(rounds, ({ without, withLog }) => withLog / without);
    const promise = `at most ${most}: ${verdictText(ratio.median <= most)}`;
    table.push([name, median('without'), median('withLog'), ...spreadCells(ratio), promise]);
  }
  return tableText(table);
}
