import type { JsonObject } from '../../../src/schema/resource.ts';
import { urns } from '../../../src/schema/resource.ts';
import { type RunningService, startService } from '../../fixtures/service.ts';
import { expectedOf, type Idiom } from './idioms.ts';

/** Each PATCH of these, sent to the whole service. */
export function playOverHttp(idioms: readonly Idiom[]): void {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({}, { background: false });
  });
  afterAll(() => service.close());

  test.each(idioms)('idiom %d: %s', async (number, _title, seed, message, outcome) => {
    // A userName of its own avoids conflicts, and does not change the effect of the PATCH.
    const user = { ...seed, userName: `idiom${number}@corp.example` };
    const created = await send('POST', '/Users', user);
    expect(created.status).toBe(201);
    const { id } = created.body;
    const answer = await send('PATCH', `/Users/${id}`, message);
    const read = await send('GET', `/Users/${id}`);
    if (typeof outcome['error'] === 'string') {
      expect(answer).toMatchObject({ status: 400, body: { scimType: outcome['error'], status: '400' } });
      expect(read.body).toEqual(created.body);
    } else {
      expect(answer.status).toBe(200);
      expect(own(answer.body)).toEqual(expectedOf(user, outcome));
      expect(read.body).toEqual(answer.body);
    }
    expect((await send('DELETE', `/Users/${id}`)).status).toBe(204);
  });

  async function send(method: string, path: string, body?: JsonObject) {
    const headers = {
      Authorization: `Bearer ${service.scimToken}`,
      ...(body ? { 'Content-Type': 'application/scim+json' } : {}),
    };
    const sent = body ? { body: JSON.stringify(body) } : {};
    const response = await fetch(`${service.url}/scim/v2${path}`, { method, headers, ...sent });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }
}

/** The attributes that the client wrote, without those that the service adds. */
function own({ id: _id, meta: _meta, schemas: _schemas, ...body }: JsonObject): JsonObject {
  const { travelUserId: _traveler, ...travel } = (body[urns.travel] ?? {}) as JsonObject;
  const { [urns.travel]: _travel, ...rest } = body;
  return Object.keys(travel).length > 0 ? { ...rest, [urns.travel]: travel } : rest;
}
