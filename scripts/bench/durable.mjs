import { client } from './client.mjs';
import { nextNumber } from './contenders.mjs';
import { scimToken } from './data.mjs';
import { newPerson } from './person.mjs';
import { printProgress } from './progress.mjs';
import { jetbridge, remoteEnvironment, settingsFile } from './service.mjs';
import { overRounds, percentile } from './statistics.mjs';
import { spreadCells, tableOf, tableText, verdictText } from './table.mjs';
import { travelApi } from './travel.mjs';

const CLIENTS = 32;
const POSTS = 3_000;
const LEAST_PER_SECOND = 600;
const MOST_P99_MS = 250;

/**
 * POSTs of new people by 32 clients to the embedded database, which waits for the disk, with a travel API in another process.
 * Each client sends its next request when it has the answer to the last. Returns the rounds; the first is not counted.
 */
export async function measureDurable(place, rounds) {
  const travel = await travelApi(place, {});
  const settings = settingsFile(place, { perSecond: 1_000, concurrency: CLIENTS });
  const name = 'durable';
  const environment = remoteEnvironment(place, { name, travel, settings });
  const { url, usage } = await jetbridge(place, name, environment);
  const all = [];
  for (let round = 0; round <= rounds; round += 1) {
    printProgress(`durable POSTs: round ${round}`);
    const figures = await postAll(url, usage);
    if (round > 0) all.push(figures);
  }
  return all;
}

async function postAll(url, usage) {
  const { send, close } = client(CLIENTS);
  const latencies = [];
  let left = POSTS;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      const body = newPerson(`durable${nextNumber()}`);
      const { status, text } = await send(`${url}/scim/v2`, scimToken, {
        method: 'POST',
        path: '/Users',
        body,
      });
      if (status !== 201) throw new Error(`POST /Users: ${status} ${text.slice(0, 300)}`);
      latencies.push(performance.now() - began);
    }
  };
  const before = await usage();
  const began = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, lane)).finally(close);
  const seconds = (performance.now() - began) / 1_000;
  const after = await usage();
  return {
    perSecond: POSTS / seconds,
    cpu: (after.cpu - before.cpu) / POSTS,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

/** The rate and the latency over the rounds. */
export function durableTable(rounds) {
  const table = tableOf(['', 'min', 'median', 'max', 'promise'], 1);
  const spreadOf = (key) => overRounds(rounds, (round) => round[key]);
  const rate = spreadOf('perSecond');
  const p99 = spreadOf('p99');
  const promised = `at least ${LEAST_PER_SECOND}: ${verdictText(rate.median >= LEAST_PER_SECOND)}`;
  table.push(['POSTs a second', ...spreadCells(rate), promised]);
  table.push(['CPU us each', ...spreadCells(spreadOf('cpu')), '']);
  table.push(['median ms', ...spreadCells(spreadOf('p50')), '']);
  table.push([
    '99th percentile ms',
    ...spreadCells(p99),
    `below ${MOST_P99_MS}: ${verdictText(p99.median < MOST_P99_MS)}`,
  ]);
  return tableText(table);
}
