import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { scimToken } from './data.mjs';
import { launch, script } from './program.mjs';
import { logged } from './service.mjs';

const TSX = 'node_modules/tsx/dist/loader.mjs';

/** Returns the fault of a peer's folder; undefined if it is a checkout of jelhub/scimgateway with its packages. */
export function peerFault(folder) {
  if (!existsSync(folder)) return `--peer: ${folder} does not exist.`;
  if (!existsSync(join(folder, 'lib/scimgateway.ts')) || packageOf(folder)?.name !== 'scimgateway')
    return `--peer: ${folder} is no checkout of jelhub/scimgateway.`;
  if (!existsSync(join(folder, TSX)))
    return `--peer: ${folder} has no packages: run "npm install --ignore-scripts" there.`;
  return undefined;
}

/** Returns the version of the checkout. */
export function peerVersion(folder) {
  return packageOf(folder).version;
}

function packageOf(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Starts scimgateway with our plugin as its README says for Node: `node --import=tsx`. The plugin finds its configuration
 * beside its own folder, so both are in a folder of the bench, and nothing is written into the checkout.
 */
export async function peerGateway(place, folder, { travelUrl, travelKey }) {
  const own = join(place.folder, 'peer');
  for (const name of ['lib', 'config', 'node_modules']) mkdirSync(join(own, name), { recursive: true });
  symlinkSync(resolve(folder), join(own, 'node_modules/scimgateway'));
  const plugin = join(own, 'lib/plugin-travel.mjs');
  copyFileSync(script('peer/plugin-travel.mjs'), plugin);
  const port = await freePort();
  const config = peerConfig({ port, travelUrl, travelKey });
  writeFileSync(join(own, 'config/plugin-travel.json'), JSON.stringify(config));
  const program = launch(place, {
    words: ['--import', pathToFileURL(resolve(folder, TSX)).href, plugin],
    name: 'scimgateway',
    cwd: resolve(folder),
  });
  await logged(program, /now listening SCIM/);
  // This line is written before the server listens.
  await wait(500);
  return { url: `http://127.0.0.1:${port}`, usage: program.usage };
}

/** The gateway logs errors only, which is in its favour: Jetbridge writes a line for each request. */
function peerConfig({ port, travelUrl, travelKey }) {
  const auth = { type: 'bearer', options: { token: travelKey } };
  return {
    scimgateway: {
      port,
      localhostonly: true,
      scim: { version: '2.0' },
      log: { loglevel: { file: 'error', console: 'error' } },
      auth: { bearerToken: [{ token: scimToken }] },
    },
    endpoint: { entity: { undefined: { connection: { baseUrls: [`${travelUrl}/api`], auth } } } },
  };
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}
