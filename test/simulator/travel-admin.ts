import type { JsonObject } from '../../src/schema/resource.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import type { HistoryContext, TravelService } from '../histories/execute.ts';
import { promises } from '../histories/invariants.ts';
import { DEPARTMENT, type MappedAttribute } from '../histories/traveler-fields.ts';
import type { SimulatedTravel } from './travel-api.ts';

/** The simulated travel service as its admin works with it. */
export function travelAdmin(travel: SimulatedTravel): TravelService {
  const custom = { team: 'cf-team', title: 'cf-title', floor: 'cf-floor' };
  const costCenters = new Map<string, string>();
  const rules = new Set<MappedAttribute>();
  let made = 0;
  const publish = () =>
    travel.setLookups({
      customFields: Object.entries(custom).map(([name, id]) => ({
        ...{ id, name, dataType: 'text', disabled: false, options: [] },
      })),
      costCenters: [...costCenters].map(([name, id]) => ({ id, name, archived: false })),
      billingProfiles: [],
      travelPolicies: [],
      scimUserMappings: [...rules].map((attribute) =>
        attribute === 'department'
          ? { scimAttribute: DEPARTMENT, customFieldId: custom.team }
          : { scimAttribute: 'title', customFieldId: custom.title },
      ),
    });
  const toggleCostCenter = async (name: string) => {
    made += 1;
    if (!costCenters.delete(name)) costCenters.set(name, `cc-${made}`);
    publish();
  };
  const setRule = async (attribute: MappedAttribute, isThere: boolean) => {
    if (isThere) rules.add(attribute);
    else rules.delete(attribute);
    publish();
  };
  rules.add('department');
  costCenters.set('CC-1', 'cc-0');
  publish();
  return {
    ...{ catalog: { custom, costCenters }, toggleCostCenter, setRule },
    read: async (id) => travelersOf(travel).find((one) => one.id === id),
    create: async (data) => travel.add(data as Partial<TravelUser> & { email: string }), // A traveler as JSON.
    patch: async (id, data) => travel.edit(id, (traveler) => mergeInto(traveler, data)),
    remove: async (id) => travel.remove(id),
  };
}

/** The travelers as the checks read them: phone numbers in the form in which the bridge sends them. */
export function travelersOf({ fake }: SimulatedTravel): TravelUser[] {
  return [...fake.travelers.values()].map((traveler) => {
    const phoneNumber = traveler.phoneNumber?.replace(/^\+33 ?/, '+33 ');
    return phoneNumber === undefined ? traveler : { ...traveler, phoneNumber };
  });
}

/** Describes the travelers that were deleted although a leaver's traveler is only archived: a second one of a person may be. */
export function removalViolations(
  { fake, removed }: SimulatedTravel,
  { policies: { deprovision }, events }: HistoryContext['record'],
): string[] {
  const hasVanished = events.some(({ kind }) => kind === 'vanish');
  const lost = removed.splice(0).filter(({ lastName }) => {
    const hasAnother = [...fake.travelers.values()].some((one) => one.lastName === lastName);
    return deprovision === 'archive' && !hasVanished && !hasAnother;
  });
  return lost.map(({ id, email }) => `the traveler ${id} (${email}) was deleted [${promises.noneDeleted}]`);
}

/** JSON merge patch (RFC 7396), of the depth that an edit by hand has. */
function mergeInto(traveler: TravelUser, patch: JsonObject): TravelUser {
  const merged: Record<string, unknown> = { ...traveler };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else if (name === 'address') {
      const address = { ...traveler.address, ...(value as JsonObject) };
      merged[name] = Object.fromEntries(Object.entries(address).filter(([, part]) => part !== null));
    } else merged[name] = value;
  }
  return merged as unknown as TravelUser; // A traveler with other values.
}
