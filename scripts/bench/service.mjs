import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { dataFolder, scimToken, travelKey } from './data.mjs';
import { home, launch } from './program.mjs';
import { say } from './progress.mjs';

const LOOK_EVERY_MS = 100;

/** Jetbridge on data of that size, with the embedded travel service. */
export async function service(place, size) {
  const data = await dataFolder(place, size);
  say(`${size} users: starting; every start imports once`);
  const environment = { JETBRIDGE_DATA: data.folder };
  return { size, ...(await jetbridge(place, `jetbridge-${size}`, environment)), firstImport: data.imported };
}

/**
 * Jetbridge as its operator starts it: the built program, its log in a file. Answers when the import is over that every start
 * begins with, with the times in milliseconds and the memory at rest.
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

/** The environment of a Jetbridge on an empty database, for an account of a travel API; the name is also its key there. */
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
 * Writes a settings file for a travel API that allows so many calls a second and at once. It has no event feed to follow.
 * Returns the path.
 */
export function settingsFile({ folder }, travelApi) {
  const file = join(folder, 'jetbridge.json');
  const mapping = join(home, 'config/mappings/default.json');
  const settings = { connections: { default: { mapping, travelApi: { feed: false, ...travelApi } } } };
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

/** What a program writes into its log, once it has; no longer than the program lives. */
export async function logged(program, pattern) {
  for (;;) {
    const found = pattern.exec(readFileSync(program.log, 'utf8'));
    if (found) return found;
    await Promise.race([wait(LOOK_EVERY_MS), program.exited]);
  }
}
