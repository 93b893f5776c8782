import { rawExchange, requestText } from '../fixtures/raw-http.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

let scim: ScimService;
let id: string;
beforeAll(async () => {
  scim = await scimService();
  id = (await scim.send('POST', '/Users', { userName: 'ada' })).body.id;
});
afterAll(() => scim.close());

/** Sends a GET over a plain socket, because `fetch` would normalize the target. */
async function exchange(method: string, target: string, token = scim.service.scimToken, body = '') {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' };
  const port = Number(new URL(scim.service.url).port);
  const answer = await rawExchange(port, requestText({ method, target, headers, body }));
  const [head = '', text = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), text };
}

describe('a doubled slash counts as one slash in', () => {
  it.each([
    '/scim/v2//Users/ID',
    '//scim/v2/Users/ID',
    '/scim//v2/Users/ID',
    '/scim/v2/Users//ID',
    '/scim/v2/Users/ID//',
    '///SCIM////v2///Users//ID?attributes=userName',
  ])('GET %s', async (target) => {
    const { status, text } = await exchange('GET', target.replace('ID', id));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ id, userName: 'ada' });
  });

  it('the path of a list, while slashes in the filter are kept', async () => {
    await scim.send('POST', '/Users', { userName: 'a//b' });
    const filter = encodeURIComponent('userName eq "a//b"').replaceAll('%2F', '/');
    const { text } = await exchange('GET', `/scim/v2//Users?filter=${filter}`);
    expect(JSON.parse(text)).toMatchObject({ totalResults: 1, Resources: [{ userName: 'a//b' }] });
  });

  it('a base URL, so that locations have single slashes', async () => {
    const { status, text } = await exchange('POST', '//scim/v2//Users', undefined, '{"userName":"eve"}');
    expect(status).toBe(201);
    expect(JSON.parse(text).meta.location).toMatch(/^http:\/\/localhost\/scim\/v2\/Users\/[\w-]+$/);
  });

  it('the paths of discovery endpoints, searches and endpoints that are not offered', async () => {
    expect(await exchange('GET', '/scim/v2//Schemas')).toMatchObject({ status: 200 });
    expect(await exchange('POST', '/scim/v2//Bulk', undefined, '{}')).toMatchObject({ status: 501 });
    const body = '{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"]}';
    expect(await exchange('POST', '/scim/v2//Users//.search', undefined, body)).toMatchObject({
      status: 200,
    });
  });

  it('the path of the token endpoint', async () => {
    const [one, other] = [await exchange('POST', '/oauth/token'), await exchange('POST', '//oauth//token')];
    expect(one.status).toBeGreaterThanOrEqual(400);
    expect(one.status).not.toBe(404);
    expect(other.status).toBe(one.status);
  });
});

it('a path with a doubled slash still needs the bearer token', async () => {
  expect(await exchange('GET', '//scim/v2//Users', 'wrong')).toMatchObject({ status: 401 });
});

it.each(['//api/users', '/api//users', '//admin', '//healthz', '//metrics', '/scim/v2/Users%2F%2FID'])(
  'elsewhere the path counts as it stands: %s is 404',
  async (target) => {
    expect(await exchange('GET', target, scim.service.travelApiKey)).not.toMatchObject({ status: 200 });
  },
);
