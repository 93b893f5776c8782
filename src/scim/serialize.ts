import { setImmediate } from 'node:timers/promises';
import type { ResolvedMember } from '../provisioning/group-ports.ts';
import type { GroupView } from '../provisioning/groups.ts';
import type { UserView } from '../provisioning/list-users.ts';
import { isObject, type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { groupType, type ResourceType, userType } from '../schema/resource-types.ts';
import type { ResourceResponse } from './endpoint.ts';
import { etagOf } from './etags.ts';
import { fullProjection, type Projection } from './projection.ts';
import type { JsonText } from './responses.ts';

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
 * Serializes a user. The store holds JSON text; parsing it only to print it again would cost most of the response, so the
 * attributes that the service adds are inserted into the text.
 */
export function serializeUser(view: UserView, base: string, projection: Projection): string {
  const stored = projection === fullProjection ? withTravelUserId(view) : undefined;
  if (!stored) return JSON.stringify(projection.apply(toUserResource(view, base)));
  const groups = view.groups.map((group) => serializeMembership(group, base)).join(',');
  const attributes = `${membersOf(stored.desired)}${groups === '' ? '' : `,"groups":[${groups}]`}`;
  return `{"schemas":[${userUrn}${membersOf(stored.extensions)}],"id":${JSON.stringify(view.id)}${attributes},"meta":${serializeMeta(view, base)}}`;
}

const userUrn = JSON.stringify(userType.schema.id);
const travelUrn = JSON.stringify(urns.travel);
/** The key of the travel extension in JSON text. It cannot occur within a string, where the quotes would be escaped. */
const travelKey = `${travelUrn}:`;

/**
 * Returns the stored text and its list of extensions with `travelUserId` inserted; undefined if that is not possible without
 * parsing.
 */
function withTravelUserId({ desired, extensions, travelUserId }: UserView) {
  if (extensions === null) return undefined;
  if (travelUserId === undefined) return { desired, extensions };
  const attribute = `"travelUserId":${JSON.stringify(travelUserId)}`;
  if (!extensions.includes(travelUrn)) {
    return {
      desired: append(desired, `${travelKey}{${attribute}}`),
      extensions: append(extensions, travelUrn),
    };
  }
  const start = desired.indexOf(travelKey) + travelKey.length + 1;
  // The extension is a key of the user, so a single occurrence is that key.
  const isUnique = desired.indexOf(travelKey, start) < 0 && desired[start - 1] === '{';
  if (!isUnique || desired.includes('"travelUserId"')) return undefined;
  const rest = desired.slice(start);
  return {
    desired: `${desired.slice(0, start)}${attribute}${rest.startsWith('}') ? '' : ','}${rest}`,
    extensions,
  };
}

/** The users of one page share their groups, so each group is serialized once. */
const serializedMemberships = new WeakMap<UserView['groups'][number], { base: string; json: string }>();

function serializeMembership(group: UserView['groups'][number], base: string): string {
  const cached = serializedMemberships.get(group);
  if (cached?.base === base) return cached.json;
  const json = JSON.stringify(toMembership(group, base));
  serializedMemberships.set(group, { base, json });
  return json;
}

/** Adds a member to the JSON text of an object or list. */
function append(json: string, member: string): string {
  return `${json.slice(0, -1)}${json.length > 2 ? ',' : ''}${member}${json.slice(-1)}`;
}

/** The members in the JSON text of an object or list, each after a comma. */
function membersOf(json: string): string {
  return json.length > 2 ? `,${json.slice(1, -1)}` : '';
}

/** The same JSON as that of `toMeta`, built as text because it is written for every user of a page. */
function serializeMeta({ id, createdAt, lastModified, version }: UserView, base: string): string {
  const created = new Date(createdAt).toISOString();
  const modified = lastModified === createdAt ? created : new Date(lastModified).toISOString();
  const location = JSON.stringify(resourceUrl(userType, id, base));
  const tag = JSON.stringify(etagOf(version));
  return `{"resourceType":"User","created":"${created}","lastModified":"${modified}","location":${location},"version":${tag}}`;
}

/** Converts a user to a SCIM resource: the values of the IdP, and the attributes that the service adds. */
export function toUserResource({ desired, ...view }: UserView, base: string): JsonObject {
  const resource = JSON.parse(desired) as ScimResource; // The store holds nothing else.
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

/** The number of members that are converted or serialized before the event loop runs other requests. */
const MEMBERS_AT_ONCE = 1000;

/** Serializes a group, in pieces if it has many members. */
export function serializeGroup(view: GroupView, base: string, projection: Projection): JsonText {
  const { members = [], manyMembers = inBatches(members) } = view;
  if (!view.manyMembers && members.length <= MEMBERS_AT_ONCE) {
    return JSON.stringify(projection.apply(toGroupResource(view, base)));
  }
  return serializeInPieces(manyMembers, (batch) =>
    projection.apply(toGroupResource({ ...view, members: batch }, base)),
  );
}

async function* inBatches(members: ResolvedMember[]): AsyncGenerator<ResolvedMember[]> {
  for (let start = 0; start < members.length; start += MEMBERS_AT_ONCE)
    yield members.slice(start, start + MEMBERS_AT_ONCE);
}

/** `toResourceWith` converts the group with only a batch of its members. `members` stands last in the text. */
async function* serializeInPieces(
  batches: AsyncIterable<ResolvedMember[]>,
  toResourceWith: (batch: ResolvedMember[]) => JsonObject,
): AsyncGenerator<string> {
  const withoutMembers = JSON.stringify(toResourceWith([]));
  let hasMembers = false;
  for await (const batch of batches) {
    const members = batch.length > 0 ? toResourceWith(batch)['members'] : undefined;
    // The projection has no members, or there are none.
    if (members === undefined) break;
    const text = JSON.stringify(members).slice(1, -1);
    yield hasMembers ? `,${text}` : `${withoutMembers.slice(0, -1)},"members":[${text}`;
    hasMembers = true;
    await setImmediate();
  }
  yield hasMembers ? ']}' : withoutMembers;
}

/** Converts a group to a SCIM resource; without `members` if these were not read. */
function toGroupResource(view: GroupView, base: string): JsonObject {
  const { id, attributes, members, createdAt, lastModified, version } = view;
  const shown = (members ?? []).map((member) => toMemberElement(member, base));
  const body = shown.length > 0 ? { ...attributes, members: shown } : attributes;
  return toResource(groupType, body, { id, createdAt, lastModified, version, base });
}

const memberTypes = { User: userType, Group: groupType };

/**
 * `type` and `$ref` follow from the resource that the id names (RFC 7643 §4.2). A member whose id names no resource has the
 * `type` that the client sent, and no `$ref`.
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

/** Converts a group to a SCIM resource and awaits `pause` between batches of members, of which there may be any number. */
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

/** The data that `id` and `meta` are built from; times are in milliseconds since 1970. */
interface ResourceData {
  id: string;
  version: number;
  createdAt: number;
  lastModified: number;
  base: string;
}

/** Adds `schemas`, `id` and `meta`. `schemas` lists the core schema and every extension that has data (RFC 7643 §3). */
function toResource(type: ResourceType, body: ScimResource, data: ResourceData): JsonObject {
  const extensions = Object.keys(body).filter((name) => name.includes(':'));
  return { schemas: [type.schema.id, ...extensions], id: data.id, ...body, meta: toMeta(type, data) };
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
