import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { client } from './client.mjs';
import { importTravelers, travelKey } from './data.mjs';
import { printProgress } from './progress.mjs';
import { settingsFile } from './service.mjs';

const PAGE = 100;
/** The number of travelers to which the promise in docs/architecture.md refers. */
const PROMISED = 100_000;
const ROUNDS = 3;

/**
 * Reads all travelers of one travel service by three ways in turn: pages of its API alone, an import into an empty database, and an
 * import of people who are known already. Returns the rates in travelers per second.
 */
export async function measureImports(place, services, rounds) {
  const service = services.findLast(({ size }) => size <= PROMISED) ?? services[0];
  // The limits of the settings are as high as possible, because the rate of the travel API itself is measured.
  const settings = settingsFile(place, { perSecond: 1_000, concurrency: 64 });
  const travel = { TRAVEL_API_URL: service.url, JETBRIDGE_CONFIG: settings };
  const all = [];
  for (let round = 1; round <= Math.min(rounds, ROUNDS); round += 1) {
    printProgress(`import of ${service.size}: round ${round}`);
    const paging = await pageThrough(service.url);
    const fresh = join(place.folder, 'fresh');
    mkdirSync(fresh);
    const [first, again] = await importTravelers(place, { folder: fresh, travel, times: 2 });
    rmSync(fresh, { recursive: true });
    all.push({ paging: rate(paging), first: rate(first), again: rate(again) });
  }
  return { size: service.size, rounds: all };
}

async function pageThrough(url) {
  const { send, close } = client(1);
  const began = performance.now();
  let read = 0;
  for (let total = 1; read < total; ) {
    const answer = await send(`${url}/api`, travelKey, { path: `/users?limit=${PAGE}&offset=${read}` });
    if (answer.status !== 200) throw new Error(`the travel API answered ${answer.status} ${answer.text}`);
    const { data, meta } = JSON.parse(answer.text);
    total = meta.total;
    read += data.length;
  }
  close();
  return { read, ms: performance.now() - began };
}

function rate({ read, ms }) {
  return (1_000 * read) / ms;
}
