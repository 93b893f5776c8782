// Fills the list of users of one connection, and prints the CPU time of pages of it: node scripts/bench/user-lists.mjs FOLDER SIZE.
// It calls the store's code without HTTP, whose cost would hide the differences between pages.
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { ensureConnection } from '../../src/store/connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';

const START = Date.UTC(2026, 0, 1);
const AT_ONCE = 5_000;

const [folder, text] = process.argv.slice(2);
const size = Number(text);
const database = await openEmbedded(folder, true);
await ensureConnection(database, { id: 'idp', account: 'default' });
const { identities, imports } = provisioningStore(database);
const everybody = { all: [] };
const byPosition = { by: 'position', descending: false };
await fill();
for (const [name, times, query] of lists()) await measure(name, times, query);
await measurePaging();
await database.close();

/** Fills the list, unless an earlier run did. */
async function fill() {
  const { total } = await identities.findPage('idp', 0, 0);
  for (let first = total; first < size; first += AT_ONCE) {
    const length = Math.min(AT_ONCE, size - first);
    await imports.saveUnclaimed(
      Array.from({ length }, (_, at) => person(first + at)),
      START,
    );
  }
}

function person(n) {
  const email = `user${n}@corp.example`;
  const displayName = n % 1000 === 1 ? `rare ${Math.floor(n / 10_000)}` : `name ${shuffled(n)}`;
  return {
    ...{ connection: 'idp', id: n.toString(16).padStart(36, '0'), claimed: false, state: 'synced' },
    desired: {
      ...{ userName: email, active: n % 50 !== 7, emails: [{ value: email, type: 'work', primary: true }] },
      ...(n % 4 === 0 ? {} : { displayName }),
      ...(n % 2 === 0 ? { externalId: `E${n}` } : {}),
      name: { givenName: 'Ada', familyName: 'Lovelace' },
    },
    ...{
      version: 1,
      revision: 1,
      rulesGeneration: 0,
      travelId: `t${n}`,
      applied: {},
      refused: {},
      progress: {},
      origin: {},
    },
    observed: { id: `t${n}`, email, archived: false, createdAt: '2026-01-01T00:00:00Z' },
    ...{ findings: [], trace: [], attempts: 0, createdAt: START + n, lastModified: START + shuffled(n) },
  };
}

/** Returns each number below the size once, in mixed order. */
function shuffled(n) {
  return (n * 104_729) % size;
}

function lists() {
  const is = (field, value) => ({ field, operator: 'eq', value });
  const after = (field, share) => ({ field, operator: 'gt', value: START + size * share });
  const before = (field, share) => ({ field, operator: 'lt', value: START + size * share });
  const name = { by: 'displayName', descending: false };
  const [user, other] = ['user5@corp.example', 'user9@corp.example'];
  const rare = is('displayName', 'rare 0');
  return [
    ['userName eq', 200, { where: is('userName', user) }],
    ['displayName eq and active eq', 100, { where: { all: [rare, is('active', true)] } }],
    ['userName eq or emails eq', 100, { where: { any: [is('userName', user), is('email', other)] } }],
    ['first page', 30, {}],
    ['first page of active users', 30, { where: is('active', true) }],
    ['first page by displayName', 30, { order: name }],
    ['first page by displayName, descending', 30, { order: { ...name, descending: true } }],
    ['middle by cursor, by displayName', 30, { order: name, start: { after: { value: 'name 5', id: '' } } }],
    ['middle by startIndex', 7, { start: { offset: size >> 1 } }],
    ['last page by startIndex', 7, { start: { offset: Math.max(0, size - 100) } }],
    ['active users by displayName', 20, { where: is('active', true), order: name }],
    ['lastModified gt, 90 %', 3, { where: after('lastModified', 0.1) }],
    ['active eq and created gt, 50 %', 3, { where: { all: [is('active', true), after('created', 0.5)] } }],
    ['active eq or created lt, 50 %', 3, { where: { any: [is('active', false), before('created', 0.5)] } }],
  ];
}

async function measure(name, times, query) {
  const calls = [];
  let longestStep = 0;
  for (let time = 0; time < times; time += 1) {
    let step = performance.now();
    const endStep = () => {
      longestStep = Math.max(longestStep, performance.now() - step);
    };
    const scan = {
      yieldBetweenSteps: async () => {
        endStep();
        await setImmediate();
        step = performance.now();
      },
    };
    // A store of its own, because a store remembers where pages ended.
    const store = provisioningStore(database).identities;
    const page = { where: everybody, order: byPosition, start: { offset: 0 }, limit: 100, ...query };
    calls.push(await cpuOf(() => store.list('idp', page, scan)));
    endStep();
  }
  calls.sort((left, right) => left - right);
  print(name, calls[times >> 1], `longest step ${longestStep.toFixed(1)} ms of wall time`);
}

/** Reads the whole list page by page. */
async function measurePaging() {
  const scan = { yieldBetweenSteps: async () => {} };
  let pages = 0;
  const spent = await cpuOf(async () => {
    for (let offset = 0; offset < size; offset += 200) {
      const start = { offset };
      await identities.list('idp', { where: everybody, order: byPosition, start, limit: 200 }, scan);
      pages += 1;
    }
  });
  print('page after page by startIndex, mean', spent / pages, `${pages} pages of 200`);
}

async function cpuOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function print(name, ms, rest) {
  process.stdout.write(`${name.padEnd(40)} ${ms.toFixed(2).padStart(9)} ms   ${rest}\n`);
}
