import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { playSteps, type RawClient, rawClient, type Variables } from '../../src/replay/player.ts';
import { replay } from '../../src/replay/report.ts';
import { readScenarios, type Scenario } from '../../src/replay/scenario.ts';
import { travelerCheck } from '../../src/replay/traveler-check.ts';
import { eventually } from '../fixtures/eventually.ts';
import { oauthClient } from '../fixtures/oauth-client.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { createTravelResources } from './travel-service.ts';

const extensionUrn = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const folder = join(__dirname, 'scenarios');
const scenarios = readScenarios(folder);

interface Fixture {
  service: RunningService;
  line: RawClient;
  variables: Variables;
}

describe('the service passes the recorded exchange of an identity provider', () => {
  let service: RunningService;
  let line: RawClient;
  beforeEach(async () => {
    service = await startService();
    line = rawClient();
  });
  afterEach(async () => {
    line.close();
    await service.close();
  });

  async function build(): Promise<Fixture> {
    const run = randomBytes(4).toString('hex');
    const seedEmail = `seed.${run}@corp.example`;
    const oauth = await oauthVariables(service);
    const travel = await createTravelResources(service, { seedEmail });
    const variables = { token: service.scimToken, run, extensionUrn, ...travel, ...oauth };
    return { service, line, variables };
  }

  test.each(scenarios.map((scenario) => ({ scenario, name: scenario.name })))(
    '$name',
    async ({ scenario }) => {
      const fixture = await build();
      if (scenario.tags.includes('needs-seed')) await untilListed(service, fixture.variables);
      const differences = await playIn(fixture, scenario);
      expect(differences).toEqual([]);
    },
  );

  test('one service passes all recorded exchanges, one after the other', async () => {
    // Each scenario has a run of its own.
    const {
      variables: { run: _, ...variables },
    } = await build();
    await untilListed(service, variables);
    // Travelers are not checked: the safety valve holds most of so many archives in an hour.
    const { outcomes } = await replay({
      scenarios,
      url: `${service.url}/scim/v2`,
      token: service.scimToken,
      variables,
      print: () => {},
      now: Date.now,
      newRun: () => randomBytes(4).toString('hex'),
    });
    const failed = outcomes.filter(({ kind }) => kind === 'failed').map(({ scenario }) => scenario.name);
    expect(failed).toEqual([]);
    expect(outcomes.filter(({ kind }) => kind === 'passed').length).toBeGreaterThanOrEqual(scenarios.length);
  }, 120_000);
});

/** Resolves when a list has the user who exists in the travel service only: the event feed or an import has read it. */
async function untilListed({ url, scimToken }: RunningService, { seedEmail }: Variables): Promise<void> {
  const { send } = scimClient(url, scimToken);
  await eventually(async () => {
    const { body } = await send('GET', '/Users');
    const names = body.Resources.map(({ userName }: { userName: string }) => userName);
    if (!names.includes(seedEmail)) throw new Error('The user is not listed yet.');
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

async function playIn({ service, line, variables }: Fixture, scenario: Scenario): Promise<unknown[]> {
  const url = `${service.url}/scim/v2`;
  const travel = { url: service.url, key: service.travelApiKey, pause: async () => {} };
  const checkTraveler = travelerCheck({ client: line, scim: { url, token: service.scimToken }, travel });
  const played = await playSteps(scenario, variables, { url, client: line, now: Date.now, checkTraveler });
  return played.flatMap(({ index, method, target, mismatches }) =>
    mismatches.map((mismatch) => ({ step: index + 1, request: `${method} ${target}`, ...mismatch })),
  );
}
