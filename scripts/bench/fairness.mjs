import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { client } from './client.mjs';
import { newPerson } from './person.mjs';
import { printProgress } from './progress.mjs';
import { jetbridge } from './service.mjs';
import { percentile } from './statistics.mjs';
import { tableOf, tableText, verdictText } from './table.mjs';
import { travelApi } from './travel.mjs';
import { patch } from './writes.mjs';

/** The measured connections, and the requests that each of them gets. */
const CONNECTIONS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
const PER_SECOND = 25;
const SECONDS = 20;
/** The people of each measured connection, who are written before the measurement. */
const PEOPLE = 40;
/** The travelers of the connection that is scanned. */
const SCANNED = 20_000;
const FLOODING_SOCKETS = 16;
const MOST_P99_MS = 1_000;

/**
 * Measures how long the requests of eight connections take, each at 25 a second: alone; and beside a ninth connection whose travel API
 * never answers, a tenth with a client that scans its 20,000 people without end, and an eleventh with a client that sends as much as it
 * can. A request is timed from the moment at which it was due.
 */
export async function measureFairness(place) {
  const { url, usage } = await start(place);
  printProgress(`fairness: ${PEOPLE} people for each of ${CONNECTIONS.length} connections`);
  const idps = await Promise.all([...CONNECTIONS, 'hanging'].map((name) => openIdp(url, name)));
  const measured = idps.slice(0, CONNECTIONS.length);
  const rows = [await load('alone', measured, usage)];
  const others = await disturb(url, idps);
  rows.push(await load('beside the others', measured, usage));
  const sent = await others.stop();
  for (const { close } of idps) close();
  return { rows, sent };
}

/** Starts Jetbridge with a connection for each name, each with an account of its own of one travel API. */
async function start(place) {
  const travel = await travelApi(place, {});
  const names = [...CONNECTIONS, 'hanging', 'scanned', 'flooding'];
  const connections = Object.fromEntries(
    names.map((name) => [
      name,
      {
        scimTokenEnv: `${name.toUpperCase()}_TOKEN`,
        travelApi: { url: travel.url, keyEnv: `${name.toUpperCase()}_KEY`, feed: false, perSecond: 1_000 },
      },
    ]),
  );
  const settings = join(place.folder, 'fairness.json');
  writeFileSync(settings, JSON.stringify({ connections }));
  const data = join(place.folder, 'data-fairness');
  mkdirSync(data);
  printProgress(`fairness: starting; ${SCANNED} travelers are imported`);
  const started = await jetbridge(place, 'fairness', {
    ...{ JETBRIDGE_DATA: data, JETBRIDGE_CONFIG: settings },
    ...Object.fromEntries(
      names.flatMap((name) => [
        [`${name.toUpperCase()}_TOKEN`, tokenOf(name)],
        [`${name.toUpperCase()}_KEY`, name === 'scanned' ? `scanned-seed${SCANNED}` : name],
      ]),
    ),
  });
  const { send, close } = client(1);
  const counted = async () => {
    const { text } = await send(`${started.url}/scim/v2`, tokenOf('scanned'), { path: '/Users?count=0' });
    return JSON.parse(text).totalResults;
  };
  while ((await counted()) < SCANNED) await wait(500);
  close();
  return started;
}

function tokenOf(name) {
  return `the-token-of-the-connection-${name}`;
}

