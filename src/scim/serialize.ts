import { setImmediate } from 'node:timers/promises';
import type { ResolvedMember } from '../model/group-ports.ts';
import type { GroupView } from '../provisioning/groups/groups.ts';
import type { UserView } from '../provisioning/users/list-users.ts';
import {
  extensionsOf,
  isObject,
  type Json,
  type JsonObject,
  type ScimResource,
  urns,
} from '../schema/resource.ts';
import { groupType, type ResourceType, userType } from '../schema/resource-types.ts';
import { fullProjection, type Projection } from './lists/projection.ts';
import type { ResourceResponse } from './protocol/endpoint.ts';
import { etagOf } from './protocol/etags.ts';
import type { JsonText } from './protocol/responses.ts';

/** Builds the response with a user. `base` is the URL that locations begin with. */
export function userResponse(view: UserView, base: string, projection: Projection): ResourceResponse {
  const location = resourceUrl(userType, view.id, base);
  return { location, version: view.version, json: serializeUser(view, base, projection) };
}

/** Builds the response with a group. */
export function groupResponse(view: GroupView, base: string, projection: Projection): ResourceResponse {
  const location = resourceUrl(groupType, view.id, base);
  return { location, version: view.version, json: serializeGroup(view, base, projection) };
}

/**
 * Serializes a user. The stored resource is already JSON text, and parsing and printing it would take most of the time of a
 * page, so the attributes that the service adds are inserted into the text.
 */
export function serializeUser(view: UserView, base: string, projection: Projection): string {
  const stored = projection === fullProjection ? withTravelUserId(view) : undefined;
  if (!stored) return JSON.stringify(projection.apply(toUserResource(view, base)));
  const groups = view.groups.map((group) => JSON.stringify(toMembership(group, base)));
  const attributes = `${stored.attributes}${groups.length > 0 ? `,"groups":[${groups}]` : ''}`;
  const start = `{"schemas":[${userUrn}${stored.extensions}],"id":${JSON.stringify(view.id)}`;
  return `${start}${attributes},"meta":${serializeMeta(view, base)}}`;
}

const userUrn = JSON.stringify(userType.schema.id);
const travelUrn = JSON.stringify(urns.travel);
/**
 * The key of the travel extension in the stored text. It cannot occur inside of a string, where its quotes would be
 * escaped.
 */
const travelKey = `${travelUrn}:`;

/**
 * Returns the members of the stored text and of its list of extensions, with a comma before each, and with `travelUserId`. Returns
 * undefined if the text would have to be parsed for that.
 */
function withTravelUserId({ desired, extensions, travelUserId }: UserView) {
  if (extensions === null) return undefined;
  const stored = { attributes: membersOf(desired), extensions: membersOf(extensions) };
  if (travelUserId === undefined) return stored;
  const attribute = `"travelUserId":${JSON.stringify(travelUserId)}`;
  if (!extensions.includes(travelUrn)) {
    return {
      attributes: `${stored.attributes},${travelKey}{${attribute}}`,
      extensions: `${stored.extensions},${travelUrn}`,
    };
  }
  const start = desired.indexOf(travelKey) + travelKey.length + 1;
  // If the text occurs only once, it is the key of the extension and not a key further inside.
  const isUnique = desired.indexOf(travelKey, start) < 0 && desired[start - 1] === '{';
  if (!isUnique || desired.includes('"travelUserId"')) return undefined;
  const rest = desired.slice(start);
  const attributes = membersOf(
    `${desired.slice(0, start)}${attribute}${rest.startsWith('}') ? '' : ','}${rest}`,
  );
  return { ...stored, attributes };
}

/** Returns the members of the JSON text of an object or array, with a comma before each. */
function membersOf(json: string): string {
  return json.length > 2 ? `,${json.slice(1, -1)}` : '';
}

/** Returns the JSON text of `toMeta`, of which only the location can have characters to escape. */
function serializeMeta({ id, createdAt, lastModified, version }: UserView, base: string): string {
  const created = new Date(createdAt).toISOString();
  const modified = lastModified === createdAt ? created : new Date(lastModified).toISOString();
  const times = `"created":"${created}","lastModified":"${modified}"`;
  const location = JSON.stringify(resourceUrl(userType, id, base));
  return `{"resourceType":"User",${times},"location":${location},"version":"W/\\"${version}\\""}`;
}

/** Converts a stored user to a SCIM resource: the IdP's values, and the attributes that the service adds. */
export function toUserResource({ desired, ...view }: UserView, base: string): JsonObject {
  const resource = JSON.parse(desired) as ScimResource; // The store contains only valid resources.
  const groups = view.groups.map((group) => toMembership(group, base));
  const travel = resource[urns.travel];
  const withTraveler =
    view.travelUserId === undefined
      ? resource
      : {
          ...resource,
          [urns.travel]: { ...(isObject(travel) ? travel : {}), travelUserId: view.travelUserId },
        };
  const body = groups.length > 0 ? { ...withTraveler, groups } : withTraveler;
  return toResource(userType, body, { ...view, base });
}

