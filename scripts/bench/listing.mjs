// Fills long lists of a travel service, and reads pages of them on request: node listing.mjs FOLDER SIZE. It calls the service's
// code without HTTP, whose cost would hide the differences between pages.
import { randomBytes } from 'node:crypto';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { list, listSubCollection } from '../../src/travel/collection.ts';
import { indexKeys } from '../../src/travel/declaration/resource.ts';
import { billingOperation } from '../../src/travel/resources/billing.ts';
import { event } from '../../src/travel/resources/event.ts';
import { user } from '../../src/travel/resources/user.ts';
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
const [sub] = billingOperation.subCollections;
await fill();
const pages = Object.fromEntries(LISTS.map(({ name, ...list }) => [name, () => page(list)]));
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
    [event, userCreated],
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
          // The referenced resources do not exist; a page does not read them.
          await within.insert(made, { ...indexKeys(resource, made), references: [] });
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

function userCreated(n) {
  const data = {
    id: `u${n}`,
    type: 'user',
    createdAt: '2026-01-01T00:00:00Z',
    archived: false,
    email: 'a@example.com',
  };
  return { kind: 'user.created', data };
}

/** Returns each number below the size once, in mixed order. */
function shuffled(n) {
  return (n * 7_919) % size;
}

/** Reads a page; a cursor page starts at the cursor of the page before it. */
async function page({ of, under, depth, offset, query = {} }) {
  const resource = { users: user, operations: billingOperation, events: event }[of];
  const collection = { resource, deps: { store } };
  const readPage = (parameters) =>
    under
      ? listSubCollection(collection, sub, { parentId: invoice.id, id: '', caller: '' }, parameters)
      : list(collection, { parentId: '', id: '', caller: '' }, parameters);
  if (depth === undefined) {
    const last = size - Number(query.limit ?? 10);
    return readPage({ ...query, offset: String(Math.max(0, Math.min(offset, last))) });
  }
  const key = JSON.stringify([of, under, depth, query]);
  if (!cursors.has(key)) cursors.set(key, await cursorAt(readPage, { depth, query }));
  return readPage({ ...query, pageKind: 'cursor', after: cursors.get(key) });
}

const cursors = new Map();

/** Builds the cursor of a client that has read up to the depth, without reading the pages before. */
async function cursorAt(readPage, { depth, query }) {
  const { meta } = await readPage({ ...query, pageKind: 'cursor', limit: '1' });
  const [listName] = JSON.parse(Buffer.from(meta.nextAfter, 'base64url').toString());
  const { sortBy } = query;
  const n = Math.floor(size * (query.order === 'desc' ? 1 - depth : depth));
  const time = START + (sortBy === 'date' ? 1000 * n : n);
  const created = listName.includes('invoiceId') ? new Date(time).toISOString() : time;
  // The sort key is case-folded.
  const value = sortBy === 'date' ? new Date(time).toISOString().toLowerCase() : created;
  return Buffer.from(JSON.stringify([listName, value, n + 1])).toString('base64url');
}
