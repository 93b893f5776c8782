import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { playSteps, type RawClient, rawClient, type Variables } from '../../src/replay/player.ts';
import { readScenarios, type Scenario } from '../../src/replay/scenario.ts';
import { travelerCheck } from '../../src/replay/traveler-check.ts';
import { eventually } from '../fixtures/eventually.ts';
import { oauthClient } from '../fixtures/oauth-client.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { createSeed, createTravelResources } from './travel-service.ts';

const extensionUrn = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

/** The recorded exchanges of identity providers. */
export const scenarios = readScenarios(join(__dirname, 'scenarios'));

/** One service for all scenarios: each plays in the data that the earlier ones have left. */
let service: RunningService;
let line: RawClient;
let settings: ReturnType<typeof writeSettingsFile>;
let shared: Variables;

/** The tests that the service passes these recorded exchanges. */
export function testScenarios(played: Scenario[]): void {
  beforeAll(async () => {
    // The safety valve would hold most of so many archives in an hour.
    const policies = { safetyValve: false };
    settings = writeSettingsFile({}, { default: { policies } });
    service = await startService({ JETBRIDGE_CONFIG: settings.path });
    line = rawClient();
    shared = {
      token: service.scimToken,
      extensionUrn,
      ...(await createTravelResources(service)),
      ...(await oauthVariables(service)),
    };
  });
  afterAll(async () => {
    line.close();
    await service.close();
    settings.remove();
  });

  test.each(played.map((scenario) => ({ scenario, name: scenario.name })))(
    'the service passes the recorded exchange $name',
    async ({ scenario }) => {
      const run = randomBytes(4).toString('hex');
      const seedEmail = `seed.${run}@corp.example`;
      // Other scenarios count users, so no user may appear while they are played.
      if (scenario.tags.includes('needs-seed')) {
        await createSeed(service, seedEmail);
        await untilListed(seedEmail);
      }
      expect(await playScenario(scenario, { ...shared, run, seedEmail })).toEqual([]);
    },
  );
}

/** Plays a scenario with the checks of its travelers. Returns what differs from the recording. */
async function playScenario(scenario: Scenario, variables: Variables): Promise<unknown[]> {
  const url = `${service.url}/scim/v2`;
  const travel = { url: service.url, key: service.travelApiKey, pause: async () => {} };
  const checkTraveler = travelerCheck({ client: line, scim: { url, token: service.scimToken }, travel });
  const steps = await playSteps(scenario, variables, { url, client: line, now: Date.now, checkTraveler });
  return steps.flatMap(({ index, method, target, mismatches }) =>
    mismatches.map((mismatch) => ({ step: index + 1, request: `${method} ${target}`, ...mismatch })),
  );
}

/** Resolves when a list has the user who exists in the travel service only: the event feed or an import has read it. */
async function untilListed(email: string): Promise<void> {
  const { send } = scimClient(service.url, service.scimToken);
  await eventually(async () => {
    const { body } = await send('GET', '/Users?count=200&sortBy=meta.created&sortOrder=descending');
    const names = body.Resources.map(({ userName }: { userName: string }) => userName);
    if (!names.includes(email)) throw new Error('The user is not listed yet.');
  });
}

/** The variables of scenarios in which the IdP requests its access token. */
async function oauthVariables(service: RunningService): Promise<Variables> {
  const { id, secret } = await oauthClient(service, { connection: 'default' });
  return {
    tokenEndpoint: `${service.url}/oauth/token`,
    clientId: id,
    clientSecret: secret,
    clientBasic: Buffer.from(`${id}:${secret}`).toString('base64'),
  };
}
