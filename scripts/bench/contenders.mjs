import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client } from './client.mjs';
import { travelKey } from './data.mjs';
import { launch, script } from './program.mjs';

/** Begins at the current time, so that no name occurs twice in data that an earlier run has left. */
let number = Date.now() * 1_000;

/** Returns a number that no other request has. */
export function nextNumber() {
  number += 1;
  return number;
}

/** Starts the bare routes and the stock packages, which send the responses of the services. */
export async function startReferences(place, services, operations) {
  const exchanges = await captureResponses(services, operations);
  const file = join(place.folder, 'exchanges.json');
  writeFileSync(file, JSON.stringify(exchanges));
  const bare = launch(place, { words: [script('bare.mjs'), file], name: 'bare' });
  const stockFile = join(place.folder, 'stock.json');
  const { targets } = services[0];
  writeFileSync(stockFile, JSON.stringify(stockOf(targets)));
  const stock = launch(place, { words: [script('stock.mjs'), stockFile], name: 'stock' });
  const [ports, port] = [await bare.receive('ports'), await stock.receive('port')];
  return { bare: { ...bare, ports }, stock: { ...stock, base: `http://127.0.0.1:${port}/scim/v2` } };
}

/** Returns one response to each operation, of the smallest service that has it. */
async function captureResponses(services, operations) {
  const { send, close } = client(1);
  const exchanges = [];
  for (const { name, route, requestOf, isFor } of operations) {
    const service = services.find(({ targets }) => isFor?.(targets) ?? true);
    if (!service) continue;
    const { targets } = service;
    const request = requestOf(targets, nextNumber());
    const { status, text } = await send(targets.base, targets.token, request);
    const json = text === '' ? undefined : JSON.parse(text);
    exchanges.push({ name, method: request.method ?? 'GET', route, status, json });
  }
  close();
  return exchanges;
}

/** Returns the data of the stock packages: the same people, and groups of the same sizes with members of the same shape. */
function stockOf({ known, people, groups }) {
  const members = known.slice(0, 100).map(({ id }) => ({ value: id }));
  return {
    users: [...known, ...people],
    groups: groups.map((id, n) => ({ id, displayName: `group ${n}`, members })),
  };
}

/** Returns the servers on which an operation is measured, in the order of a round: bare route, stock packages, each service. */
export function contendersOf(operation, { services, bare, stock }) {
  const { name, amount, isFor, stockStatus, status = 200 } = operation;
  const able = services.filter(({ targets }) => isFor?.(targets) ?? true);
  if (able.length === 0) return [];
  const [{ targets }] = able;
  const { token } = targets;
  const common = { requestOf: operation.requestOf, token, targets, status };
  const base = `http://127.0.0.1:${bare.ports[name]}/scim/v2`;
  const contenders = [{ ...common, who: 'bare', usage: bare.usage, base, amount: 2 * amount.service }];
  if (amount.stock > 0) {
    const own = { usage: stock.usage, base: stock.base, amount: amount.stock, status: stockStatus ?? status };
    contenders.push({ ...common, ...own, who: 'stock', isRight: operation.isRight });
  }
  return [...contenders, ...able.flatMap((service) => ofService(operation, service))];
}

function ofService({ requestOf, travel, status = 200, amount, isRight }, { size, url, usage, targets }) {
  const own = { who: 'service', size, usage, base: targets.base, token: targets.token, targets };
  const service = { ...own, requestOf, status, isRight, amount: amount.service };
  if (!travel) return [service];
  const call = { ...own, who: 'travel', base: `${url}/api`, token: travelKey, requestOf: travel, status };
  return [service, { ...call, amount: amount.service, mediaType: 'application/json' }];
}
