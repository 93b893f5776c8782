// A travel service's long lists, filled and then paged when asked: node listing.mjs FOLDER SIZE. Through the service's own code,
// all but HTTP, which would hide what is looked for: what a page costs that is far in.
import { randomBytes } from 'node:crypto';
import { openEmbedded } from '../../dist/store/database.js';
import { travelStore } from '../../dist/store/travel-writes.js';
import { list, listUnder } from '../../dist/travel/collection.js';
import { keysOf } from '../../dist/travel/resource.js';
import { billingOperation } from '../../dist/travel/resources/billing.js';
import { event } from '../../dist/travel/resources/event.js';
import { user } from '../../dist/travel/resources/user.js';
import { LISTS } from './lists.mjs';

const IN_ONE_TRANSACTION = 5_000;
const START = Date.UTC(2026, 0, 1);

const [folder, text] = process.argv.slice(2);
const size = Number(text);
const database = await openEmbedded(folder, true);
const store = travelStore(database);
const invoice = {
  type: 'invoice',
  id: 'a'.repeat(24),
  parentId: '',
  createdAt: START,
  doc: { status: 'open' },
};
const [sub] = billingOperation.under;
await fill();
const pages = Object.fromEntries(LISTS.map(({ name, ...asked }) => [name, () => page(asked)]));
process.on('message', async ({ page: name, times }) => {
  if (name === undefined) return;
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await pages[name]();
  const { user: own, system } = process.cpuUsage(before);
  process.send({ paged: (own + system) / times });
});
process.channel.ref();
process.send({ ready: true });

/** Fills each list, unless an earlier run did. */
async function fill() {
  await store.write(['invoice'], async (within) => {
    const [known] = await within.read([invoice]);
    if (!known) await within.insert(invoice, { archived: false, unique: [], index: [], references: [] });
  });
  for (const [resource, make] of [
    [user, traveler],
    [billingOperation, operation],
    [event, happening],
  ]) {
    const { total } = await store.page({
      type: resource.type,
      parentId: '',
      order: 'asc',
      offset: 0,
      limit: 1,
    });
    for (let first = total; first < size; first += IN_ONE_TRANSACTION) {
      const end = Math.min(size, first + IN_ONE_TRANSACTION);
      await store.write([resource.type], async (within) => {
        for (let n = first; n < end; n += 1) {
          const made = {
            ...{ type: resource.type, id: randomBytes(12).toString('hex'), parentId: '' },
            ...{ createdAt: START + n, doc: make(n) },
          };
          // What they refer to is not there: it plays no part in a page.
          await within.insert(made, { ...keysOf(resource, made), references: [] });
        }
      });
      process.send({ seeded: end });
    }
  }
}

function traveler(n) {
  return { archived: n % 10 === 0, email: `traveler${shuffled(n)}@example.com`, separateIcsEmails: false };
}

function operation(n) {
  return {
    amount: { currency: 'EUR', total: 100 },
    date: new Date(START + 1000 * shuffled(n)).toISOString(),
    invoiceId: invoice.id,
    operationType: 'other',
    transactionKind: 'purchase',
  };
}

function happening(n) {
  const data = {
    id: `u${n}`,
    type: 'user',
    createdAt: '2026-01-01T00:00:00Z',
    archived: false,
    email: 'a@example.com',
  };
  return { kind: 'user.created', data };
}

/** Each number below the size once, in no order. */
function shuffled(n) {
  return (n * 7_919) % size;
}

/** A page, and for one by cursor the cursor that the page before it named. */
async function page({ of, under, depth, offset, query = {} }) {
  const resource = { users: user, operations: billingOperation, events: event }[of];
  const collection = { resource, runtime: { store } };
  const ask = (asked) =>
    under
      ? listUnder(collection, sub, { parentId: invoice.id, id: '', caller: '' }, asked)
      : list(collection, { parentId: '', id: '', caller: '' }, asked);
  if (depth === undefined) {
    const last = size - Number(query.limit ?? 10);
    return ask({ ...query, offset: String(Math.max(0, Math.min(offset, last))) });
  }
  const key = JSON.stringify([of, under, depth, query]);
  if (!cursors.has(key)) cursors.set(key, await cursorAt(ask, { depth, query }));
  return ask({ ...query, pageKind: 'cursor', after: cursors.get(key) });
}

const cursors = new Map();

/** The cursor that a client has after walking as far: every one names its place, so that the walk can be cut short. */
async function cursorAt(ask, { depth, query }) {
  const { meta } = await ask({ ...query, pageKind: 'cursor', limit: '1' });
  const [listName] = JSON.parse(Buffer.from(meta.nextAfter, 'base64url').toString());
  const { sortBy } = query;
  const n = Math.floor(size * (query.order === 'desc' ? 1 - depth : depth));
  const time = START + (sortBy === 'date' ? 1000 * n : n);
  const created = listName.includes('invoiceId') ? new Date(time).toISOString() : time;
  // What is sorted by is folded.
  const value = sortBy === 'date' ? new Date(time).toISOString().toLowerCase() : created;
  return Buffer.from(JSON.stringify([listName, value, n + 1])).toString('base64url');
}
