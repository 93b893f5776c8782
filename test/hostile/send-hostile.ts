import { type RunningService, startService } from '../fixtures/service.ts';
import { bodies } from './cases/bodies.ts';
import { filters } from './cases/filters.ts';
import { headers } from './cases/headers.ts';
import { targets } from './cases/targets.ts';
import { expectDocumented } from './documented.ts';
import { type Hostile, request, TOKEN } from './request.ts';
import { openWire, type Wire } from './wire.ts';

/** The malformed and malicious requests. Each list is of one kind. */
export const kinds: Hostile[][] = [...bodies, ...targets, ...filters, ...headers];

let service: RunningService;
let wire: Wire;
/** The tests that each request is answered as documented and changes nothing. */
export function testHostile(requests: Hostile[]): void {
  beforeAll(async () => {
    service = await startService({ SCIM_TOKEN: TOKEN }, { background: false });
    wire = await openWire(service.url);
  });
  afterAll(async () => {
    wire.close();
    await service.close();
  });

  test.each(requests.map((one) => [one.title, one] as const))(
    '%s',
    async (_title, { bytes, status, scimType, isLast = false }) => {
      const answer = await wire.send(bytes).catch(async (error: unknown) => {
        wire = await openWire(service.url);
        throw error;
      });
      // The connection is closed only if the beginning of the next request is unknown.
      if (answer.isClosed || isLast) {
        wire.close();
        wire = await openWire(service.url);
      }
      expectDocumented(answer);
      expect([status].flat()).toContain(answer.status);
      if (scimType) expect(JSON.parse(answer.text).scimType).toBe(scimType);
      expect(await users()).toBe(0);
    },
  );
}

/** Returns the number of users, requested over the same connection. */
async function users(): Promise<number> {
  const { status, text } = await wire.send(request('GET', '/Users?count=0'));
  expect(status).toBe(200);
  return JSON.parse(text).totalResults;
}
