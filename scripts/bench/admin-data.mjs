// Fills an empty database for the views of the admin page: node admin-data.mjs SIZE. The settings come from the environment. It
// calls the store's code, with many rows in one transaction. SIZE is the number of people and of exchanges.
import { hashSecret } from '../../src/http/authentication.ts';
import { exchangeStore } from '../../src/log/exchange-store.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { adminTokens } from '../../src/store/credentials/admins.ts';
import { scimTokens } from '../../src/store/credentials/credentials.ts';
import { currentEncryptionKey, encryption } from '../../src/store/credentials/encryption.ts';
import { insertEmailKeys } from '../../src/store/identities/email-keys.ts';
import { toRow } from '../../src/store/identities/identity-row.ts';
import { countIdentities } from '../../src/store/lists/list-counters.ts';
import { rulesStore } from '../../src/store/queues/rules-in-force.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { insertInBatches } from '../../src/store/sql/queries.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { CONNECTIONS, exchanges, person, personId } from './admin-rows.mjs';
import { readBenchSettings, scriptToken } from './admin-settings.mjs';
import { pick } from './pick.mjs';

const DAY_MS = 24 * 60 * 60_000;
const PEOPLE_AT_ONCE = 5_000;
const EXCHANGES_AT_ONCE = 5_000;
const AUDIT_ENTRIES = 100_000;
const EVENTS = 50_000;
const REQUESTS = 100_000;
const MAPPINGS = 200;

const size = Number(process.argv[2]);
const settings = readBenchSettings();
const database = await openDatabase(settings, { exclusive: true });
const secrets = encryption(currentEncryptionKey(settings));
const now = Date.now();
const ATTEMPTS = JSON.stringify([{ at: now, latencyMs: 31, status: 204 }]);
for (const { id, account } of settings.connections) await ensureConnection(database, { id, account });
await fillPeople();
await fillExchanges();
await fillCredentials();
await fillAudit();
await fillMappings();
await fillTravelService();
await database.dialect.updateStatistics(database.db, [
  ...['identity', 'identity_email', 'exchange', 'audit_entry'],
  ...['travel_resource', 'travel_delivery', 'mapping_version'],
]);
await database.close();
process.send({ filled: true });

async function fillPeople() {
  for (let first = 0; first < size; first += PEOPLE_AT_ONCE) {
    const length = Math.min(PEOPLE_AT_ONCE, size - first);
    const people = Array.from({ length }, (_, at) => person(first + at, now));
    await database.transaction(
      async (tx) => {
        for (const connection of CONNECTIONS) {
          const scope = database.scopeOf(connection);
          const own = people.filter((one) => one.connection === connection);
          const rows = own.map((one) => toRow(one, scope.account, now));
          await insertInBatches(rows, (some) => tx.insertInto('identity').values(some));
          await insertEmailKeys(tx, scope, own);
          const counted = own.map((one) => ({
            now: {
              deleted_at: one.deletedAt ?? null,
              active: Number(one.desired.active),
              claimed: Number(one.claimed),
            },
          }));
          await countIdentities(tx, scope, counted);
        }
      },
      { durable: false },
    );
    process.send({ people: first + length });
  }
}

async function fillExchanges() {
  const store = exchangeStore(database);
  let some = [];
  let written = 0;
  const write = async () => {
    await store.append(some);
    written += some.length;
    some = [];
    process.send({ exchanges: written });
  };
  for (const exchange of exchanges(size, now)) {
    some.push(exchange);
    if (some.length === EXCHANGES_AT_ONCE) await write();
  }
  if (some.length > 0) await write();
}

async function fillCredentials() {
  const token = { id: 'bench', name: 'bench', role: 'admin', createdAt: now, expiresAt: now + DAY_MS };
  await adminTokens(database).create({ ...token, maker: { name: 'admin' }, hash: hashSecret(scriptToken) });
  for (let n = 0; n < 100; n += 1)
    await scimTokens(database).create({
      ...{ id: `token${n}`, hash: hashSecret(`token${n}`), name: `token ${n}` },
      ...{ connection: pick(CONNECTIONS, n), createdAt: now - n * DAY_MS, expiresAt: undefined },
    });
}

