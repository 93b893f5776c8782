import { z } from 'zod';
import type { Lookups } from '../../model/translation.ts';
import { ruleOrigins } from '../../model/translation.ts';
import { describeTravelFailure } from '../../model/travel-ports.ts';
import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { GroupSummary } from '../../store/lists/group-pages.ts';
import { findNamedResources } from '../../translator/rules/check-names.ts';
import { findCustomField } from '../../translator/rules/custom-field-values.ts';
import { type GroupReader, groupReaders } from '../../translator/rules/named-groups.ts';
import { parseData } from '../../travel/app.ts';
import { create, patch } from '../../travel/changes.ts';
import type { Resource } from '../../travel/declaration/resource.ts';
import { stringMember } from '../../travel/json.ts';
import { customField, customFieldOption } from '../../travel/resources/custom-field.ts';
import { billingProfile, costCenter } from '../../travel/resources/lookups.ts';
import { travelPolicy } from '../../travel/resources/travel-policy.ts';
import { findConnection, requireEmbedded, type ServiceDeps } from '../deps.ts';
import { invalidField, OperationError } from '../errors.ts';
import { currentRules } from '../mappings/mappings.ts';
import { type Operations, serviceOperation } from '../operation.ts';
import { id, limit, next, optionalInteger, optionalText, optionalTime, time } from '../schemas.ts';
import { targetOf } from './travel-service.ts';

/** The lists of the travel service whose entries mappings name. */
export const resourceLists = [
  ...(['costCenters', 'billingProfiles', 'travelPolicies'] as const),
  ...(['customFields', 'customFieldOptions'] as const),
];

export type ResourceList = (typeof resourceLists)[number];

const list = z.enum(resourceLists);

const field = id.optional().describe('The custom field of the options');

/** The parameters of a page. */
const page = {
  search: z.string().max(300).default('').describe('A part of the name, without case'),
  after: z.string().max(1_000).optional().describe('`next` of the page before'),
  limit,
};

/** The page after a number of rows, or after a position. */
const numberedPage = { ...page, after: z.coerce.number<number>().int().min(0).optional() };

const nextNumber = optionalInteger;

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

const rule = z
  .object({
    field: optionalText.describe('The key of the field that it sets; absent: the scope'),
    fieldName: optionalText.describe('The name of a custom field'),
    origin: z.enum(ruleOrigins),
    rule: z.string(),
    when: optionalText,
  })
  .meta({ id: 'GroupRule', description: 'A rule of the mapping in force that reads a group' });

export type GroupRule = z.input<typeof rule>;

const group = z
  .object({ id, name: z.string(), members: z.int(), lastModified: time, rules: z.array(rule) })
  .meta({ id: 'Group', description: 'A group that an identity provider has sent' });

export type Group = z.input<typeof group>;

const member = z
  .object({
    id,
    kind: z.enum(['person', 'group', 'unknown']).describe('unknown: nothing has this id'),
    name: z.string(),
    userName: optionalText,
  })
  .meta({ id: 'GroupMember' });

export type GroupMember = z.input<typeof member>;

const unread = optionalText.describe('The reason for which the rules are not known; absent if they are');

const name = z.string().max(1_000);

const tag = 'Lists';

const resourceQuery = z.strictObject({ list: list.default('costCenters'), field, ...numberedPage });

const groupQuery = z.strictObject({
  ...page,
  used: z.enum(['true']).optional().describe('Only those that rules read'),
});

/** The operations on resources of the travel service, and on groups, that mappings name. */
export const listOperations = {
  listNamedResources: serviceOperation(
    {
      ...{ method: 'get', path: '/lists/{connection}/resources', tag, access: 'viewer' },
      summary: 'List what mappings name in the travel service, as the bridge knows it, in the order of names',
      query: resourceQuery,
      result: z.object({
        resources: z.array(resource),
        total: z.int().describe('The number of those that the search finds'),
        next: nextNumber,
        readAt: optionalTime.describe('When this replica last read the list'),
        isStale: z.boolean().describe('True if it can no longer be read: older values are used'),
      }),
    },
    ({ params, query }, deps) => listResources(params, query, deps),
  ),
  createNamedResource: serviceOperation(
    {
      ...{ method: 'post', path: '/travel/resources', tag, access: 'admin' },
      summary: 'Create a resource that mappings can name in the embedded travel service',
      body: z.strictObject({
        list,
        field,
        name,
        email: z.string().max(400).optional().describe('Of a billing profile, which needs one'),
        lang: z.string().max(10).optional().describe('Of a billing profile: en or fr'),
        control: z.string().max(20).optional().describe('Of a travel policy: what needs an approval'),
        dataType: z.string().max(20).optional().describe('Of a custom field: text, option or optionsList'),
      }),
      result: z.object({ id }),
      errors: ['notFound', 'conflict'],
    },
    async ({ body }, deps, { note }) => {
      note(body);
      const { list, field, name, ...others } = body;
      const doc = { [kinds[list].name]: name, ...others, ...kinds[list].fixed };
      const made = await create(...resourceAt(deps, { list, field }), parseData({ data: doc }));
      const id = stringMember(made, 'id') ?? '';
      note({ id });
      return { id };
    },
  ),
  updateNamedResource: serviceOperation(
    {
      ...{ method: 'patch', path: '/travel/resources/{id}', tag, access: 'admin' },
      summary: 'Rename, archive or restore a resource of the embedded travel service',
      body: z.strictObject({ list, field, name: name.optional(), isArchived: z.boolean().optional() }),
      errors: ['conflict'],
    },
    async ({ params: { id }, body }, deps, { note }) => {
      note(body);
      const { list, field, name, isArchived } = body;
      const kind = kinds[list];
      if (isArchived !== undefined && kind.archived === undefined)
        throw invalidField('isArchived', 'is for what can be archived; a travel policy can be renamed only');
      const doc = {
        ...(name !== undefined && { [kind.name]: name }),
        ...(isArchived !== undefined && kind.archived && { [kind.archived]: isArchived }),
      };
      await patch(...resourceAt(deps, { list, field, id }), parseData({ data: doc }));
    },
  ),
  listGroups: serviceOperation(
    {
      ...{ method: 'get', path: '/lists/{connection}/groups', tag, access: 'viewer' },
      summary:
        'List groups in the order of their names. A page can be short, or empty, although others follow',
      query: groupQuery,
      result: z.object({
        groups: z.array(group),
        total: z.int().describe('The number of all groups of the connection'),
        next,
        unread,
      }),
    },
    ({ params, query }, deps) => listGroups(params, query, deps),
  ),
  readGroup: serviceOperation(
    {
      ...{ method: 'get', path: '/lists/{connection}/groups/{group}', tag, access: 'viewer' },
      summary: 'Read a group with the rules that read it',
      result: z.object({ group, unread }),
    },
    async ({ params }, deps) => {
      const group = await findGroup(params, deps);
      const { rulesOf, unread } = await readRules(params, deps);
      return { group: { ...group, rules: rulesOf(group) }, unread };
    },
  ),
  listGroupMembers: serviceOperation(
    {
      ...{ method: 'get', path: '/lists/{connection}/groups/{group}/members', tag, access: 'viewer' },
      summary: 'List the members of a group. A page can be short, or empty, although others follow',
      query: z.strictObject(numberedPage),
      result: z.object({ members: z.array(member), next: nextNumber }),
    },
    async ({ params, query }, deps) => {
      await findGroup(params, deps);
      const { search, after, limit } = query;
      return deps.groupPages.listMembers(params.connection, params.group, { search, after, limit });
    },
  ),
} satisfies Operations;

