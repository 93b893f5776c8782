import type { ServerResponse } from 'node:http';
import { json, type TravelServer, travelServer } from '../adapter/travel-server.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const tokens = {
  SCIM_TOKEN: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  HANGING_TOKEN: '8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f',
  FLOODING_TOKEN: '5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d',
};

/** More than the calls that a connection makes at a time. */
const HANGING = 12;
const FLOODING = 30;

/** A travel API that answers no call but the first, who its user is, until `answerAll` is called, a connection to it, and two connections to the embedded service. */
let travel: TravelServer;
let answerAll: () => void;
let service: RunningService;
let settings: ReturnType<typeof writeSettingsFile>;
beforeAll(async () => {
  const unanswered: ServerResponse[] = [];
  let isHanging = true;
  travel = await travelServer(({ url }, response) => {
    if (!url.includes('/users'))
      return json(response, 200, { data: { id: 'own', email: 'own@corp.example' } });
    if (isHanging) return unanswered.push(response);
    return json(response, 503, {});
  });
  answerAll = () => {
    isHanging = false;
    for (const response of unanswered) json(response, 503, {});
  };
  settings = writeSettingsFile(
    { writeBudgetMs: 300 },
    {
      default: { travelApi: { url: 'embedded' } },
      flooding: { scimTokenEnv: 'FLOODING_TOKEN', travelApi: { url: 'embedded' } },
      hanging: {
        scimTokenEnv: 'HANGING_TOKEN',
        travelApi: { url: travel.url, keyEnv: 'HANGING_KEY', timeoutMs: 60_000 },
      },
    },
  );
  service = await startService({
    ...{ ...tokens, JETBRIDGE_CONFIG: settings.path, HANGING_KEY: 'key-of-the-hanging-api' },
  });
});
afterAll(async () => {
  answerAll();
  await service.close();
  settings.remove();
  await travel.close();
});

const person = (name: string) => ({
  userName: `${name}@corp.example`,
  name: { givenName: 'Ada', familyName: 'King' },
});

test('people of a connection are provisioned while another waits for its travel API, and a third sends what it can', async () => {
  const [own, hanging, flooding] = Object.values(tokens).map((token) => scimClient(service.url, token));
  if (!own || !hanging || !flooding) throw new Error('three connections');
  const waiting = Array.from({ length: HANGING }, (_, n) => hanging.send('POST', '/Users', person(`h${n}`)));
  await eventually(async () =>
    expect(travel.requests.some(({ url }) => !url.includes('/whoami'))).toBe(true),
  );
  const flood = Array.from({ length: FLOODING }, () => flooding.send('GET', '/Users?count=100'));
  const { status, body } = await own.send('POST', '/Users', person('ada'));
  expect(status).toBe(201);
  expect((await own.send('GET', `/Users/${body.id}`)).status).toBe(200);
  await eventually(async () => {
    const people = await service.people('default');
    expect(people.find(({ id }) => id === body.id)?.state).toBe('synced');
  });
  // The travel API has answered nothing until now, and what its connection was sent is acknowledged all the same.
  expect(new Set((await Promise.all(waiting)).map((answer) => answer.status))).toEqual(new Set([201]));
  expect(new Set((await Promise.all(flood)).map((answer) => answer.status))).toEqual(new Set([200]));
});
