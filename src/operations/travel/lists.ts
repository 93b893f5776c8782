import { z } from 'zod';
import type { Lookups } from '../../model/translation.ts';
import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { findNamedResources } from '../../translator/rules/check-names.ts';
import { findConnection, type ServiceDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { currentRules } from '../mappings/mappings.ts';
import { type Operations, serviceOperation } from '../operation.ts';
import { id, limit, optionalInteger, optionalText, optionalTime } from '../schemas.ts';

/** The lists of the travel service whose entries mappings name. */
export const resourceLists = [
  ...(['costCenters', 'billingProfiles', 'travelPolicies'] as const),
  ...(['customFields', 'customFieldOptions'] as const),
];

export type ResourceList = (typeof resourceLists)[number];

const list = z.enum(resourceLists);

const field = id.optional().describe('The custom field of the options');

const resource = z
  .object({
    id,
    name: z.string(),
    isArchived: z.boolean().describe('Archived, or a custom field or option that is disabled'),
    dataType: optionalText.describe('Of a custom field'),
    options: optionalInteger.describe('The number of options of a custom field'),
    places: z.array(z.string()).describe('The first places of the mapping that name it'),
    placeCount: z.int(),
  })
  .meta({ id: 'NamedResource', description: 'What a mapping can name in the travel service' });

export type NamedResource = z.input<typeof resource>;

const tag = 'Lists';

const resourceQuery = z.strictObject({
  list: list.default('costCenters'),
  field,
  search: z.string().max(300).default('').describe('A part of the name, without case'),
  after: z.coerce.number<number>().int().min(0).optional().describe('`next` of the page before'),
  limit,
});

/** The operation on resources of any travel service that mappings name. */
export const listOperations = {
  listNamedResources: serviceOperation(
    {
      ...{ method: 'get', path: '/lists/{connection}/resources', tag, access: 'viewer' },
      summary: 'List what mappings name in the travel service, as the bridge knows it, in the order of names',
      query: resourceQuery,
      result: z.object({
        resources: z.array(resource),
        total: z.int().describe('The number of those that the search finds'),
        next: optionalInteger,
        readAt: optionalTime.describe('When this replica last read the list'),
        isStale: z.boolean().describe('True if it can no longer be read: older values are used'),
      }),
    },
    ({ params, query }, deps) => listResources(params, query, deps),
  ),
} satisfies Operations;

/** The places of the mapping that are listed for one resource. */
const MAX_PLACES = 5;

async function listResources(
  { connection: id }: { connection: string },
  { list, field, search, after, limit }: z.output<typeof resourceQuery>,
  deps: ServiceDeps,
) {
  const { connection, staleLookups, lookupAges } = findConnection(deps, id);
  const snapshot = await currentRules(connection, deps);
  const text = foldCase(search);
  const found = entriesOf(snapshot.lookups, list, field)
    .filter(({ name }) => foldCase(name).includes(text))
    .toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  const start = after ?? 0;
  const named = namedBy(snapshot);
  const part = list === 'customFieldOptions' ? 'customFields' : list;
  const age = lookupAges().get(part);
  return {
    resources: found.slice(start, start + limit).map((entry) => {
      const places = named.get(entry.id) ?? [];
      return { ...entry, places: places.slice(0, MAX_PLACES), placeCount: places.length };
    }),
    total: found.length,
    next: start + limit < found.length ? start + limit : undefined,
    readAt: age === undefined ? undefined : deps.now() - age,
    isStale: staleLookups().includes(part),
  };
}

interface Entry {
  id: string;
  name: string;
  isArchived: boolean;
  dataType?: string;
  options?: number;
}

function sortKey({ name, id }: Entry): string {
  return JSON.stringify([foldCase(name), id]);
}

function entriesOf(lookups: Lookups, list: ResourceList, fieldId: string | undefined): Entry[] {
  if (list === 'customFields')
    return lookups.customFields.map(({ id, name, disabled, dataType, options }) => ({
      ...{ id, name, isArchived: disabled, dataType, options: options.length },
    }));
  if (list !== 'customFieldOptions')
    return lookups[list].map(({ id, name, archived }) => ({ id, name, isArchived: archived }));
  const field = lookups.customFields.find(({ id }) => id === fieldId);
  if (!field) throw new OperationError('notFound', 'There is no such custom field.');
  return field.options.map(({ id, data, disabled }) => ({ id, name: data, isArchived: disabled }));
}

/** A map of a mapping may have tens of thousands of entries, each of which is looked up. */
const namedBySnapshot = new WeakMap<RulesSnapshot, Map<string, string[]>>();

function namedBy(snapshot: RulesSnapshot): Map<string, string[]> {
  const found = namedBySnapshot.get(snapshot) ?? findNamedResources(snapshot.rules, snapshot.lookups);
  namedBySnapshot.set(snapshot, found);
  return found;
}
