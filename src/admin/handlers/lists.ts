import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { describeTravelFailure } from '../../provisioning/travel-ports.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { GroupSummary } from '../../store/lists/group-pages.ts';
import { findNamedResources } from '../../translator/mapping/check-names.ts';
import { type GroupReader, groupReaders } from '../../translator/mapping/named-groups.ts';
import type { Lookups } from '../../translator/translation.ts';
import { findCustomField } from '../../translator/values/custom-field-values.ts';
import { parseData } from '../../travel/app.ts';
import { create, patch } from '../../travel/changes.ts';
import { stringMember } from '../../travel/json.ts';
import type { Resource } from '../../travel/resource.ts';
import { customField, customFieldOption } from '../../travel/resources/custom-field.ts';
import { billingProfile, costCenter } from '../../travel/resources/lookups.ts';
import { travelPolicy } from '../../travel/resources/travel-policy.ts';
import type { GroupRule, listsContract, ResourceList } from '../contract/lists.ts';
import type { HandlerRequest, Handlers } from '../contract/operation.ts';
import { type AdminDeps, findConnection, requireEmbedded } from '../deps.ts';
import { AdminError, invalidField } from '../errors.ts';
import type { AdminContext } from '../router.ts';
import { currentRules } from './mappings.ts';
import { targetOf } from './travel.ts';

/** Handles the lists of what mappings name: resources of the travel service, and groups of the identity provider. */
export function listHandlers(deps: AdminDeps): Handlers<typeof listsContract, AdminContext> {
  return {
    listNamedResources: ({ params, query }) => listResources(params, query, deps),
    createNamedResource: async ({ body }, { note }) => {
      note(body);
      const { list, field, name, ...others } = body;
      const doc = { [kinds[list].name]: name, ...others, ...kinds[list].fixed };
      const made = await create(...resourceAt(deps, { list, field }), parseData({ data: doc }));
      const id = stringMember(made, 'id') ?? '';
      note({ id });
      return { id };
    },
    updateNamedResource: async ({ params: { id }, body }, { note }) => {
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
    listGroups: ({ params, query }) => listGroups(params, query, deps),
    readGroup: async ({ params }) => {
      const group = await findGroup(params, deps);
      const { rulesOf, unread } = await readRules(params, deps);
      return { group: { ...group, rules: rulesOf(group) }, unread };
    },
    listGroupMembers: async ({ params, query }) => {
      await findGroup(params, deps);
      const { search, after, limit } = query;
      return deps.groupPages.listMembers(params.connection, params.group, { search, after, limit });
    },
  };
}

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
  deps: AdminDeps,
  { list, field = '', id = '' }: { list: ResourceList; field: string | undefined; id?: string },
): Parameters<typeof patch> extends [infer Collection, infer Target, ...unknown[]]
  ? [Collection, Target]
  : never {
  const parent = list === 'customFieldOptions' ? field : '';
  return [{ resource: kinds[list].resource, deps: requireEmbedded(deps).travel }, targetOf(id, parent)];
}

type Query<Name extends 'listNamedResources' | 'listGroups'> = HandlerRequest<
  (typeof listsContract)[Name]
>['query'];

/** The places of the mapping that are listed for one resource. */
const MAX_PLACES = 5;

async function listResources(
  { connection: id }: { connection: string },
  { list, field, search, after, limit }: Query<'listNamedResources'>,
  deps: AdminDeps,
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
  if (!field) throw new AdminError('notFound', 'There is no such custom field.');
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
  deps: AdminDeps,
): Promise<GroupSummary> {
  findConnection(deps, connection);
  const found = await deps.groupPages.findGroup(connection, group);
  if (!found)
    throw new AdminError('notFound', 'There is no such group; the identity provider may have deleted it.');
  return found;
}

async function listGroups(
  params: { connection: string },
  { used, search, after, limit }: Query<'listGroups'>,
  deps: AdminDeps,
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
  deps: AdminDeps,
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
