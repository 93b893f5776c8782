import type { MemberChange } from '../provisioning/group-ports.ts';
import type { GroupQuery, GroupView, ListedGroupView } from '../provisioning/groups.ts';
import { evaluateFilter, mentionsAttributes, prepareFilter, runInSteps } from '../schema/filter-match.ts';
import type { Filter } from '../schema/filter-parser.ts';
import { normalize } from '../schema/normalize.ts';
import type { JsonObject, ScimResource } from '../schema/resource.ts';
import { groupType } from '../schema/resource-types.ts';
import { closeSignal, type ScimContext } from './context.ts';
import { type Endpoint, logDroppedAttributes } from './endpoint.ts';
import { parseFilterParameter, toGroupFilterQuery } from './filter.ts';
import { parseMembers, splitGroupPatch, splitMembers } from './group-members.ts';
import { parseGroupOrder, parsePageRequest, toPageResources } from './pagination.ts';
import { applyPatch, parsePatch } from './patch.ts';
import { groupResponse, parseProjection, serializeGroup, toGroupResourceInSteps } from './serialize.ts';

/** /Groups (RFC 7644 §3.3 to §3.6). Members are rows: a PATCH says what changes, and none is read for it. */
export const groupsEndpoint: Endpoint = {
  read: async ({ groups, connection, base }, id, query) => {
    const projection = parseProjection(groupType, query);
    const view = await groups.read(connection, id, projection.includes('members'));
    return groupResponse(view, base, projection);
  },

  list: async ({ groups, connection, base }, query, among) => {
    const projection = parseProjection(groupType, query);
    const filter = parseFilterParameter(groupType, query['filter'], among);
    const order = parseGroupOrder(query);
    const part = parsePageRequest(query, {
      connection,
      resourceType: groupType.name,
      filter: query['filter'],
      order,
    });
    const { where, residual } = toGroupFilterQuery(filter);
    const withMembers = projection.includes('members');
    const { total, next, ...found } = await groups.list(connection, {
      ...{ where, order, start: part.place, limit: part.limit },
      residual: residual && residualOf(residual, base),
      withMembers,
    });
    const resources = toPageResources(found, {
      part,
      viewOf: (group) => (isWhole(group, withMembers) ? group : undefined),
      read: (id) => groups.read(connection, id, withMembers),
      json: (view) => serializeGroup(view, base, projection),
    });
    return { total, ...part.told(next), resources };
  },

  create: async (context, body, query) => {
    const projection = parseProjection(groupType, query);
    const { attributes, members } = groupIn(context, body);
    const { groups, connection, base } = context;
    return groupResponse(await groups.create(connection, attributes, members), base, projection);
  },

  replace: async (context, id, { body, query }) => {
    const projection = parseProjection(groupType, query);
    const { attributes, members } = groupIn(context, body);
    const steps: MemberChange[] = [{ kind: 'replace', members }];
    const { groups, connection, base, preconditions: conditions, response } = context;
    const change = {
      signal: closeSignal(response),
      attributes: (_current: ScimResource, version: number) => {
        conditions.check(version);
        return attributes;
      },
      members: steps,
    };
    const view = await groups.change(connection, id, change, projection.includes('members'));
    return groupResponse(view, base, projection);
  },

  patch: async ({ groups, connection, base, preconditions: conditions, response }, id, { body, query }) => {
    const projection = parseProjection(groupType, query);
    const { operations, members } = splitGroupPatch(parsePatch(body));
    const attributes = (current: ScimResource, version: number) => {
      conditions.check(version);
      return applyPatch(groupType, current, operations);
    };
    const withMembers = projection.isExplicit && projection.includes('members');
    const change = { attributes, members, signal: closeSignal(response) };
    const view = await groups.change(connection, id, change, withMembers);
    // Entra advises 204; "attributes" asks for the resource (RFC 7644 §3.5.2).
    const answer = groupResponse(view, base, projection);
    return projection.isExplicit ? answer : { ...answer, json: undefined };
  },

  remove: ({ groups, connection, preconditions: conditions, response }, id) =>
    groups.remove(connection, id, conditions.check, closeSignal(response)),
};

function isWhole(group: ListedGroupView, withMembers: boolean): group is ListedGroupView & GroupView {
  return group.attributes !== undefined && (group.members !== undefined || !withMembers);
}

function residualOf(filter: Filter, base: string): GroupQuery['residual'] {
  const condition = prepareFilter(filter);
  return {
    matches: async (view, step) =>
      runInSteps(evaluateFilter(groupType, condition, await toGroupResourceInSteps(view, base, step)), step),
    needsMembers: mentionsAttributes(groupType, filter, ['members']),
  };
}

function groupIn(context: ScimContext, body: JsonObject) {
  const { members, rest } = splitMembers(body);
  const { resource, dropped } = normalize(groupType, rest);
  logDroppedAttributes(context, dropped);
  return { attributes: resource, members: parseMembers(members) };
}
