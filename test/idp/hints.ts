import { substitute, type Variables } from '../../src/replay/player.ts';
import type { Scenario, Step } from '../../src/replay/scenario.ts';
import type { TravelService } from './travel-service.ts';

/** Expected fields of a traveler; null stands for an empty field. */
export type Hint = Record<string, unknown>;

/** Fields with the id of another resource of the travel service, and how the test creates one. */
const references: Record<string, { path: string; example: object }> = {
  costCenterId: { path: '/cost-centers', example: { name: 'Research' } },
  billingProfileId: {
    path: '/billing-profiles',
    example: { name: 'Main', email: 'billing@corp.example', lang: 'en' },
  },
  travelPolicyId: {
    path: '/travel-policies',
    example: {
      name: 'Standard',
      control: 'none',
      hotelBudget: { kind: 'comfort' },
      transportBudget: { flight: { kind: 'comfort' }, rail: { kind: 'comfort' } },
    },
  },
};

/** Hints that are prose, with the expected fields instead. */
const proseHints: Record<string, Hint> = {
  // The connection has no country, and the user has no address to derive one from.
  '+33 612345678 only if default region is configured FR, else omitted': { phoneNumber: null },
};

/**
 * Creates a resource of the travel service for every made-up id in a hint, such as `cc-12`, and replaces that id everywhere in
 * the scenario.
 */
export async function withRealIds(scenario: Scenario, travel: TravelService): Promise<Scenario> {
  const ids = new Map<unknown, string>();
  for (const step of scenario.steps) {
    for (const [field, name] of Object.entries(step.travel ?? {})) {
      const thing = references[field];
      if (thing && typeof name === 'string' && !ids.has(name))
        ids.set(name, await travel.make(thing.path, thing.example));
    }
  }
  const steps = replaceIds(scenario.steps, ids);
  return ids.size === 0 ? scenario : { ...scenario, steps: steps as Step[] };
}

function replaceIds(value: unknown, ids: Map<unknown, string>): unknown {
  const id = ids.get(value);
  if (id !== undefined) return id;
  if (Array.isArray(value)) return value.map((item) => replaceIds(item, ids));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceIds(member, ids)]));
}

/** Returns the expected fields after a step, with variables, prose and references to other travelers resolved. */
export function expectedFields(
  { travel }: Step,
  variables: Variables,
  travelIdOf: (variable: string) => string | undefined,
): Hint | undefined {
  if (travel === undefined) return undefined;
  const wanted: Hint = {};
  for (const [field, value] of Object.entries(substitute(travel, variables) as Hint)) {
    const other = /^<travel id of (\w+)>$/.exec(String(value))?.[1];
    if (typeof value === 'string' && proseHints[value]) Object.assign(wanted, proseHints[value]);
    else wanted[field] = other === undefined ? value : travelIdOf(other);
  }
  return wanted;
}

/** Returns the fields of a traveler that a hint has; null for missing ones. Undefined if there is no traveler. */
export function selectFields(traveler: unknown, hint: Hint): Hint | undefined {
  if (traveler === undefined) return undefined;
  const fields: Hint = Object(traveler);
  return Object.fromEntries(Object.keys(hint).map((field) => [field, fields[field] ?? null]));
}
