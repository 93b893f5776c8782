import { STATUS_CODES } from 'node:http';
import { urns } from '../../src/schema/resource.ts';
import { faultyProxy } from '../fixtures/faulty-proxy.ts';
import { readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

/** The errors that the connect guides explain, held against what the service answers. */
let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

type Answer = { status: number; text: string | undefined };

async function answer(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
  const { status, body: answered } = await scim.send(method, path, body, headers);
  return { status, text: answered?.detail };
}

/** Reads a resource of the travel service, or changes it. */
async function travel(path: string, data?: object) {
  const headers = {
    authorization: `Bearer ${scim.service.travelApiKey}`,
    'content-type': 'application/json',
  };
  const change = data && { method: 'PATCH', body: JSON.stringify({ data }) };
  const response = await fetch(`${scim.service.url}/api${path}`, { headers, ...change });
  expect(response.status).toBe(200);
  return JSON.parse(await response.text()).data;
}

/** A request for every error, by the text and status that a guide shows. */
const requests: Record<string, () => Promise<Answer>> = {
  '"Unauthorized" (401)': async () => {
    const { status } = await answer('GET', '/Users?count=2', undefined, { Authorization: 'Bearer wrong' });
    return { status, text: STATUS_CODES[status] };
  },
  '"Not Found" (404)': async () => {
    const headers = { Authorization: `Bearer ${scim.service.scimToken}` };
    const { status } = await fetch(`${scim.service.url}/scim/Users?count=2`, { headers });
    return { status, text: STATUS_CODES[status] };
  },
  '"Another user has this userName or email address." (409)': async () => {
    await scim.send('POST', '/Users', { userName: 'ada@corp.example', externalId: '1' });
    return answer('POST', '/Users', { userName: 'ada@corp.example', externalId: '2' });
  },
  '"Another user has this userName." (409)': async () => {
    await scim.send('POST', '/Users', { userName: 'ada@corp.example' });
    const { body } = await scim.send('POST', '/Users', { userName: 'eve@corp.example' });
    const operation = { op: 'replace', path: 'userName', value: 'ada@corp.example' };
    return answer('PATCH', `/Users/${body.id}`, patchOp(operation));
  },
  '"userName is required." (400)': () => answer('POST', '/Users', { userName: '' }),
  '"This person administers the travel service and is not deactivated by an identity provider; an administrator of Jetbridge must approve it." (403)':
    async () => {
      const { body } = await scim.send('POST', '/Users', { userName: 'ada@corp.example' });
      await travel(`/users/${body[urns.travel].travelUserId}`, { roles: ['admin'] });
      return answer('DELETE', `/Users/${body.id}`);
    },
  '"Jetbridge itself uses the travel service as this person, who is never deactivated." (403)': async () => {
    const { email } = await travel('/whoami');
    const { body } = await scim.send('POST', '/Users', { userName: email });
    return answer('DELETE', `/Users/${body.id}`);
  },
  '"The travel service refuses to take this person out of use." (403)': async () => {
    const proxy = await faultyProxy(scim.service.url);
    const bridge = await scimService({
      TRAVEL_API_URL: proxy.url,
      TRAVEL_API_KEY: scim.service.travelApiKey,
    });
    const { body } = await bridge.send('POST', '/Users', { userName: 'ada@corp.example' });
    const forbidden = { status: 403, body: JSON.stringify({ code: 'forbidden', message: 'not allowed' }) };
    proxy.decide(({ body: sent }) => (sent.includes('archived') ? forbidden : 'pass'));
    const operation = { op: 'replace', path: 'active', value: false };
    const refused = await bridge.send('PATCH', `/Users/${body.id}`, patchOp(operation));
    await bridge.close();
    await proxy.close();
    return { status: refused.status, text: refused.body.detail };
  },
};

const shown = ['docs/connect-okta.md', 'docs/connect-entra.md'].flatMap((file) =>
  tableRowsUnder(readDocument(file), 'Messages in the admin console').flatMap(([cell = '']) => {
    const errors = cell.match(/"[^"]+" \(\d{3}\)/g) ?? [];
    return errors.map((error) => [file, error] as const);
  }),
);

test('the guides explain errors of their own', () => {
  for (const file of ['docs/connect-okta.md', 'docs/connect-entra.md'])
    expect(shown.filter(([one]) => one === file).length).toBeGreaterThan(1);
  expect(Object.keys(requests).filter((error) => !shown.some(([, one]) => one === error))).toEqual([]);
});

test.each(shown)('%s shows %s as the service answers it', async (_, error) => {
  const request = requests[error];
  if (!request) throw new Error(`There is no request for ${error}: add one to this test.`);
  const { status, text } = await request();
  expect(`"${text}" (${status})`).toBe(error);
});

test('a quoted sentence with no status would escape this test', () => {
  for (const file of ['docs/connect-okta.md', 'docs/connect-entra.md'])
    expect(readDocument(file)).not.toMatch(/"[^"]+\."(?! \(\d{3}\))/);
});