interface ResourceKind {
  resource: Resource;
  name: 'name' | 'data';
  /** The member that archives; undefined: it cannot be archived. */
  archived: 'archived' | 'disabled' | undefined;
  /** The members of a new resource besides those that an admin gives. */
  fixed?: object;
}

const kinds: Record<ResourceList, ResourceKind> = {
  costCenters: { resource: costCenter, name: 'name', archived: 'archived' },
  billingProfiles: { resource: billingProfile, name: 'name', archived: 'archived' },
  travelPolicies: {
    ...{ resource: travelPolicy, name: 'name', archived: undefined },
    fixed: { hotelBudget: {}, transportBudget: {} },
  },
  customFields: {
    ...{ resource: customField, name: 'name', archived: 'disabled' },
    fixed: { resourceType: 'user' },
  },
  customFieldOptions: { resource: customFieldOption, name: 'data', archived: 'disabled' },
};

/** Returns the collection and the address of a resource of the embedded travel service. */
function resourceAt(
  deps: ServiceDeps,
  { list, field = '', id = '' }: { list: ResourceList; field: string | undefined; id?: string },
): Parameters<typeof patch> extends [infer Collection, infer Target, ...unknown[]]
  ? [Collection, Target]
  : never {
  const parent = list === 'customFieldOptions' ? field : '';
  return [{ resource: kinds[list].resource, deps: requireEmbedded(deps).travel }, targetOf(id, parent)];
}

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

async function findGroup(
  { connection, group }: { connection: string; group: string },
  deps: ServiceDeps,
): Promise<GroupSummary> {
  findConnection(deps, connection);
  const found = await deps.groupPages.findGroup(connection, group);
  if (!found)
    throw new OperationError(
      'notFound',
      'There is no such group; the identity provider may have deleted it.',
    );
  return found;
}

async function listGroups(
  params: { connection: string },
  { used, search, after, limit }: z.output<typeof groupQuery>,
  deps: ServiceDeps,
) {
  const { rulesOf, unread } = await readRules(params, deps);
  const isMeant = (group: GroupName) => used === undefined || rulesOf(group).length > 0;
  const page = { search, after, limit };
  const [{ groups, next }, total] = [
    await deps.groupPages.listGroups(params.connection, page, isMeant),
    await deps.groupPages.count(params.connection),
  ];
  return { groups: groups.map((group) => ({ ...group, rules: rulesOf(group) })), next, total, unread };
}

type GroupName = Pick<GroupSummary, 'id' | 'name'>;

/** Returns the rules in force that read a group. Groups can be looked at also while the lookups cannot be read. */
async function readRules(
  { connection: id }: { connection: string },
  deps: ServiceDeps,
): Promise<{ rulesOf: (group: GroupName) => GroupRule[]; unread: string | undefined }> {
  const { connection } = findConnection(deps, id);
  const current = await deps.provisioning.currentRules(connection);
  if ('kind' in current)
    return {
      rulesOf: () => [],
      unread: `The rules are not known, because the travel API cannot be read: ${describeTravelFailure(current)}.`,
    };
  const readers = groupReaders(current.rules);
  const rulesOf = (group: GroupName) =>
    readers
      .filter(({ test }) => test({ value: group.id, display: group.name }))
      .map((reader) => toGroupRule(reader, current));
  return { rulesOf, unread: undefined };
}

function toGroupRule({ rule }: GroupReader, { rules, lookups }: RulesSnapshot): GroupRule {
  if (!rule) return { origin: 'file', rule: rules.mapping.scope ?? '' };
  const { target, origin, text, condition } = rule;
  const common = { origin, rule: text, when: condition?.text };
  if (target.kind === 'field') return { ...common, field: target.field };
  const found = findCustomField(target, lookups.customFields);
  if ('code' in found) return { ...common, field: `customFields.${target.value}` };
  return { ...common, field: `customFields.${found.id}`, fieldName: found.name };
}
