import { setImmediate } from 'node:timers/promises';
import type { ResolvedMember } from '../provisioning/group-ports.ts';
import type { GroupView } from '../provisioning/groups.ts';
import type { UserView } from '../provisioning/list-users.ts';
import {
  chooseReading,
  extensionTest,
  parseAttributeName,
  type QualifiedName,
} from '../schema/attribute-names.ts';
import { isObject, type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { groupType, type ResourceType, resolveAttribute, userType } from '../schema/resource-types.ts';
import { etagOf, type Query } from './context.ts';
import type { ResourceResponse } from './endpoint.ts';
import { badRequest } from './errors.ts';
import type { JsonText } from './responses.ts';

/** A user as it is answered. */
export function userResponse(view: UserView, base: string, projection: Projection): ResourceResponse {
  const location = resourceUrl(userType, view.id, base);
  return { location, version: view.version, json: serializeUser(view, base, projection) };
}

/** A group as it is answered, with what `attributes` and `excludedAttributes` leave of it. */
export function groupResponse(view: GroupView, base: string, projection: Projection): ResourceResponse {
  const location = resourceUrl(groupType, view.id, base);
  return { location, version: view.version, json: serializeGroup(view, base, projection) };
}

/**
 * A user as JSON text, with what `attributes` and `excludedAttributes` leave of it. What is kept is text: to parse it in
 * order to print it again would cost most of the answer, so what is ours to say is put around it.
 */
export function serializeUser(view: UserView, base: string, projection: Projection): string {
  const said = projection === fullProjection ? saidOf(view) : undefined;
  if (!said) return JSON.stringify(projection.apply(toUserResource(view, base)));
  const { groups } = view;
  const membership =
    groups.length === 0 ? '' : `,"groups":[${groups.map((one) => membershipJson(one, base)).join(',')}]`;
  const own = `${inner(said.desired)}${membership}`;
  return `{"schemas":[${userUrn}${inner(said.extensions)}],"id":${JSON.stringify(view.id)}${own},"meta":${metaJson(view, base)}}`;
}

const userUrn = JSON.stringify(userType.schema.id);
const travelUrn = JSON.stringify(urns.travel);
/** What stands before the travel extension in JSON text; inside of a string its quotes would be escaped. */
const travelKey = `${travelUrn}:`;

/**
 * What is kept and which extensions it has, with the traveler's id in the travel extension; undefined when that cannot
 * be said without parsing.
 */
function saidOf({ desired, extensions, travelUserId }: UserView) {
  if (extensions === null) return undefined;
  if (travelUserId === undefined) return { desired, extensions };
  const traveler = `"travelUserId":${JSON.stringify(travelUserId)}`;
  if (!extensions.includes(travelUrn)) {
    return {
      desired: added(desired, `${travelKey}{${traveler}}`),
      extensions: added(extensions, travelUrn),
    };
  }
  const at = desired.indexOf(travelKey);
  const begin = at + travelKey.length + 1;
  // The user has one at the top, so where there is only one it is that.
  const isSure = desired.indexOf(travelKey, begin) < 0 && desired[begin - 1] === '{';
  if (!isSure || desired.includes('"travelUserId"')) return undefined;
  const rest = desired.slice(begin);
  return {
    desired: `${desired.slice(0, begin)}${traveler}${rest.startsWith('}') ? '' : ','}${rest}`,
    extensions,
  };
}

/** Those on one page share their groups: each is written once, as long as anybody holds it. */
const written = new WeakMap<UserView['groups'][number], { base: string; json: string }>();

function membershipJson(group: UserView['groups'][number], base: string): string {
  const known = written.get(group);
  if (known?.base === base) return known.json;
  const json = JSON.stringify(membershipOf(group, base));
  written.set(group, { base, json });
  return json;
}

/** JSON text of an object or list with one more at its end. */
function added(json: string, more: string): string {
  return `${json.slice(0, -1)}${json.length > 2 ? ',' : ''}${more}${json.slice(-1)}`;
}

/** What stands in the brackets of JSON text, to be put behind something. */
function inner(json: string): string {
  return json.length > 2 ? `,${json.slice(1, -1)}` : '';
}

/** The same as `metaOf` says, written at once: it is a third of what is said around what is kept. */
function metaJson({ id, createdAt, lastModified, version }: UserView, base: string): string {
  const created = new Date(createdAt).toISOString();
  const modified = lastModified === createdAt ? created : new Date(lastModified).toISOString();
  const location = JSON.stringify(resourceUrl(userType, id, base));
  const tag = JSON.stringify(etagOf(version));
  return `{"resourceType":"User","created":"${created}","lastModified":"${modified}","location":${location},"version":${tag}}`;
}

/** A group as JSON text; members that are many are written in pieces, between which others have their turn. */
export function serializeGroup(view: GroupView, base: string, projection: Projection): JsonText {
  const { members = [], manyMembers = parts(members) } = view;
  if (!view.manyMembers && members.length <= MEMBERS_AT_ONCE) {
    return JSON.stringify(projection.apply(toGroupResource(view, base)));
  }
  return pieces(manyMembers, (some) => projection.apply(toGroupResource({ ...view, members: some }, base)));
}

async function* parts(members: ResolvedMember[]): AsyncGenerator<ResolvedMember[]> {
  for (let start = 0; start < members.length; start += MEMBERS_AT_ONCE)
    yield members.slice(start, start + MEMBERS_AT_ONCE);
}

async function* pieces(
  members: AsyncIterable<ResolvedMember[]>,
  shown: (some: ResolvedMember[]) => JsonObject,
): AsyncGenerator<string> {
  const whole = JSON.stringify(shown([]));
  let isBegun = false;
  for await (const some of members) {
    const piece = some.length > 0 ? shown(some)['members'] : undefined;
    if (piece === undefined) break;
    const text = JSON.stringify(piece).slice(1, -1);
    yield isBegun ? `,${text}` : `${whole.slice(0, -1)},"members":[${text}`;
    isBegun = true;
    await setImmediate();
  }
  yield isBegun ? ']}' : whole;
}

/** A user as it is answered: the IdP's values, and what is ours to say. */
export function toUserResource({ desired, ...view }: UserView, base: string): JsonObject {
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
  return { ...group, $ref: resourceUrl(groupType, group.value, base), type: 'direct' };
}

/** A group as it is answered; without members when they were not read. */
export function toGroupResource(view: GroupView, base: string): JsonObject {
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
  if (names !== undefined) member['$ref'] = resourceUrl(memberTypes[names], value, base);
  return member;
}

/** How many members are presented, and written, between two pauses. */
export const MEMBERS_AT_ONCE = 1000;

/** The same with pauses, as a group may have any number of members. */
export async function toGroupResourceInSteps(
  { members = [], ...view }: GroupView,
  base: string,
  pause: () => Promise<void>,
): Promise<JsonObject> {
  const shown: Json[] = [];
  for (let start = 0; start < members.length; start += MEMBERS_AT_ONCE) {
    await pause();
    const piece = toGroupResource({ ...view, members: members.slice(start, start + MEMBERS_AT_ONCE) }, base);
    if (Array.isArray(piece['members'])) shown.push(...piece['members']);
  }
  const body = toGroupResource({ ...view, members: undefined }, base);
  return shown.length > 0 ? { ...body, members: shown } : body;
}

/** The URL of a resource: `meta.location`, and Location of a 201 (RFC 7644 §3.3). */
export function resourceUrl(type: ResourceType, id: string, base: string): string {
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
    location: resourceUrl(type, id, base),
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

/** Names of attributes as a tree, in lower case; true stands for all below. */
type Tree = true | Map<string, Tree>;

/** What of a resource is answered (RFC 7644 §3.9). */
export interface Projection {
  apply(resource: JsonObject): JsonObject;
  /** Whether anything of that core attribute can be in the answer; if not, it need not be read. */
  includes(name: string): boolean;
  /** Whether `attributes` asked for it: a PATCH is then answered with the resource (RFC 7644 §3.5.2). */
  isExplicit: boolean;
}

/** More than all schemas have; a search has room for a hundred thousand. */
const MAX_NAMES = 1000;

/** "minimum set of resource attributes" that `attributes` and `excludedAttributes` cannot take away (RFC 7643 §7, returned). */
const always = ['schemas', 'id'];

/** Reads `attributes` and `excludedAttributes`; names that do not exist select nothing. */
export function parseProjection(type: ResourceType, { attributes, excludedAttributes }: Query): Projection {
  const [only, without] = [namesIn(attributes), namesIn(excludedAttributes)];
  // "mutually exclusive" (RFC 7644 §3.9)
  if (only && without) {
    throw badRequest('invalidValue', 'attributes and excludedAttributes cannot be used together.');
  }
  if (only) return selecting(selectionOf(type, [...only, ...always]));
  if (!without) return fullProjection;
  return excluding(
    selectionOf(
      type,
      without.filter((name) => !always.includes(name)),
    ),
  );
}

/** Without either parameter: all that is returned by default, which is all that is kept. */
export const fullProjection: Projection = {
  apply: (resource) => resource,
  includes: () => true,
  isExplicit: false,
};

/** The names of a request: those that mean the same in every resource, and how the others divide in one resource. */
interface Selection {
  tree: Tree;
  treeIn(resource: JsonObject): Tree;
}

function selecting({ tree, treeIn }: Selection): Projection {
  return {
    apply: (resource) => toObject(select(resource, treeIn(resource))),
    includes: (name) => tree === true || tree.has(name.toLowerCase()),
    isExplicit: true,
  };
}

function excluding({ tree, treeIn }: Selection): Projection {
  return {
    apply: (resource) => toObject(exclude(resource, treeIn(resource))),
    includes: (name) => tree === true || tree.get(name.toLowerCase()) !== true,
    isExplicit: false,
  };
}

function namesIn(parameter: unknown): string[] | undefined {
  const text = Array.isArray(parameter) ? parameter.join(',') : parameter;
  if (typeof text !== 'string') return undefined;
  const names = new Set(text.split(',').map((name) => name.trim()));
  names.delete('');
  if (names.size > MAX_NAMES) throw badRequest('invalidValue', 'Too many attributes are named.');
  return [...names];
}

function selectionOf(type: ResourceType, texts: string[]): Selection {
  const names = texts.flatMap((text) => parseAttributeName(text) ?? []);
  const tree = treeOf(
    type,
    names.filter(({ readings }) => !readings),
  );
  const open = names.filter(({ readings }) => readings);
  if (tree === true || open.length === 0) return { tree, treeIn: () => tree };
  return {
    tree,
    treeIn: rememberingLast((resource) => {
      const isKnown = extensionTest(resource);
      const here = open.map((name) => chooseReading(name, isKnown)).filter(({ urn = '' }) => isKnown(urn));
      return treeOf(type, here, copyOf(tree));
    }),
  };
}

/** Keeps the last tree: most resources of a page have the same extensions, and only their URNs make a difference. */
function rememberingLast(treeIn: Selection['treeIn']): Selection['treeIn'] {
  let last: { urns: string; tree: Tree } | undefined;
  return (resource) => {
    const urns = JSON.stringify(Object.keys(resource).filter((key) => key.includes(':')));
    if (last?.urns !== urns) last = { urns, tree: treeIn(resource) };
    return last.tree;
  };
}

function treeOf(type: ResourceType, names: QualifiedName[], root = new Map<string, Tree>()): Tree {
  for (const name of names) {
    const { urn, name: attribute } = resolveAttribute(type, name);
    const keys = [urn, attribute, name.sub].filter((key) => key !== undefined);
    if (keys.length === 0) return true;
    insert(root, keys);
  }
  return root;
}

function copyOf(tree: Map<string, Tree>): Map<string, Tree> {
  return new Map([...tree].map(([key, below]) => [key, below === true ? below : copyOf(below)]));
}

function insert(tree: Map<string, Tree>, [key, ...rest]: string[]): void {
  if (key === undefined) return;
  const folded = key.toLowerCase();
  const below = tree.get(folded);
  if (below === true) return;
  const branch = below ?? new Map<string, Tree>();
  tree.set(folded, rest.length === 0 ? true : branch);
  if (rest.length > 0) insert(branch, rest);
}

function select(value: Json, tree: Tree): Json {
  if (tree === true) return value;
  if (Array.isArray(value)) return value.map((element) => select(element, tree));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = tree.get(name.toLowerCase());
    return below ? [[name, select(inner, below)] as const] : [];
  });
  return Object.fromEntries(kept);
}

function exclude(value: Json, tree: Tree): Json {
  if (tree === true) return value;
  if (Array.isArray(value)) return value.map((element) => exclude(element, tree));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = tree.get(name.toLowerCase());
    if (below === true) return [];
    return [[name, below ? exclude(inner, below) : inner] as const];
  });
  return Object.fromEntries(kept);
}

function toObject(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
