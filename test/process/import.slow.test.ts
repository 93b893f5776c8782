import { json, type TravelServer, travelServer } from '../adapter/travel-server.ts';
import { createDatabaseIn } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { runJetbridge, serveJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';

/** Starts a travel API whose lists have no totals. The email of its first traveler is a number, which cannot be read. */
async function travelApi(): Promise<{ server: TravelServer; setPeople(count: number): void }> {
  let people: object[] = [];
  const server = await travelServer(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x');
    const offset = Number(searchParams.get('offset'));
    if (pathname === '/api/users') return json(response, 200, { data: people.slice(offset, offset + 100) });
    if (!pathname.startsWith('/api/users/')) return json(response, 200, { data: [] });
    const id = pathname.slice('/api/users/'.length);
    const found = people.find((person) => 'id' in person && person.id === id);
    return found ? json(response, 200, { data: found }) : json(response, 404, { code: 'notFound' });
  });
  return {
    server,
    setPeople: (count) => {
      people = Array.from({ length: count }, (_, n) => ({
        id: `u${n}`,
        email: n === 0 ? 7 : `p${n}@corp.example`,
      }));
    },
  };
}

const data = temporaryFolder();
let api: Awaited<ReturnType<typeof travelApi>>;
let environment: Record<string, string>;

beforeAll(async () => {
  createDatabaseIn(data.path);
  api = await travelApi();
  environment = {
    JETBRIDGE_DATA: data.path,
    TRAVEL_API_URL: api.server.url,
    TRAVEL_API_KEY: 'key-1',
    SCIM_TOKEN: 'scim-token-of-a-test',
  };
});

afterAll(async () => {
  await api.server.close();
  data.remove();
});

test('an import that lists too few travelers exits with 1 until an admin accepts the missing ones', async () => {
  const unreadableWarning = 'default: 1 traveler without a readable email passed over.\n';
  api.setPeople(121);
  expect(await runJetbridge(['import'], environment)).toEqual({
    code: 0,
    out: 'default: 121 travelers read\n',
    err: unreadableWarning,
  });
  api.setPeople(4);
  const incompleteImport = await runJetbridge(['import'], environment);
  expect(incompleteImport).toMatchObject({ code: 1, out: 'default: 4 travelers read\n' });
  expect(incompleteImport.err).toContain('only 3 of 120 known travelers were seen');
  expect(incompleteImport.err).toContain('npx jetbridge import --accept-missing');

  const server = await serveJetbridge(environment);
  const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
  const incomplete = /jetbridge_import_incomplete\{connection="default"\} (\d)/;
  await eventually(async () => expect(incomplete.exec(await metrics())?.[1]).toBe('1'));
  expect(await countUsers(server.url)).toBe(120);
  await server.stop();

  expect(await runJetbridge(['import', '--accept-missing'], environment)).toEqual({
    code: 0,
    out: 'default: 4 travelers read\n',
    err: unreadableWarning,
  });
  const again = await serveJetbridge(environment);
  await eventually(async () => {
    const text = await (await fetch(`${again.url}/metrics`)).text();
    expect(incomplete.exec(text)?.[1]).toBe('0');
  });
  expect(await countUsers(again.url)).toBe(3);
  await again.stop();
});

async function countUsers(url: string): Promise<number> {
  const answer = await fetch(`${url}/scim/v2/Users?count=0`, {
    headers: { Authorization: `Bearer ${environment.SCIM_TOKEN}` },
  });
  const { totalResults } = (await answer.json()) as { totalResults: number };
  return totalResults;
}
