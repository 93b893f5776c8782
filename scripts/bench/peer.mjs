import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client } from './client.mjs';
import { nextNumber } from './contenders.mjs';
import { scimToken } from './data.mjs';
import { emptyDatabase } from './databases.mjs';
import { measure } from './measure.mjs';
import { peerGateway, peerVersion } from './peer-gateway.mjs';
import { peerOperations } from './peer-operations.mjs';
import { newPerson } from './person.mjs';
import { launch, script } from './program.mjs';
import { printProgress } from './progress.mjs';
import { jetbridge, remoteEnvironment, settingsFile } from './service.mjs';
import { callsPerRequest, travelApi } from './travel.mjs';

const TRAVELERS = 1_000;
/** The number of people: ten connections never write the same person at the same time. */
const PEOPLE = 200;

/**
 * Compares Jetbridge, on SQLite and on the PostgreSQL database that is given, with scimgateway. Behind each of them is an account
 * of the same travel API. Returns every round, and the travel calls of each request.
 */
export async function measurePeer(place, { peer, database, rounds }) {
  const travel = await travelApi(place, { seed: TRAVELERS });
  const settings = settingsFile(place, { perSecond: 1_000, concurrency: 32 });
  const gateways = [
    { who: 'peer', ...(await startPeer(place, peer, travel)) },
    { who: 'sqlite', ...(await startJetbridge(place, { travel, settings, name: 'sqlite' })) },
  ];
  if (database) {
    const url = await emptyDatabase(place, database);
    const started = await startJetbridge(place, { travel, settings, name: 'postgres', database: url });
    gateways.push({ who: 'postgres', ...started });
  }
  for (const gateway of gateways) {
    printProgress(`${gateway.who}: creating ${PEOPLE} people`);
    gateway.targets = await createPeople(gateway);
  }
  const bare = await startBare(place, gateways);
  const measured = [];
  for (const operation of peerOperations) {
    printProgress(`peer: ${operation.name}`);
    measured.push(await measureOperation(operation, { bare, gateways, travel, rounds }));
  }
  return { version: peerVersion(peer), measured };
}

async function startPeer(place, folder, travel) {
  const { url, usage } = await peerGateway(place, folder, { travelUrl: travel.url, travelKey: 'peer' });
  // The gateway's REST helper sends a bearer token in Base64.
  return { base: url, usage, key: Buffer.from('peer').toString('base64') };
}

async function startJetbridge(place, { travel, settings, name, database }) {
  const environment = remoteEnvironment(place, { name, travel, settings, database });
  const { url, usage } = await jetbridge(place, `jetbridge-${name}`, environment);
  return { base: `${url}/scim/v2`, usage, key: name };
}

async function createPeople({ base }) {
  const { send, close } = client(1);
  const people = [];
  for (let n = 0; n < PEOPLE; n += 1) {
    const request = { method: 'POST', path: '/Users', body: newPerson(`person${nextNumber()}`) };
    const { status, text } = await send(base, scimToken, request);
    if (status !== 201) throw new Error(`POST ${base}/Users: ${status} ${text.slice(0, 300)}`);
    people.push(JSON.parse(text));
  }
  close();
  return { people };
}

/** Returns the responses of Jetbridge on SQLite, which the bare routes send. */
async function startBare(place, gateways) {
  const { base, targets } = gateways.find(({ who }) => who === 'sqlite');
  const { send, close } = client(1);
  const exchanges = [];
  for (const { name, route, requestOf } of peerOperations) {
    const request = requestOf(targets, nextNumber());
    const { status, text } = await send(base, scimToken, request);
    exchanges.push({ name, method: request.method ?? 'GET', route, status, json: JSON.parse(text) });
  }
  close();
  const file = join(place.folder, 'peer-exchanges.json');
  writeFileSync(file, JSON.stringify(exchanges));
  const { receive, usage } = launch(place, { words: [script('bare.mjs'), file], name: 'bare' });
  return { usage, ports: await receive('ports') };
}

async function measureOperation(operation, { bare, gateways, travel, rounds }) {
  const { name, requestOf, status = 200, isRight, amount } = operation;
  const common = { requestOf, status, isRight, amount, token: scimToken };
  const base = `http://127.0.0.1:${bare.ports[name]}/scim/v2`;
  const contenders = [
    { ...common, who: 'bare', usage: bare.usage, base, targets: gateways[1].targets, isRight: undefined },
    ...gateways.map(({ who, usage, base: own, targets }) => ({ ...common, who, usage, base: own, targets })),
  ];
  const before = await countCalls(travel, gateways);
  const costs = await measure(contenders, { rounds });
  const after = await countCalls(travel, gateways);
  // The warm-up round makes travel calls, too.
  const requests = (rounds + 1) * amount;
  const calls = gateways.map(({ who }) => [who, callsPerRequest(before[who], after[who], requests)]);
  return { operation, rounds: costs, calls: Object.fromEntries(calls) };
}

async function countCalls(travel, gateways) {
  const counts = {};
  for (const { who, key } of gateways) counts[who] = await travel.calls(key);
  return counts;
}
