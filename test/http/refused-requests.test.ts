import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { startService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

/** A path, a header and a token that are as long as a request allows. */
const LONG = 'x'.repeat(3_000);
const headers = { 'User-Agent': LONG, Authorization: `Bearer ${LONG}`, 'Content-Type': 'application/json' };

/** Each of these is refused, and has been written to a log each time. */
const refused: [string, RequestInit][] = [
  [`/scim/v2/Users/${LONG}`, { headers }],
  ['/scim/v2/Users', { method: 'POST', headers, body: JSON.stringify({ userName: LONG }) }],
  [`/api/users/${LONG}`, { headers }],
  [
    '/oauth/token',
    { method: 'POST', headers: { 'User-Agent': LONG }, body: new URLSearchParams({ client_id: LONG }) },
  ],
  [`/admin/api/people/${LONG}`, { headers }],
  [`/nowhere/${LONG}`, { headers }],
];

/** The bytes that ten minutes may add to the disk. */
const MAX_BYTES_OF_TEN_MINUTES = 5_000_000;
/** A position, a time and a request id. */
const BYTES_OF_KEYS = 100;

test('a minute of refused requests of any kind adds a bounded number of rows, lines and bytes, however many there are', async () => {
  const time = clock();
  const lines: JsonObject[] = [];
  const service = await startService(
    { LOG_LEVEL: 'info' },
    { log: createLog('info', parseLinesInto(lines)), strangerClock: time },
  );
  const database = await openTestDatabase(service.data);
  const rows = async () => {
    const requests = await database.db
      .selectFrom('exchange')
      .selectAll()
      .where('connection_id', '=', '')
      .where('user_id', 'is', null)
      .execute();
    const entries = await database.db.selectFrom('audit_entry').selectAll().execute();
    return { requests, entries };
  };
  const ROUNDS = 60;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [path, options] of refused) {
      const { status } = await fetch(service.url + path, options);
      expect([400, 401, 404, 429]).toContain(status);
    }
  // The batches of the logs, then the end of the minute, and the batch with the sums.
  for (const ms of [500, 60_000, 500]) {
    time.advance(ms);
    await new Promise(setImmediate);
  }
  await eventually(async () =>
    expect(lines.map(({ msg }) => msg)).toContain('further requests without a valid credential'),
  );
  const ofRequests = lines.filter(({ msg }) => msg === 'request');
  expect(ofRequests).toHaveLength(50);
  const { requests, entries } = await eventually(async () => {
    const found = await rows();
    expect(found.requests.length).toBeGreaterThan(200);
    return found;
  });
  // One address has 200 entries, and one for each direction and status.
  expect(requests.length).toBeLessThanOrEqual(210);
  expect(entries).toEqual([]);
  expect(Math.max(...requests.map(({ path }) => path.length))).toBeLessThanOrEqual(200);
  expect(Math.max(...ofRequests.map((line) => JSON.stringify(line).length))).toBeLessThan(700);
  // At most 200 lines and 400 requests a minute come from all addresses, and each row has keys in indexes.
  const bytesOf = (row: object) => Object.values(row).join('').length + BYTES_OF_KEYS;
  const perMinute =
    4 * JSON.stringify(ofRequests).length + 2 * requests.reduce((sum, row) => sum + bytesOf(row), 0);
  expect(10 * perMinute).toBeLessThan(MAX_BYTES_OF_TEN_MINUTES);
  await database.close();
  await service.close();
});

test('old entries of the audit log are removed each hour', async () => {
  const time = clock();
  const service = await startService({}, { strangerClock: time });
  const database = await openTestDatabase(service.data);
  const old = {
    at: time.now() - 400 * 24 * 3_600_000 + 1_000,
    actor: 'ada',
    actor_kind: 'account',
    address: '',
  };
  const others = { action: 'applyMapping', details: '{}', status: 204 };
  await database.db
    .insertInto('audit_entry')
    .values([
      { position: 1, ...old, ...others },
      { position: 2, ...old, ...others, at: time.now() },
    ])
    .execute();
  time.advance(3_600_000);
  await eventually(async () => {
    const left = await database.db.selectFrom('audit_entry').select('position').execute();
    expect(left).toEqual([{ position: 2 }]);
  });
  await database.close();
  await service.close();
});
