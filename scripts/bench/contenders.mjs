import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client } from './client.mjs';
import { travelKey } from './data.mjs';
import { launch, script } from './program.mjs';

/** A clock that no two requests share; it goes on from run to run, so that kept data hold no name twice. */
let number = Date.now() * 1_000;

/** A number that no other request has. */
export function nextNumber() {
  number += 1;
  return number;
}

/** Starts what the services are compared with, from what they answer themselves. */
export async function rivals(place, services, operations) {
  const exchanges = await captured(services, operations);
  const file = join(place.folder, 'exchanges.json');
  writeFileSync(file, JSON.stringify(exchanges));
  const bare = launch(place, { words: [script('bare.mjs'), file], name: 'bare' });
  const stockFile = join(place.folder, 'stock.json');
  const { cast } = services[0];
  writeFileSync(stockFile, JSON.stringify(stockOf(cast)));
  const stock = launch(place, { words: [script('stock.mjs'), stockFile], name: 'stock' });
  const [ports, port] = [await bare.told('ports'), await stock.told('port')];
  return { bare: { ...bare, ports }, stock: { ...stock, base: `http://127.0.0.1:${port}/scim/v2` } };
}

/** One answer to each operation, of the smallest service that knows it. */
async function captured(services, operations) {
  const { send, close } = client(1);
  const exchanges = [];
  for (const { name, route, ask, isFor } of operations) {
    const service = services.find(({ cast }) => isFor?.(cast) ?? true);
    if (!service) continue;
    const { cast } = service;
    const asked = ask(cast, nextNumber());
    const { status, text } = await send(cast.base, cast.token, asked);
    const json = text === '' ? undefined : JSON.parse(text);
    exchanges.push({ name, method: asked.method ?? 'GET', route, status, json });
  }
  close();
  return exchanges;
}

/** The same people and groups of the same sizes; the groups get members of the same shape. */
function stockOf({ known, people, groups }) {
  const members = known.slice(0, 100).map(({ id }) => ({ value: id }));
  return {
    users: [...known, ...people],
    groups: groups.map((id, n) => ({ id, displayName: `group ${n}`, members })),
  };
}

/** The servers that are measured with an operation, in the order of a round: the bare route, the stock packages, each service. */
export function contendersOf(operation, { services, bare, stock }) {
  const { name, amount, isFor, stockStatus, status = 200 } = operation;
  const able = services.filter(({ cast }) => isFor?.(cast) ?? true);
  if (able.length === 0) return [];
  const [{ cast }] = able;
  const { token } = cast;
  const common = { ask: operation.ask, token, cast, status };
  const base = `http://127.0.0.1:${bare.ports[name]}/scim/v2`;
  const contenders = [{ ...common, who: 'bare', usage: bare.usage, base, amount: 2 * amount.service }];
  if (amount.stock > 0) {
    const own = { usage: stock.usage, base: stock.base, amount: amount.stock, status: stockStatus ?? status };
    contenders.push({ ...common, ...own, who: 'stock', isRight: operation.isRight });
  }
  return [...contenders, ...able.flatMap((service) => ofService(operation, service))];
}

function ofService({ ask, travel, status = 200, amount, isRight }, { size, url, usage, cast }) {
  const own = { who: 'service', size, usage, base: cast.base, token: cast.token, cast };
  const service = { ...own, ask, status, isRight, amount: amount.service };
  if (!travel) return [service];
  const call = { ...own, who: 'travel', base: `${url}/api`, token: travelKey, ask: travel, status };
  return [service, { ...call, amount: amount.service, mediaType: 'application/json' }];
}
