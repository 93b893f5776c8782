import type { MemberChange } from '../model/group-ports.ts';
import type { GroupQuery, GroupView, ListedGroupView } from '../provisioning/groups/groups.ts';
import { pausingFilterTest } from '../schema/filter-match.ts';
import type { Filter } from '../schema/filter-parser.ts';
import { normalize } from '../schema/normalize.ts';
import type { JsonObject, ScimResource } from '../schema/resource.ts';
import { groupType } from '../schema/resource-types.ts';
import { parseMembers, splitGroupPatch, splitMembers } from './group-members.ts';
import { groupColumns, mentionsAttributes, parseFilterParameter, toFilterQuery } from './lists/filter.ts';
import { groupOrders, parseOrder, parsePageRequest, toPage } from './lists/pagination.ts';
import { parseProjection } from './lists/projection.ts';
import { applyPatch, parsePatch } from './patch/patch.ts';
import { closeSignal, type Endpoint, logDroppedAttributes, type ScimContext } from './protocol/endpoint.ts';
import { groupResponse, serializeGroup, toGroupResourceInSteps } from './serialize.ts';

/** /Groups (RFC 7644 §3.3 to §3.6). Members are rows of the store, and a PATCH changes some of them without reading the others. */
export const groupsEndpoint: Endpoint = {
  read: async ({ groups, connection, base }, id, query) => {
    const projection = parseProjection(groupType, query);
    const view = await groups.read(connection, id, projection.includes('members'));
    return groupResponse(view, base, projection);
  },

  list: async ({ groups, connection, base }, query, searchedTypes) => {
    const projection = parseProjection(groupType, query);
    const filter = parseFilterParameter(groupType, query['filter'], searchedTypes);
    const order = parseOrder(groupType, groupOrders, query);
    const scope = { connection, resourceType: groupType.name, filter: query['filter'], order };
    const page = parsePageRequest(query, scope);
    const { where, residual, exactUnlessLong } = toFilterQuery(groupColumns, filter);
    const withMembers = projection.includes('members');
    const listed = await groups.list(connection, {
      ...{ where, exactUnlessLong, order },
      start: page.start,
      limit: page.limit,
      residual: residual && toGroupResidual(residual, base),
      withMembers,
    });
    return toPage(listed, page, {
      viewOf: (group) => (isLoaded(group, withMembers) ? group : undefined),
      read: (id) => groups.read(connection, id, withMembers),
      serialize: (view) => serializeGroup(view, base, projection),
    });
  },

  create: async (context, body, query) => {
    const projection = parseProjection(groupType, query);
    const { attributes, members } = normalizeGroup(context, body);
    const { groups, connection, base } = context;
    return groupResponse(await groups.create(connection, attributes, members), base, projection);
  },

  replace: async (context, id, { body, query }) => {
    const projection = parseProjection(groupType, query);
    const { attributes, members } = normalizeGroup(context, body);
    const { groups, connection, base, preconditions, response } = context;
    const memberChanges: MemberChange[] = [{ kind: 'replace', members }];
    const change = {
      signal: closeSignal(response),
      attributes: (_current: ScimResource, version: number) => {
        preconditions.check(version);
        return attributes;
      },
      members: memberChanges,
    };
    const view = await groups.change(connection, id, change, projection.includes('members'));
    return groupResponse(view, base, projection);
  },

  patch: async ({ groups, connection, base, preconditions, response }, id, { body, query }) => {
    const projection = parseProjection(groupType, query);
    const { operations, members } = splitGroupPatch(parsePatch(body));
    const attributes = (current: ScimResource, version: number) => {
      preconditions.check(version);
      return applyPatch(groupType, current, operations);
    };
    // With "attributes" the RFC requires 200 and the resource, whatever its size (RFC 7644 §3.5.2).
    const anyNumber = projection.isExplicit || 'ifFew';
    const withMembers = projection.includes('members') && anyNumber;
    const change = { attributes, members, signal: closeSignal(response) };
    const view = await groups.change(connection, id, change, withMembers);
    const answer = groupResponse(view, base, projection);
    // Clients fail on a 204, but one that adds a member to a large group must not receive all others each time.
    const isTooLarge = withMembers === 'ifFew' && view.members === undefined;
    return isTooLarge ? { ...answer, json: undefined } : answer;
  },

  remove: ({ groups, connection, preconditions, response }, id) =>
    groups.remove(connection, id, preconditions.check, closeSignal(response)),
};

function isLoaded(group: ListedGroupView, withMembers: boolean): group is ListedGroupView & GroupView {
  return group.attributes !== undefined && (group.members !== undefined || !withMembers);
}

/** Returns the test that the store applies to each row, for the part of a filter that no column answers. */
export function toGroupResidual(filter: Filter, base: string): GroupQuery['residual'] {
  const test = pausingFilterTest(groupType, filter);
  return {
    matches: async (view, pause) => test(await toGroupResourceInSteps(view, base, pause), pause),
    needsMembers: mentionsAttributes(groupType, filter, ['members']),
  };
}

function normalizeGroup(context: ScimContext, body: JsonObject) {
  const { members, rest } = splitMembers(body);
  const { resource, dropped } = normalize(groupType, rest);
  logDroppedAttributes(context, dropped);
  return { attributes: resource, members: parseMembers(members) };
}
