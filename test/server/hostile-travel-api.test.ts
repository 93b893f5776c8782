import type { ServerResponse } from 'node:http';
import { json, type TravelServer, travelServer } from '../adapter/travel-server.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

const OTHER_TOKEN = '8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f';

let travel: TravelServer;
let service: RunningService;
let settings: ReturnType<typeof writeSettingsFile>;
beforeAll(async () => {
  travel = await travelServer(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x');
    const [, api, , name] = pathname.split('/');
    if (name === 'whoami') return json(response, 200, { data: { id: 'own', email: 'own@corp.example' } });
    if (api === 'pages')
      return json(response, 200, { data: name === 'users' ? endlessPage(searchParams) : [] });
    if (name === 'custom-fields') return response.end(`{"data":${'['.repeat(1e6)}${']'.repeat(1e6)}}`);
    return sendForever(response);
  });
  const connectionTo = (api: string) => ({ url: `${travel.url}/${api}`, keyEnv: 'OTHER_KEY' });
  settings = writeSettingsFile(
    { import: { maximum: 300 } },
    {
      default: { travelApi: { url: 'embedded' } },
      bodies: { scimTokenEnv: 'OTHER_TOKEN', travelApi: connectionTo('bodies') },
      pages: { travelApi: connectionTo('pages') },
    },
  );
  service = await startService({
    ...{ JETBRIDGE_CONFIG: settings.path, SCIM_TOKEN: TOKEN },
    ...{ OTHER_TOKEN, OTHER_KEY: 'key-of-the-hostile-api' },
  });
});
afterAll(async () => {
  await service.close();
  settings.remove();
  await travel.close();
});

/** Sends a body that never ends, as fast as it is read. */
function sendForever(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.write('{"data":[');
  const item = `{"id":"${'x'.repeat(60_000)}"},`;
  const more = () => {
    while (!response.destroyed && response.write(item));
  };
  response.on('drain', more);
  more();
}

function endlessPage(query: URLSearchParams): object[] {
  const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))];
  return Array.from({ length: limit }, (_, index) => ({
    ...{ id: `t${offset + index}`, email: `t${offset + index}@corp.example`, archived: false },
  }));
}

test('answers that are nested, endless or of endless pages stop no other connection', async () => {
  await eventually(async () => {
    const asked = new Set(travel.requests.map(({ url }) => url.split('?')[0]));
    for (const path of ['/bodies/api/custom-fields', '/bodies/api/cost-centers', '/pages/api/users'])
      expect(asked).toContain(path);
  });
  const { send } = scimClient(service.url, TOKEN);
  const created = await send('POST', '/Users', { userName: 'ada@corp.example' });
  expect(created.status).toBe(201);
  await eventually(async () => {
    const people = await service.people('default');
    expect(people.find(({ id }) => id === created.body.id)?.state).toBe('synced');
  });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  // A change of the connection itself is durable here, and waits for its travel API.
  const other = scimClient(service.url, OTHER_TOKEN);
  expect((await other.send('POST', '/Users', { userName: 'eve@corp.example' })).status).toBe(201);
});

test('the import of endless pages ends at import.maximum, and a metric shows it', async () => {
  await eventually(async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('jetbridge_import_maximum{connection="pages"} 300');
  });
  expect((await service.people('pages')).length).toBe(300);
});
