import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { dataFolder, scimToken, travelKey } from './data.mjs';
import { home, launch } from './program.mjs';
import { say } from './progress.mjs';

const LOOK_EVERY_MS = 100;

/**
 * Jetbridge as its operator starts it, on data of that size: the built program, its log in a file, the embedded travel service.
 * Answers when the import is over that every start begins with, with the times in milliseconds and the memory at rest.
 */
export async function service(place, size) {
  const data = await dataFolder(place, size);
  say(`${size} users: starting; every start imports once`);
  const began = performance.now();
  const program = launch(place, {
    words: [join(home, 'dist/main.js'), 'serve'],
    environment: {
      HOST: '127.0.0.1',
      PORT: '0',
      JETBRIDGE_DATA: data.folder,
      SCIM_TOKEN: scimToken,
      TRAVEL_API_KEY: travelKey,
    },
    name: `jetbridge-${size}`,
  });
  const [, url] = await logged(program, /^Jetbridge serves on (\S+)$/m);
  const startMs = performance.now() - began;
  await logged(program, /imported the travelers/);
  const settledMs = performance.now() - began;
  const { usage, exited } = program;
  const atRest = await usage();
  return { size, url, usage, exited, startMs, settledMs, atRest, firstImport: data.imported };
}

/** What a program writes into its log, once it has; no longer than the program lives. */
async function logged(program, pattern) {
  for (;;) {
    const found = pattern.exec(readFileSync(program.log, 'utf8'));
    if (found) return found;
    await Promise.race([wait(LOOK_EVERY_MS), program.exited]);
  }
}
