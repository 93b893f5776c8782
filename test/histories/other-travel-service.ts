import { otherTravelApi } from '../fixtures/other-travel-api.ts';
import type { TravelService } from './travel-service.ts';
import { type CustomFields, DEPARTMENT, type MappedAttribute } from './traveler-fields.ts';

/** A travel API of another kind, in this process, as an admin of it works with it. */
export async function otherTravelService(key: string): Promise<TravelService> {
  const api = await otherTravelApi({}, { key });
  const custom: CustomFields = { team: '', title: '', floor: '' };
  const costCenters = new Map<string, string>();
  const rules = new Map<MappedAttribute, string>();
  const setRule = async (attribute: MappedAttribute, isThere: boolean) => {
    const id = rules.get(attribute);
    if (isThere && id === undefined)
      rules.set(attribute, api.add('scimUserMappings', ruleOf(attribute, custom)).id);
    if (isThere || id === undefined) return;
    api.remove('scimUserMappings', id);
    rules.delete(attribute);
  };
  const toggleCostCenter = async (name: string) => {
    const id = costCenters.get(name);
    if (id === undefined) costCenters.set(name, api.add('costCenters', { name }).id);
    else {
      api.remove('costCenters', id);
      costCenters.delete(name);
    }
  };
  return {
    url: () => api.url,
    bridgeServesAt: () => {},
    catalog: { custom, costCenters },
    createReferenceData: async () => {
      for (const name of ['team', 'title', 'floor'] as const)
        custom[name] = api.add('customFields', { dataType: 'text', name, resourceType: 'user' }).id;
      await setRule('department', true);
      await toggleCostCenter('CC-1');
    },
    travelers: async () => api.travelers(),
    read: async (id) => api.traveler(id),
    create: async (user) => (api.traveler(user.email) ? undefined : api.addTraveler(user)),
    patch: async (id, patch) => {
      if (api.traveler(id)) api.editTraveler(id, patch);
    },
    remove: async (id) => {
      if (api.traveler(id)) api.deleteTraveler(id);
    },
    setRule,
    toggleCostCenter,
    close: api.close,
  };
}

function ruleOf(attribute: MappedAttribute, { team, title }: CustomFields) {
  return attribute === 'department'
    ? { scimAttribute: DEPARTMENT, customFieldId: team }
    : { scimAttribute: 'title', customFieldId: title };
}
