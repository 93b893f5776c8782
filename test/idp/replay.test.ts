import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readPath } from '../../src/replay/matchers.ts';
import { playSteps, type RawClient, rawClient, type Variables } from '../../src/replay/player.ts';
import { replay } from '../../src/replay/report.ts';
import { readScenarios, type Scenario, type Step } from '../../src/replay/scenario.ts';
import { oauthClient } from '../fixtures/oauth-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { expectedFields, selectFields, withRealIds } from './hints.ts';
import { type TravelService, travelService } from './travel-service.ts';

const extensionUrn = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const folder = join(__dirname, 'scenarios');
const scenarios = readScenarios(folder);
/** How often a traveler is read until it has the expected fields: a response may precede the reconciliation. */
const READINGS = 200;

interface Fixture {
  service: RunningService;
  travel: TravelService;
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
    const travel = travelService(service);
    const run = randomBytes(4).toString('hex');
    const seedEmail = `seed.${run}@corp.example`;
    const oauth = await oauthVariables(service);
    const variables = { token: service.scimToken, run, extensionUrn, seedEmail, ...oauth };
    return { service, travel, line, variables };
  }

  test.each(scenarios.map((scenario) => ({ scenario, name: scenario.name })))(
    '$name',
    async ({ scenario }) => {
      const fixture = await build();
      if (scenario.tags.includes('needs-seed'))
        await fixture.travel.make('/users', {
          email: fixture.variables.seedEmail,
          firstName: 'Sam',
          lastName: 'Seed',
        });
      const differences = await playIn(fixture, await withRealIds(scenario, fixture.travel));
      expect(differences).toEqual([]);
    },
  );

  test('one service passes all recorded exchanges, one after the other', async () => {
    const { travel, variables } = await build();
    await travel.make('/users', { email: variables.seedEmail });
    const { outcomes } = await replay({
      files: [folder],
      url: `${service.url}/scim/v2`,
      token: service.scimToken,
      variables: { seedEmail: variables.seedEmail, ...(await oauthVariables(service)) },
      print: () => {},
      now: Date.now,
      newRun: () => randomBytes(4).toString('hex'),
    });
    const failed = outcomes.filter(({ kind }) => kind === 'failed').map(({ scenario }) => scenario.name);
    expect(failed).toEqual([]);
    expect(outcomes.filter(({ kind }) => kind === 'passed').length).toBeGreaterThanOrEqual(scenarios.length);
  }, 120_000);
});

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

async function playIn({ service, travel, line, variables }: Fixture, scenario: Scenario): Promise<unknown[]> {
  const scim = `${service.url}/scim/v2`;
  const travelIds = new Map<string, string>();
  const differences: unknown[] = [];
  const lookUp = async (name: string | undefined) => {
    if (name === undefined) return undefined;
    const id = await travelIdOf({ url: scim, line, token: service.scimToken }, String(variables[name]));
    if (id !== undefined) travelIds.set(name, id);
    return travelIds.get(name);
  };
  const afterStep = async (_: Scenario, step: Step, index: number) => {
    const name = userVariable(step);
    await lookUp(name);
    const hint = expectedFields(step, variables, (other) => travelIds.get(other));
    if (!hint) return;
    const seen = async () => selectFields(await travel.get(`/users/${await lookUp(name)}`), hint);
    const actual = await eventually(seen, hint);
    if (!isDeepStrictEqual(actual, hint))
      differences.push({ step: index + 1, at: 'traveler', expected: hint, actual });
  };
  const played = await playSteps(scenario, variables, { url: scim, client: line, now: Date.now, afterStep });
  for (const { index, method, target, mismatches } of played)
    for (const mismatch of mismatches)
      differences.push({ step: index + 1, request: `${method} ${target}`, ...mismatch });
  return differences;
}

/** Returns the variable that has the SCIM id of the user in a step. */
function userVariable({ request, capture }: Step): string | undefined {
  if (!request.path.startsWith('/Users')) return undefined;
  const named = /^\/Users\/\{\{(\w+)\}\}/.exec(request.path)?.[1];
  return named ?? Object.entries(capture).find(([, path]) => path === 'id')?.[0];
}

async function travelIdOf(
  { url, line, token }: { url: string; line: RawClient; token: string },
  id: string,
): Promise<string | undefined> {
  const { origin, pathname } = new URL(url);
  const request = { method: 'GET', headers: { Authorization: `Bearer ${token}` }, body: undefined };
  const { status, body } = await line.send(origin, `${pathname}/Users/${encodeURIComponent(id)}`, request);
  const found = status === 200 ? readPath(JSON.parse(body), `["${extensionUrn}"].travelUserId`) : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** Reads until the value equals the expected one; returns the last value. */
async function eventually(seen: () => Promise<unknown>, wanted: unknown): Promise<unknown> {
  let latest = await seen();
  for (let reading = 1; reading < READINGS && !isDeepStrictEqual(latest, wanted); reading += 1)
    latest = await seen();
  return latest;
}
