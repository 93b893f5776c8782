// Prints what each request of the admin page costs with many people and exchanges: node scripts/bench/admin.mjs [options].
// docs/performance.md describes the data and the columns.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { scriptToken, settingsText } from './admin-settings.mjs';
import { VIEWS } from './admin-views.mjs';
import { client } from './client.mjs';
import { travelKey } from './data.mjs';
import { fromSources, launch, script } from './program.mjs';
import { printProgress } from './progress.mjs';
import { spread } from './statistics.mjs';
import { tableOf, tableText } from './table.mjs';
import { workplace } from './workplace.mjs';

const ROUNDS = 7;
const TELL_EACH = 50_000;
const LOOK_EVERY_MS = 200;
/** The settings want a key that no other data have. */
const KEY = createHash('sha256').update('bench').digest('hex');

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '1000000' },
    database: { type: 'string' },
    data: { type: 'string' },
  },
});
const place = workplace(values.data);
try {
  const environment = await fill();
  const requests = VIEWS.flatMap(({ paths, ...view }) => paths.map((path) => ({ ...view, path })));
  const measured = await measure(await serve(environment), requests);
  const turns = await longestTurns(await serve(environment), measured);
  process.stdout.write(`${report(measured, turns)}\n`);
} finally {
  await place.close();
}

/** Fills the database, unless an earlier run did, and returns the environment of a service on it. */
async function fill() {
  const { size, database } = values;
  const folder = join(place.data, `admin-${size}`);
  const complete = join(folder, 'complete');
  const config = join(folder, 'jetbridge.json');
  const environment = { JETBRIDGE_DATA: folder, JETBRIDGE_CONFIG: config, TRAVEL_API_KEY: travelKey };
  if (database) Object.assign(environment, { DATABASE_URL: database, JETBRIDGE_KEY: KEY });
  if (existsSync(complete)) return environment;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(config, settingsText);
  const program = launch(place, {
    words: [...fromSources('admin-data.mjs'), size],
    environment,
    name: 'admin-data',
  });
  tell(program, 'people');
  tell(program, 'exchanges');
  await program.receive('filled');
  writeFileSync(complete, '');
  return environment;
}

function tell(program, name) {
  let told = 0;
  program.onMessage((message) => {
    if (!(message[name] >= told + TELL_EACH)) return;
    told = message[name];
    printProgress(`  ${told} ${name}`);
  });
}

/** Starts the service. `send` returns what an operation answers, `longestTurn` the longest turn since the last call, in milliseconds. */
async function serve(environment) {
  const program = launch(place, { words: [script('admin-serving.mjs')], environment, name: 'admin-serving' });
  const { send } = client(1);
  const url = await program.receive('url');
  return {
    usage: program.usage,
    longestTurn: () => program.call('longest', 'longest'),
    stop: () => program.call('stop', 'stopped'),
    send: async (path, body) => {
      const method = body ? 'POST' : 'GET';
      const asked = { path: `/admin/api${path}`, method, body, mediaType: 'application/json' };
      const { status, text } = await send(url, scriptToken, asked);
      if (status !== 200) throw new Error(`${method} ${path} was answered ${status} ${text.slice(0, 300)}`);
      return text;
    },
  };
}

/** Returns the costs of each request: wall time in milliseconds, CPU time of the process, and the length of the answer. */
async function measure(service, requests) {
  const measured = [];
  for (const request of requests) {
    printProgress(`${request.name}: ${request.path}`);
    const page = await pageOf(service, request);
    measured.push({ ...request, page, ...(await costOf(service, { ...request, page })) });
  }
  await service.stop();
  return measured;
}

/** The CPU time of the longest turn of the event loop, in a process that has just started. */
async function longestTurns(service, measured) {
  printProgress('turns of the event loop');
  const turns = [];
  for (const { page, body } of measured) turns.push(await longestTurn(service, page, body));
  await service.stop();
  return turns;
}

function report(measured, turns) {
  const table = tableOf(['', 'request', 'first ms', 'median', 'worst', 'CPU ms', 'turn', 'KB'], 2);
  for (const [at, { name, path, first, times, cpu, length }] of measured.entries()) {
    const { median, max } = spread(times);
    const figures = [first, median, max, cpu, turns[at]].map((ms) => ms.toFixed(ms < 10 ? 1 : 0));
    table.push([name, path, ...figures, Math.ceil(length / 1024)]);
  }
  return tableText(table);
}

/** Returns the path of the page that is measured. The log grows, so that its newest position is asked for. */
async function pageOf(service, { path, pages, by }) {
  const { head } = JSON.parse(await service.send('/exchanges?limit=1'));
  const first = path
    .replace('NEWEST', head)
    .replace('MIDDLE', String(head >> 1))
    .replace('RECENT', String(head - 50));
  let page = first;
  for (let read = 0; read < pages; read += 1) {
    const { next } = JSON.parse(await service.send(page));
    if (next === undefined) return page;
    page = `${first}&${by}=${encodeURIComponent(next)}`;
  }
  return page;
}

async function costOf(service, { page, body, isCounted }) {
  const timed = async () => {
    const began = performance.now();
    const { length } = await service.send(page, body);
    return { ms: performance.now() - began, length };
  };
  const { ms: first, length } = await timed();
  if (isCounted) await waitForCounts(service);
  const before = (await service.usage()).cpu;
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push((await timed()).ms);
  const cpu = ((await service.usage()).cpu - before) / 1000 / ROUNDS;
  return { first, length, times, cpu };
}

/** After its start the service counts the exchanges of the last day in the background. */
async function waitForCounts(service) {
  for (;;) {
    const { completeSince, day } = JSON.parse(await service.send('/activity'));
    if (completeSince < day[1].from) return;
    await wait(LOOK_EVERY_MS);
  }
}

/** The longest of a few requests may have waited for garbage; the shortest of them has not. */
async function longestTurn(service, path, body) {
  const turns = [];
  for (let round = 0; round < 3; round += 1) {
    await service.longestTurn();
    await service.send(path, body);
    turns.push(await service.longestTurn());
  }
  return Math.min(...turns);
}