/** Most entries are of a few admins; `ada` and the action `endSession` are rare. */
async function fillAudit() {
  const insert = (db, rows) => insertInBatches(rows, (some) => db.insertInto('audit_entry').values(some));
  const entry = (n) => ({
    position: n + 1,
    at: now - (AUDIT_ENTRIES - n) * 300_000,
    actor: n % 20_000 === 7 ? 'ada' : `admin ${n % 5}`,
    actor_kind: 'account',
    address: '192.0.2.7',
    action: n % 20_000 === 9 ? 'endSession' : pick(['signIn', 'decideHolds', 'applyMapping'], n),
    details: JSON.stringify({
      connection: pick(CONNECTIONS, n),
      cause: 'safetyValve',
      people: [personId(n)],
    }),
    status: 200,
  });
  await insertAll(AUDIT_ENTRIES, entry, insert);
  await database.db
    .insertInto('travel_turn')
    .values({ type: 'auditEntry', seq: AUDIT_ENTRIES, latest: 0 })
    .onConflict((conflict) => conflict.column('type').doUpdateSet({ seq: AUDIT_ENTRIES }))
    .execute();
}

async function fillMappings() {
  const rules = rulesStore(database);
  for (let n = 1; n <= MAPPINGS; n += 1) {
    const scimUserMapping = Array.from({ length: 40 }, (_, at) => ({
      ...{ scimAttribute: 'title', customField: `Field ${at} of ${n}`, transforms: ['trim'] },
    }));
    const version = { generation: n, edition: 1, digest: `digest${n}`, source: 'collection' };
    const appliedAt = now - (MAPPINGS - n) * DAY_MS;
    await rules.replace(
      'okta',
      { ...version, mapping: { scimUserMapping }, lookups: undefined },
      appliedAt,
      'ada',
    );
  }
}

/** Events with a delivery each for one webhook, and requests of integrations. */
async function fillTravelService() {
  const store = travelStore(database, secrets);
  const webhook = { type: 'webhook', id: 'webhook0', parentId: '', createdAt: now - 40 * DAY_MS };
  const doc = { url: 'https://expenses.example.com/travel-events', disabled: false };
  const keys = { archived: false, unique: [], index: [{ name: 'kind', value: '*' }], references: [] };
  await store.write(['webhook'], (within) => within.insert({ ...webhook, doc }, keys));
  for (let first = 0; first < EVENTS; first += PEOPLE_AT_ONCE)
    await store.write(['event'], async (within) => {
      for (let n = first; n < first + PEOPLE_AT_ONCE; n += 1) within.append(...event(n));
    });
  const status = (to, condition) =>
    database.db
      .updateTable('travel_delivery')
      .set({ status: to, next_attempt_at: null, attempts: ATTEMPTS })
      .where('seq', condition === undefined ? '>' : 'in', condition ?? 0)
      .execute();
  await status('succeeded');
  await status(
    'failed',
    Array.from({ length: 40 }, (_, n) => 1_000 * (n + 1)),
  );
  for (let first = 0; first < REQUESTS; first += PEOPLE_AT_ONCE)
    await exchangeStore(database).append(
      Array.from({ length: PEOPLE_AT_ONCE }, (_, at) => travelRequest(first + at)),
    );
}

function event(n) {
  const createdAt = now - 20 * DAY_MS + n * 30_000;
  const data = {
    ...{ id: `t${n}`, type: 'user', createdAt: new Date(createdAt).toISOString() },
    ...{ email: `user${n}@corp.example`, firstName: 'Ada', lastName: 'Lovelace', lang: 'en' },
  };
  const kind = pick(['user.created', 'user.updated'], n);
  const id = n.toString(16).padStart(24, '0');
  const resource = { type: 'event', id, parentId: '', createdAt, doc: { kind, data } };
  return [resource, { kind, newId: () => `d${n.toString(16).padStart(23, '0')}` }];
}

function travelRequest(n) {
  const isFailed = n % 5_000 === 3;
  return {
    ...{ direction: 'api', at: now - (REQUESTS - n) * 1_000, ms: n % 40 },
    ...{ method: pick(['GET', 'GET', 'PATCH'], n), path: `/api/users/t${n}`, status: isFailed ? 404 : 200 },
    ...{ credential: 'apiKey:a', requestId: `request${n}`, requestHeaders: {}, responseHeaders: {} },
    responseBody: { text: '{"data":{}}', isCut: false },
  };
}

async function insertAll(count, toRowOf, insert) {
  for (let first = 0; first < count; first += PEOPLE_AT_ONCE) {
    const rows = Array.from({ length: Math.min(PEOPLE_AT_ONCE, count - first) }, (_, at) =>
      toRowOf(first + at),
    );
    await database.transaction((tx) => insert(tx, rows), { durable: false });
  }
}
