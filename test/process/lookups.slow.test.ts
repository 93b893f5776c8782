import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

const CHANGES = 200;
/** At most four readings a second during a burst of some seconds; one reading for each change would be 200. */
const A_FEW = 40;

let service: RunningService;
let lines: JsonObject[];
beforeEach(async () => {
  lines = [];
  service = await startService({}, { log: createLog('debug', parseLinesInto(lines)) });
});
afterEach(() => service.close());

async function send(path: string, token: string, body: object): Promise<{ id: string }> {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
  // The travel API wraps a created resource, SCIM does not.
  const created = (await answer.json()) as { id: string; data?: { id: string } };
  return created.data ?? created;
}

/** Creates two hundred resources, ten at a time, and returns the last one. */
async function createMany(path: string, resourceOf: (n: number) => object): Promise<{ id: string }> {
  for (let n = 1; n < CHANGES; n += 10) {
    const ten = Array.from({ length: Math.min(10, CHANGES - n) }, (_, at) => resourceOf(n + at));
    await Promise.all(ten.map((data) => send(path, service.travelApiKey, { data })));
  }
  return send(path, service.travelApiKey, { data: resourceOf(CHANGES) });
}

/** Returns the number of reads of this path, which only the bridge makes. The request log leaves out most of them. */
function countReads(path: string): number {
  return lines.filter((line) => line['method'] === 'GET' && line['path'] === path).length;
}

/** Waits for three further polls of the event feed, after which the bridge has applied all changes. */
async function waitForChanges(): Promise<void> {
  const polls = countReads('/api/events');
  await eventually(async () => expect(countReads('/api/events')).toBeGreaterThanOrEqual(polls + 3));
}

test('two hundred cost centers created at once cause a few readings, and the last one is found', async () => {
  await waitForChanges();
  const before = countReads('/api/billing-profiles');
  const last = await createMany('/api/cost-centers', (n) => ({ name: `Center ${n}` }));
  const user = await send('/scim/v2/Users', service.scimToken, {
    userName: 'ada@corp.example',
    emails: [{ value: 'ada@corp.example', type: 'work' }],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { costCenter: `Center ${CHANGES}` },
  });
  const [person] = (await service.people('default')).filter(({ id }) => id === user.id);
  expect(person?.observed).toMatchObject({ costCenterId: last.id });
  await waitForChanges();
  const readings = countReads('/api/billing-profiles') - before;
  expect(readings).toBeGreaterThan(0);
  expect(readings).toBeLessThan(A_FEW);
});

test('changes of other collections cause no reading', async () => {
  await waitForChanges();
  const before = countReads('/api/billing-profiles');
  await createMany('/api/project-codes', (n) => ({ code: `code-${n}` }));
  await waitForChanges();
  // The bridge also reads the lookups once a minute without a change.
  expect(countReads('/api/billing-profiles') - before).toBeLessThan(3);
});