/** An identity provider of a connection, which has written its people. `next` sends the next request of its mix. */
async function openIdp(url, name) {
  const { send, close } = client(FLOODING_SOCKETS);
  const ask = async (request, status) => {
    const answer = await send(`${url}/scim/v2`, tokenOf(name), request);
    if (answer.status !== status)
      throw new Error(`${name}: ${request.method ?? 'GET'} ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer.text;
  };
  const people = [];
  for (let n = 0; n < PEOPLE; n += 1) {
    const body = newPerson(`${name}${n}`);
    const { id } = JSON.parse(await ask({ method: 'POST', path: '/Users', body }, 201));
    people.push({ id, userName: body.userName });
  }
  let sent = 0;
  const next = () => {
    sent += 1;
    const { id, userName } = people[sent % PEOPLE];
    const filter = encodeURIComponent(`userName eq "${userName}"`);
    // An IdP looks a person up before each write.
    if (sent % 4 === 0) return ask(patch(`/Users/${id}`, 'replace', 'name.familyName', `Name${sent}`), 200);
    return ask({ path: sent % 4 === 1 ? `/Users/${id}` : `/Users?filter=${filter}` }, 200);
  };
  return { name, next, close };
}

/** Sends the requests of all connections when they are due, whether those before are answered or not. */
async function load(name, idps, usage) {
  printProgress(`fairness: ${name}`);
  const latencies = [];
  const before = await usage();
  const timed = async (idp, due) => {
    await idp.next();
    latencies.push(performance.now() - due);
  };
  const began = performance.now();
  await Promise.all(
    idps.map(async (idp, place) => {
      const requests = [];
      for (let n = 0; n < PER_SECOND * SECONDS; n += 1) {
        const due = began + ((n + place / idps.length) * 1_000) / PER_SECOND;
        if (due > performance.now()) await wait(due - performance.now());
        requests.push(timed(idp, due));
      }
      await Promise.all(requests);
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  return {
    name,
    perSecond: latencies.length / seconds,
    cpuShare: ((await usage()).cpu - before.cpu) / seconds / 1e6,
    ...{ p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), max: percentile(latencies, 1) },
  };
}

/** Sends the requests of the other connections until `stop`, which resolves with their number by connection. */
async function disturb(url, idps) {
  let isOver = false;
  const sent = { hanging: 0, scanned: 0, flooding: 0 };
  const lane = async (name, next) => {
    while (!isOver) {
      await next();
      sent[name] += 1;
    }
  };
  const clients = { scanned: client(2), flooding: client(FLOODING_SOCKETS) };
  const reading = (name, path) => async () => {
    const { status, text } = await clients[name].send(`${url}/scim/v2`, tokenOf(name), { path });
    // A scan that takes too long is refused with this status, after seconds of work.
    const isScanned = name === 'scanned' && JSON.parse(text).scimType === 'tooMany';
    if (status !== 200 && !isScanned) throw new Error(`${name}: ${status} ${text.slice(0, 300)}`);
  };
  // No index has this attribute, so that every person is read.
  const scan = `/Users?filter=${encodeURIComponent('addresses.streetAddress co "no such street"')}`;
  const hanging = idps.find(({ name }) => name === 'hanging');
  const lanes = [
    ...Array.from({ length: FLOODING_SOCKETS }, () =>
      lane('flooding', reading('flooding', '/Users?count=100')),
    ),
    ...Array.from({ length: 2 }, () => lane('scanned', reading('scanned', scan))),
    ...Array.from({ length: 8 }, () => lane('hanging', hanging.next)),
  ];
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(lanes);
      for (const { close } of Object.values(clients)) close();
      return sent;
    },
  };
}

/** The latency of the measured connections, alone and beside the others. */
export function fairnessTable({ rows, sent }) {
  const table = tableOf(['', 'req/s', 'CPU', 'p50 ms', 'p99 ms', 'max ms', 'promise'], 1);
  for (const { name, perSecond, cpuShare, p50, p99, max } of rows) {
    const promise = `p99 below ${MOST_P99_MS}: ${verdictText(p99 < MOST_P99_MS)}`;
    table.push([
      name,
      perSecond.toFixed(0),
      cpuShare.toFixed(2),
      ...[p50, p99, max].map((ms) => ms.toFixed(0)),
      promise,
    ]);
  }
  const counts = Object.entries(sent).map(([name, count]) => `${name} ${count}`);
  return `${tableText(table)}\nrequests of the others: ${counts.join(', ')}`;
}
