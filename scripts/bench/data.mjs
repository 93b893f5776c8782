import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, script } from './program.mjs';
import { say } from './progress.mjs';

/** The credentials of every data folder. */
export const scimToken = 'the-token-that-the-bench-uses-for-scim';
export const travelKey = 'the-key-that-the-bench-uses-for-travel';

/** How much of the work is done between two lines of progress. */
const TELL_EACH = 50_000;

/** A data folder with so many travelers, imported; `imported` is how long that took, unless an earlier run did it. */
export async function dataFolder(place, size) {
  const folder = join(place.data, String(size));
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return { folder, imported: undefined };
  // An interrupted run may have left an incomplete folder.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await seed(place, folder, size);
  say(`${size} users: importing them for the first time`);
  const [imported] = await importTravelers(place, { folder });
  writeFileSync(complete, '');
  return { folder, imported };
}

async function seed(place, folder, size) {
  say(`${size} users: filling the travel service`);
  const program = launch(place, { words: [script('seed.mjs'), folder, String(size)], name: 'seed' });
  tellEach(program, 'seeded', (count) => ({ read: count, total: size }));
  await program.told('done');
}

/** Imports into a folder, in a process of its own, `times` times; from the travel service in it, unless `travel` names another. */
export async function importTravelers(place, { folder, travel = {}, times = 1 }) {
  const environment = { JETBRIDGE_DATA: folder, SCIM_TOKEN: scimToken, TRAVEL_API_KEY: travelKey, ...travel };
  const program = launch(place, {
    words: [script('importing.mjs'), String(times)],
    environment,
    name: 'import',
  });
  tellEach(program, 'page', (page) => page);
  return program.told('imports');
}

function tellEach(program, key, countsOf) {
  let told = 0;
  program.onMessage((message) => {
    if (!Object.hasOwn(message, key)) return;
    const { read, total } = countsOf(message[key]);
    // Another import begins anew.
    if (read < told) told = 0;
    if (read - told < TELL_EACH) return;
    told = read;
    say(`  ${read} of ${total}`);
  });
}
