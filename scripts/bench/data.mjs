import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, script } from './program.mjs';
import { say } from './progress.mjs';

/** The credentials of every data folder. */
export const scimToken = 'the-token-that-the-bench-uses-for-scim';
export const travelKey = 'the-key-that-the-bench-uses-for-travel';

/** How much of the work is done between two lines of progress. */
const TELL_EACH = 100_000;

/** A data folder with so many travelers, imported; `imported` is how long that took, unless an earlier run did it. */
export async function dataFolder({ folder, data }, size) {
  const place = join(data, String(size));
  const complete = join(place, 'complete');
  if (existsSync(complete)) return { place, imported: undefined };
  // What an interrupted run left.
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  await seed({ folder, place, size });
  say(`${size} users: importing them for the first time`);
  const [imported] = await importTravelers({ folder, name: `first-import-${size}`, place });
  writeFileSync(complete, '');
  return { place, imported };
}

async function seed({ folder, place, size }) {
  say(`${size} users: filling the travel service`);
  const program = launch({ words: [script('seed.mjs'), place, String(size)], folder, name: `seed-${size}` });
  tellEach(program, 'seeded', (count) => ({ read: count, total: size }));
  await program.told('done');
}

/** Imports in a process of its own, `times` times, from its own travel service or that at `travelUrl`. */
export async function importTravelers({ folder, name, place, travel = {}, times = 1 }) {
  const environment = { JETBRIDGE_DATA: place, SCIM_TOKEN: scimToken, TRAVEL_API_KEY: travelKey, ...travel };
  const program = launch({ words: [script('importing.mjs'), String(times)], environment, folder, name });
  tellEach(program, 'page', (page) => page);
  return program.told('imports');
}

function tellEach(program, key, countsOf) {
  let told = 0;
  program.onMessage((message) => {
    if (!Object.hasOwn(message, key)) return;
    const { read, total } = countsOf(message[key]);
    if (read - told < TELL_EACH) return;
    told = read;
    say(`  ${read} of ${total}`);
  });
}
