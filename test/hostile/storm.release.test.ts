import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, seededRandom } from '../fixtures/seeded.ts';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { bodies } from './cases/bodies.ts';
import { filters } from './cases/filters.ts';
import { headers } from './cases/headers.ts';
import { targets } from './cases/targets.ts';
import { expectDocumented } from './documented.ts';
import { type Hostile, request, TOKEN } from './request.ts';
import { openWire } from './wire.ts';

/**
 * Sends many hostile requests to one process with bounded memory, so that a leak ends the process. docs/architecture.md
 * (Promises) promises 100,000 requests, which take some minutes; run them by hand:
 *
 *     npm run build && HOSTILE_REQUESTS=100000 npx jest test/hostile/storm
 */
const REQUESTS = Number(process.env['HOSTILE_REQUESTS'] ?? 4000);
const CONNECTIONS = 8;

/** The limit for the memory of the whole process; an idle process has about half of it. */
const MAX_RESIDENT = 300 * 1024 * 1024;

/** Larger requests are sent rarely, because reading them takes most of the time. */
const LARGE = 20_000;

let server: ServerProcess;
let data: string;
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'jetbridge-storm-'));
  const environment = { SCIM_TOKEN: TOKEN, JETBRIDGE_DATA: data, NODE_OPTIONS: '--max-old-space-size=96' };
  server = await startServer(environment);
});
afterAll(async () => {
  server.kill('SIGTERM');
  await server.exited;
  rmSync(data, { recursive: true });
});

test(`after ${REQUESTS} hostile requests only resources with a 201 are stored, and memory has not grown`, async () => {
  // The only traveler is the user of the credential, whom lists do not show.
  expect(await users()).toBe(0);
  let sent = 0;
  let created = 0;
  const attack = async (random: Random) => {
    let wire = await openWire(server.url);
    while (sent < REQUESTS) {
      sent += 1;
      const { bytes, isLast = false } = chosen(random);
      const answer = await wire.send(bytes).catch((cause: unknown) => {
        throw new Error(`No answer to ${JSON.stringify(bytes.subarray(0, 500).toString('latin1'))}`, {
          cause,
        });
      });
      expectDocumented(answer);
      if (answer.status === 201) created += 1;
      if (answer.isClosed || isLast) {
        wire.close();
        wire = await openWire(server.url);
      }
    }
    wire.close();
  };
  const attacks = Array.from({ length: CONNECTIONS }, (_, n) => attack(seededRandom(n + 1)));
  await Promise.all(attacks).catch(async (error: unknown) => {
    // The output of the process shows the cause if it has ended.
    throw new Error(JSON.stringify(await Promise.race([server.exited, delay(2000)])), { cause: error });
  });

  expect(await users()).toBe(created);
  expect(await residentBytes()).toBeLessThan(MAX_RESIDENT);
}, 3_600_000);

async function users(): Promise<number> {
  const wire = await openWire(server.url);
  const { text } = await wire.send(request('GET', '/Users?count=0'));
  wire.close();
  return JSON.parse(text).totalResults;
}

const all = [...bodies, ...targets, ...filters, ...headers].flat();
const small = all.filter(({ bytes }) => bytes.length < LARGE);

/** A hostile case, or a valid request with some bytes changed. */
function chosen(random: Random): Pick<Hostile, 'bytes' | 'isLast'> {
  const kind = random.below(100);
  if (kind < 1) return pick(all, random);
  if (kind < 85) return pick(small, random);
  return { bytes: damaged(pick(validRequests, random), random) };
}

const validRequests = [
  request('POST', '/Users', {
    body: '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"storm","emails":[{"value":"a@x","type":"work"}]}',
  }),
  request('PATCH', '/Users/nobody', {
    body: '{"Operations":[{"op":"replace","path":"emails[type eq \\"work\\"].value","value":"b@x"}]}',
  }),
  request('GET', '/Users?filter=userName+eq+%22a%22&attributes=emails.value&count=10'),
  request('POST', '/.search', {
    body: '{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],"filter":"userName sw \\"s\\""}',
  }),
];

/** Changes bytes of the target and the body, but not the headers: with a wrong length there would be no response. */
function damaged(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  const [begin, end] = [bytes.indexOf('/scim/v2/') + 9, bytes.indexOf(' HTTP/1.1')];
  const body = bytes.indexOf('\r\n\r\n') + 4;
  const places = end - begin + (bytes.length - body);
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const place = begin + random.below(places);
    copy[place < end ? place : place - end + body] = random.below(256);
  }
  return copy;
}

function pick<T>(from: readonly T[], random: Random): T {
  const one = from[random.below(from.length)];
  if (one === undefined) throw new Error('There is nothing to pick from.');
  return one;
}

async function residentBytes(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]);
}
