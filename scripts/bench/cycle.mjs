import { client } from './client.mjs';
import { scimToken } from './data.mjs';
import { emptyDatabase } from './databases.mjs';
import { newPerson } from './person.mjs';
import { printProgress } from './progress.mjs';
import { jetbridge, remoteEnvironment, settingsFile } from './service.mjs';
import { percentile } from './statistics.mjs';
import { tableOf, tableText } from './table.mjs';
import { callsPerRequest, travelApi } from './travel.mjs';
import { patch } from './writes.mjs';

const PEOPLE = 10_000;
const LATENCY_MS = 50;
const CONNECTIONS = 32;
/** The number of people with the same manager. */
const SPAN = 8;
const PROGRESS_STEP = 2_000;
const MANAGER = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager';

/**
 * Measures the first cycle of an IdP such as Entra ID: each person is looked up by userName, created, and gets a manager who was
 * created before. Each response of the travel API takes 50 ms. Runs on SQLite and on the given PostgreSQL database.
 */
export async function measureCycle(place, database) {
  const travel = await travelApi(place, { latencyMs: LATENCY_MS });
  const settings = settingsFile(place, { perSecond: 1_000, concurrency: CONNECTIONS });
  const measured = [await firstCycle(place, { travel, settings, name: 'cycle-sqlite' })];
  if (database) {
    const url = await emptyDatabase(place, database);
    measured.push(await firstCycle(place, { travel, settings, name: 'cycle-postgres', database: url }));
  }
  return measured;
}

async function firstCycle(place, { travel, settings, name, database }) {
  printProgress(`${name}: ${PEOPLE} people`);
  const environment = remoteEnvironment(place, { name, travel, settings, database });
  const { url, usage } = await jetbridge(place, name, environment);
  const { send, close } = client(CONNECTIONS);
  const latencies = { lookUp: [], create: [], manager: [] };
  const timed = async (step, request, status) => {
    const began = performance.now();
    const answer = await send(`${url}/scim/v2`, scimToken, request);
    latencies[step].push(performance.now() - began);
    if (answer.status !== status) throw new Error(`${step}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return JSON.parse(answer.text);
  };
  const calls = await travel.calls(name);
  const before = await usage();
  const began = performance.now();
  await provisionAll(timed).finally(close);
  const seconds = (performance.now() - began) / 1_000;
  const after = await usage();
  const people = callsPerRequest(calls, await travel.calls(name), PEOPLE);
  const requests = 3 * PEOPLE;
  return {
    name,
    seconds,
    perSecond: requests / seconds,
    cpu: (after.cpu - before.cpu) / requests,
    peak: after.peak,
    latencies: Object.fromEntries(Object.entries(latencies).map(([step, all]) => [step, figuresOf(all)])),
    calls: people,
  };
}

/** Each connection takes the next person after it has finished the last. */
async function provisionAll(timed) {
  const created = Array.from({ length: PEOPLE }, deferred);
  let next = 0;
  const lane = async () => {
    while (next < PEOPLE) {
      const n = next;
      next += 1;
      if (n % PROGRESS_STEP === 0) printProgress(`  ${n} of ${PEOPLE}`);
      await provision(timed, n, created);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

async function provision(timed, n, created) {
  const person = newPerson(`starter${n}`);
  const filter = encodeURIComponent(`userName eq "${person.userName}"`);
  await timed('lookUp', { path: `/Users?filter=${filter}` }, 200);
  const { id } = await timed('create', { method: 'POST', path: '/Users', body: person }, 201);
  created[n].resolve(id);
  if (n === 0) return;
  const value = await created[Math.floor((n - 1) / SPAN)].promise;
  await timed('manager', patch(`/Users/${id}`, 'add', MANAGER, value), 200);
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve) => {
    made.resolve = resolve;
  });
  return made;
}

function figuresOf(latencies) {
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), max: percentile(latencies, 1) };
}

/** Returns a row for each step of the cycle; the first row has the totals, too. */
export function cycleTable(measured) {
  const totals = ['seconds', 'req/s', 'CPU us each', 'peak MB'];
  const table = tableOf(['database', ...totals, 'step', 'p50 ms', 'p99 ms', 'max ms'], 1);
  for (const { name, seconds, perSecond, cpu, peak, latencies } of measured) {
    const figures = [seconds.toFixed(1), perSecond.toFixed(0), cpu.toFixed(0), (peak / 2 ** 20).toFixed(0)];
    Object.entries(latencies).forEach(([step, { p50, p99, max }], n) => {
      const first = n === 0 ? [name, ...figures] : ['', '', '', '', ''];
      table.push([...first, step, ...[p50, p99, max].map((ms) => ms.toFixed(0))]);
    });
  }
  return tableText(table);
}
