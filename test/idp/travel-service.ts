import { readPath } from '../../src/replay/matchers.ts';
import type { Variables } from '../../src/replay/player.ts';
import type { RunningService } from '../fixtures/service.ts';

/** Resources of the travel service that scenarios name, by the variable of their id. */
export const resources = {
  costCenterId: { path: '/cost-centers', data: { name: 'Research' } },
  billingProfileId: {
    path: '/billing-profiles',
    data: { name: 'Main', email: 'billing@corp.example', lang: 'en' },
  },
  travelPolicyId: {
    path: '/travel-policies',
    data: {
      name: 'Standard',
      control: 'none',
      hotelBudget: { kind: 'comfort' },
      transportBudget: { flight: { kind: 'comfort' }, rail: { kind: 'comfort' } },
    },
  },
};

/** Creates what scenarios need in the travel service. Returns the variables for it. */
export async function createTravelResources(service: RunningService): Promise<Variables> {
  const variables: Variables = {};
  for (const [name, { path, data }] of Object.entries(resources))
    variables[name] = await create(service, path, data);
  return variables;
}

/** Creates a user of the travel service who exists before a scenario begins. */
export async function createSeed(service: RunningService, email: string): Promise<void> {
  await create(service, '/users', { email, firstName: 'Sam', lastName: 'Seed' });
}

/** Creates a resource of the travel service. Returns its id. */
export async function create(
  { url, travelApiKey }: RunningService,
  path: string,
  data: object,
): Promise<unknown> {
  const response = await fetch(`${url}/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${travelApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  const answer = await response.text();
  if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${answer}`);
  return readPath(JSON.parse(answer), 'data.id');
}
