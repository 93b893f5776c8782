import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { dataFolder, scimToken, travelKey } from './data.mjs';
import { home, launch } from './program.mjs';
import { printProgress } from './progress.mjs';

const LOOK_EVERY_MS = 100;

/** Starts Jetbridge on data of that size, with the embedded travel service. */
export async function service(place, size) {
  const data = await dataFolder(place, size);
  printProgress(`${size} users: starting; every start imports once`);
  const environment = { JETBRIDGE_DATA: data.folder };
  return { size, ...(await jetbridge(place, `jetbridge-${size}`, environment)), firstImport: data.imported };
}

/**
 * Starts Jetbridge as an operator does: the built program, with its log in a file. Resolves after the import with which each start
 * begins, with the durations in milliseconds and the memory after that import.
 */
export async function jetbridge(place, name, environment) {
  const began = performance.now();
  const program = launch(place, {
    words: [join(home, 'dist/main.js'), 'serve'],
    environment: {
      HOST: '127.0.0.1',
      PORT: '0',
      SCIM_TOKEN: scimToken,
      TRAVEL_API_KEY: travelKey,
      ...environment,
    },
    name,
  });
  const [, url] = await logged(program, /^Jetbridge serves on (\S+)$/m);
  const startMs = performance.now() - began;
  await logged(program, /imported the travelers/);
  const settledMs = performance.now() - began;
  const { usage, exited } = program;
  const atRest = await usage();
  return { url, usage, exited, startMs, settledMs, atRest };
}

/** Returns the environment of Jetbridge on an empty database, for an account of a travel API. The name is also its API key. */
export function remoteEnvironment({ folder }, { name, travel, settings, database }) {
  const data = join(folder, `data-${name}`);
  mkdirSync(data);
  const key = randomBytes(32).toString('base64');
  return {
    JETBRIDGE_DATA: data,
    JETBRIDGE_CONFIG: settings,
    TRAVEL_API_URL: travel.url,
    TRAVEL_API_KEY: name,
    ...(database ? { DATABASE_URL: database, JETBRIDGE_KEY: key } : {}),
  };
}

/**
 * Writes a settings file for a travel API with these limits and without an event feed. Returns the path.
 */
export function settingsFile({ folder }, travelApi) {
  const file = join(folder, 'jetbridge.json');
  const mapping = join(home, 'config/mappings/default.json');
  const settings = { connections: { default: { mapping, travelApi: { feed: false, ...travelApi } } } };
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

/** Waits until the log of a program contains the text. Rejects if the program ends before. */
export async function logged(program, pattern) {
  for (;;) {
    const found = pattern.exec(readFileSync(program.log, 'utf8'));
    if (found) return found;
    await Promise.race([wait(LOOK_EVERY_MS), program.exited]);
  }
}