/** An element of a user's `groups` (RFC 7643 §4.1.2). */
function toMembership(group: UserView['groups'][number], base: string): JsonObject {
  return { ...group, $ref: resourceUrl(groupType, group.value, base), type: 'direct' };
}

/** After this many members, serialization yields to other requests. */
const MEMBERS_AT_ONCE = 1000;

/** Serializes a group, in pieces if it has many members. */
export function serializeGroup(view: GroupView, base: string, projection: Projection): JsonText {
  const { members = [], manyMembers = inBatches(members) } = view;
  if (!view.manyMembers && members.length <= MEMBERS_AT_ONCE) {
    return JSON.stringify(projection.apply(toGroupResource(view, base)));
  }
  const resourceWith = (batch: ResolvedMember[] | undefined) =>
    projection.apply(toGroupResource({ ...view, members: batch }, base));
  return projection.includes('members')
    ? serializeInPieces(manyMembers, resourceWith)
    : JSON.stringify(resourceWith(undefined));
}

async function* inBatches(members: ResolvedMember[]): AsyncGenerator<ResolvedMember[]> {
  for (let start = 0; start < members.length; start += MEMBERS_AT_ONCE)
    yield members.slice(start, start + MEMBERS_AT_ONCE);
}

/**
 * Serializes a group batch by batch. `resourceWith` converts the group with one batch as its members, or without members;
 * the text of each batch is appended, so that `members` is the last attribute.
 */
async function* serializeInPieces(
  batches: AsyncIterable<ResolvedMember[]>,
  resourceWith: (batch: ResolvedMember[] | undefined) => JsonObject,
): AsyncGenerator<string> {
  let separator = '';
  yield `${JSON.stringify(resourceWith(undefined)).slice(0, -1)},"members":[`;
  for await (const batch of batches) {
    if (batch.length === 0) break;
    yield `${separator}${JSON.stringify(resourceWith(batch)['members']).slice(1, -1)}`;
    separator = ',';
    await setImmediate();
  }
  yield ']}';
}

/**
 * Converts a group to a SCIM resource. A group without members has `members: []`, because clients that compare members fail
 * without the attribute; if the members were not read, the resource has no `members`.
 */
function toGroupResource(view: GroupView, base: string): JsonObject {
  const { id, attributes, members, createdAt, lastModified, version } = view;
  const body = members
    ? { ...attributes, members: members.map((member) => toMemberElement(member, base)) }
    : attributes;
  return toResource(groupType, body, { id, createdAt, lastModified, version, base });
}

const memberTypes = { User: userType, Group: groupType };

/**
 * Converts a member. `type` and `$ref` are derived from the user or group that has the id (RFC 7643 §4.2). If there is
 * none, the member has the `type` that the client sent, and no `$ref`.
 */
function toMemberElement(
  { names, value, display, type: sentType }: ResolvedMember,
  base: string,
): JsonObject {
  const element: JsonObject = { value };
  const type = names ?? sentType;
  if (display !== undefined) element['display'] = display;
  if (type !== undefined) element['type'] = type;
  if (names !== undefined) element['$ref'] = resourceUrl(memberTypes[names], value, base);
  return element;
}

/**
 * Converts a group to a SCIM resource. Awaits `pause` between batches of members, because their number is not limited.
 */
export async function toGroupResourceInSteps(
  { members = [], ...view }: GroupView,
  base: string,
  pause: () => Promise<void>,
): Promise<JsonObject> {
  const elements: Json[] = [];
  for (let start = 0; start < members.length; start += MEMBERS_AT_ONCE) {
    await pause();
    const batch = members.slice(start, start + MEMBERS_AT_ONCE);
    const part = toGroupResource({ ...view, members: batch }, base);
    if (Array.isArray(part['members'])) elements.push(...part['members']);
  }
  const body = toGroupResource({ ...view, members: undefined }, base);
  return elements.length > 0 ? { ...body, members: elements } : body;
}

/** The URL of a resource: `meta.location`, and the Location of a 201 (RFC 7644 §3.3). */
export function resourceUrl(type: ResourceType, id: string, base: string): string {
  return `${base}${type.endpoint}/${encodeURIComponent(id)}`;
}

/** The data for `id` and `meta`. Times are epoch milliseconds. */
interface ResourceData {
  id: string;
  version: number;
  createdAt: number;
  lastModified: number;
  base: string;
}

/** Adds `schemas`, `id` and `meta`. `schemas` lists the core schema and every extension that has data (RFC 7643 §3). */
function toResource(type: ResourceType, body: ScimResource, data: ResourceData): JsonObject {
  return { schemas: [type.schema.id, ...extensionsOf(body)], id: data.id, ...body, meta: toMeta(type, data) };
}

/** The attribute `meta` (RFC 7643 §3.1). */
function toMeta(
  type: ResourceType,
  { id, version, createdAt, lastModified, base }: ResourceData,
): JsonObject {
  return {
    resourceType: type.name,
    created: new Date(createdAt).toISOString(),
    lastModified: new Date(lastModified).toISOString(),
    location: resourceUrl(type, id, base),
    version: etagOf(version),
  };
}
