import { join } from 'node:path';
import type { JsonObject } from '../../src/schema/resource.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import { startServer } from '../fixtures/server-process.ts';
import { type Catalog, type CustomFields, DEPARTMENT, type MappedAttribute } from './traveler-fields.ts';

/** The travel service of a history, as its admin uses it, without the proxy. */
export interface TravelService {
  /** Undefined for the embedded one, which the bridge serves. */
  url(): string | undefined;
  bridgeServesAt(url: string): void;
  catalog: Catalog;
  /** Creates the custom fields, a cost center, and the rule that fills a custom field with the department. */
  createReferenceData(): Promise<void>;
  travelers(): Promise<TravelUser[]>;
  /** Undefined if there is no such traveler. */
  read(id: string): Promise<TravelUser | undefined>;
  /** Undefined if the address is taken. */
  create(data: JsonObject & { email: string }): Promise<TravelUser | undefined>;
  patch(id: string, data: JsonObject): Promise<void>;
  remove(id: string): Promise<void>;
  /** Adds or removes the rule for an attribute. */
  setRule(attribute: MappedAttribute, isThere: boolean): Promise<void>;
  /** Adds a cost center, or removes it unless that is refused. */
  toggleCostCenter(name: string): Promise<void>;
  close(): Promise<void>;
}

const PAGE = 100;

/** Starts the travel service, unless the bridge serves it. */
export async function travelService(
  kind: 'embedded' | 'split',
  directory: string,
  key: string,
): Promise<TravelService> {
  const data = { JETBRIDGE_DATA: join(directory, 'travel'), TRAVEL_API_KEY: key };
  const server =
    kind === 'embedded'
      ? undefined
      : await startServer({ ...data, SCIM_TOKEN: 'a-token-that-no-provider-uses' }, { canDie: true });
  let bridgeUrl = '';
  const call = caller(() => server?.url ?? bridgeUrl, key);
  const custom: CustomFields = { team: '', title: '', floor: '' };
  const costCenters = new Map<string, string>();
  const rules = new Map<MappedAttribute, string>();
  const setRule = async (attribute: MappedAttribute, isThere: boolean) => {
    const id = rules.get(attribute);
    if (isThere && id === undefined) rules.set(attribute, await makeRule(call, attribute, custom));
    if (isThere || id === undefined) return;
    await call('DELETE', `/scim-user-mappings/${id}`);
    rules.delete(attribute);
  };
  const toggleCostCenter = async (name: string) => {
    const id = costCenters.get(name);
    if (id === undefined) costCenters.set(name, (await call('POST', '/cost-centers', { name })).data.id);
    else if (await call('DELETE', `/cost-centers/${id}`, undefined, [403, 409])) costCenters.delete(name);
  };
  return {
    url: () => server?.url,
    bridgeServesAt: (url) => {
      bridgeUrl = url;
    },
    catalog: { custom, costCenters },
    createReferenceData: async () => {
      for (const name of ['team', 'title', 'floor'] as const) custom[name] = await makeField(call, name);
      await setRule('department', true);
      await toggleCostCenter('CC-1');
    },
    travelers: () => allTravelers(call),
    read: async (id) => (await call('GET', `/users/${id}`, undefined, [404]))?.data,
    create: async (user) => (await call('POST', '/users', user, [409]))?.data,
    patch: async (id, patch) => void (await call('PATCH', `/users/${id}`, patch, [404])),
    remove: async (id) => void (await call('DELETE', `/users/${id}`, undefined, [404, 409])),
    setRule,
    toggleCostCenter,
    close: async () => {
      server?.kill('SIGKILL');
      await server?.exited;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of the travel API
type Call = (method: string, path: string, data?: JsonObject, refusals?: number[]) => Promise<any>;

/** Undefined after one of the refusals that are expected. */
function caller(url: () => string, key: string): Call {
  return async (method, path, data, refusals = []) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = data ? JSON.stringify({ data }) : null;
    const response = await fetch(`${url()}/api${path}`, { method, headers, body });
    const text = await response.text();
    if (refusals.includes(response.status)) return undefined;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
}

async function allTravelers(call: Call): Promise<TravelUser[]> {
  const all: TravelUser[] = [];
  for (;;) {
    const { data } = await call('GET', `/users?limit=${PAGE}&offset=${all.length}`);
    all.push(...data);
    if (data.length < PAGE) return all;
  }
}

async function makeField(call: Call, name: string): Promise<string> {
  const answer = await call('POST', '/custom-fields', { dataType: 'text', name, resourceType: 'user' });
  return answer.data.id;
}

async function makeRule(call: Call, attribute: MappedAttribute, custom: CustomFields): Promise<string> {
  const rule =
    attribute === 'department'
      ? { scimAttribute: DEPARTMENT, customFieldId: custom.team }
      : { scimAttribute: 'title', customFieldId: custom.title };
  return (await call('POST', '/scim-user-mappings', rule)).data.id;
}
