import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromSources, launch, script } from './program.mjs';
import { printProgress } from './progress.mjs';

/** The credentials of every data folder. */
export const scimToken = 'the-token-that-the-bench-uses-for-scim';
export const travelKey = 'the-key-that-the-bench-uses-for-travel';

/** The number of travelers between two lines of progress. */
const PROGRESS_STEP = 50_000;

/**
 * Returns a data folder into which this number of travelers was imported. `imported` is the duration of that import; it is
 * undefined if an earlier run made the folder.
 */
export async function dataFolder(place, size) {
  const folder = join(place.data, String(size));
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return { folder, imported: undefined };
  // An interrupted run may have left an incomplete folder.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await seed(place, folder, size);
  printProgress(`${size} users: importing them for the first time`);
  const [imported] = await importTravelers(place, { folder });
  writeFileSync(complete, '');
  return { folder, imported };
}

async function seed(place, folder, size) {
  printProgress(`${size} users: filling the travel service`);
  const program = launch(place, { words: [...fromSources('seed.mjs'), folder, String(size)], name: 'seed' });
  reportProgress(program, 'seeded', (count) => ({ read: count, total: size }));
  await program.receive('done');
}

/**
 * Imports into a folder, `times` times, in a process of its own. The travelers come from the travel service of that folder, unless
 * `travel` names another one.
 */
export async function importTravelers(place, { folder, travel = {}, times = 1 }) {
  const environment = { JETBRIDGE_DATA: folder, SCIM_TOKEN: scimToken, TRAVEL_API_KEY: travelKey, ...travel };
  const program = launch(place, {
    words: [script('importing.mjs'), String(times)],
    environment,
    name: 'import',
  });
  reportProgress(program, 'page', (page) => page);
  return program.receive('imports');
}

function reportProgress(program, key, countsOf) {
  let reported = 0;
  program.onMessage((message) => {
    if (!Object.hasOwn(message, key)) return;
    const { read, total } = countsOf(message[key]);
    // The next import begins at 0.
    if (read < reported) reported = 0;
    if (read - reported < PROGRESS_STEP) return;
    reported = read;
    printProgress(`  ${read} of ${total}`);
  });
}
