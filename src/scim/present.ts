import type { GroupView } from '../bridge/groups.ts';
import type { ResolvedMember } from '../bridge/ports.ts';
import type { UserView } from '../bridge/user-list.ts';
import { isObject } from '../schema/own.ts';
import { type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { groupType, type ResourceType, userType } from '../schema/resource-type.ts';
import { etagOf } from './conditions.ts';

/** A user as it is answered: the IdP's values, and what is ours to say. */
export function presentUser({ desired, ...view }: UserView, base: string): JsonObject {
  const resource = JSON.parse(desired) as ScimResource; // The store keeps nothing else.
  const groups = view.groups.map((group) => membershipOf(group, base));
  const travel = resource[urns.travel];
  const withTraveler =
    view.travelUserId === undefined
      ? resource
      : {
          ...resource,
          [urns.travel]: { ...(isObject(travel) ? travel : {}), travelUserId: view.travelUserId },
        };
  const body = groups.length > 0 ? { ...withTraveler, groups } : withTraveler;
  return present(userType, body, { ...view, base });
}

/** A group that a user is a member of (RFC 7643 §4.1.2). */
export function membershipOf(group: UserView['groups'][number], base: string): JsonObject {
  return { ...group, $ref: locationOf(groupType, group.value, base), type: 'direct' };
}

/** A group as it is answered; without members when they were not read. */
export function presentGroup(view: GroupView, base: string): JsonObject {
  const { id, attributes, members, createdAt, lastModified, version } = view;
  const shown = (members ?? []).map((member) => presentMember(member, base));
  const body = shown.length > 0 ? { ...attributes, members: shown } : attributes;
  return present(groupType, body, { id, createdAt, lastModified, version, base });
}

const memberTypes = { User: userType, Group: groupType };

/**
 * `type` and `$ref` follow from the resource that the id names (RFC 7643 §4.2); of an id that names none, the client's
 * own `type` is all that is known.
 */
function presentMember({ names, value, display, type: told }: ResolvedMember, base: string): JsonObject {
  const member: JsonObject = { value };
  const type = names ?? told;
  if (display !== undefined) member['display'] = display;
  if (type !== undefined) member['type'] = type;
  if (names !== undefined) member['$ref'] = locationOf(memberTypes[names], value, base);
  return member;
}

/** How many members are presented, and written, between two pauses. */
export const MEMBERS_AT_ONCE = 1000;

/** The same with pauses, as a group may have any number of members. */
export async function presentGroupInSteps(
  { members = [], ...view }: GroupView,
  base: string,
  pause: () => Promise<void>,
): Promise<JsonObject> {
  const shown: Json[] = [];
  for (let start = 0; start < members.length; start += MEMBERS_AT_ONCE) {
    await pause();
    const piece = presentGroup({ ...view, members: members.slice(start, start + MEMBERS_AT_ONCE) }, base);
    if (Array.isArray(piece['members'])) shown.push(...piece['members']);
  }
  const body = presentGroup({ ...view, members: undefined }, base);
  return shown.length > 0 ? { ...body, members: shown } : body;
}

/** The URL of a resource: `meta.location`, and Location of a 201 (RFC 7644 §3.3). */
export function locationOf(type: ResourceType, id: string, base: string): string {
  return `${base}${type.endpoint}/${encodeURIComponent(id)}`;
}

/** What `meta` tells of, and where. */
interface Facts {
  id: string;
  version: number;
  createdAt: number;
  lastModified: number;
  base: string;
}

/** The attribute `meta` (RFC 7643 §3.1). */
function metaOf(type: ResourceType, { id, version, createdAt, lastModified, base }: Facts): JsonObject {
  return {
    resourceType: type.name,
    created: new Date(createdAt).toISOString(),
    lastModified: new Date(lastModified).toISOString(),
    location: locationOf(type, id, base),
    version: etagOf(version),
  };
}

/** "schemas" lists the core schema and every extension that has data (RFC 7643 §3). */
function present(type: ResourceType, body: ScimResource, facts: Facts): JsonObject {
  const extensions = Object.keys(body).filter((name) => name.includes(':'));
  return {
    schemas: [type.schema.id, ...extensions],
    id: facts.id,
    ...body,
    meta: metaOf(type, facts),
  };
}
