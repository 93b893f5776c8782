import { isScimObject, resourcesOf, type ScimObject } from './expectations.ts';
import {
  createdId,
  isExactRequest,
  type KnownResources,
  nameOf,
  type ParsedExchange,
  possibleIds,
  writtenAttributes,
} from './recorded-resources.ts';

/** A user or group that existed before a session and that the session needs. */
export interface NeededResource {
  type: 'Users' | 'Groups';
  /** The resource before the session; undefined if the recording does not show it. */
  state: ScimObject | undefined;
}

/** The resources as all exchanges show them, and as those before the session do. */
export interface SessionKnowledge {
  all: KnownResources;
  known: KnownResources;
}

/**
 * Returns the resources that must exist before a session, by id, in the order in which they can be created: managers before
 * their reports, users before groups. Must be called before `known` learns from the session.
 */
export function neededResources(
  session: ParsedExchange[],
  { all, known }: SessionKnowledge,
): Map<string, NeededResource> {
  const needed = new Map<string, NeededResource>();
  const created = new Set<string>();
  const names = new Set<string | undefined>();
  for (const exchange of session) {
    for (const id of referencedIds(exchange, all, known)) {
      if (created.has(id) || needed.has(id)) continue;
      const state = stateBefore(id, session, known);
      needed.set(id, { type: all.get(id)?.type ?? exchange.endpoint ?? 'Users', state });
      names.add(nameOf(state));
    }
    const id = createdId(exchange);
    if (id !== undefined) created.add(id);
    if (exchange.isSuccess && exchange.isWrite) names.add(nameOf(exchange.response));
    const holder = holderOfTakenName(exchange, names, known);
    if (holder) needed.set(...holder);
  }
  return inOrderOfCreation(needed);
}

/** The ids of the service that a request or an answer names, of resources that exist. */
function referencedIds(exchange: ParsedExchange, all: KnownResources, known: KnownResources): string[] {
  const { id, recorded, isSuccess, isWrite, response } = exchange;
  const isFound = ![401, 404, 501].includes(recorded.status);
  const target = id !== undefined && isFound ? [id] : [];
  const isLive = (text: string) => all.has(text) && known.get(text)?.isDeleted !== true;
  const isAsked = isSuccess && !isWrite && isExactRequest(exchange);
  const inAnswer = isAsked ? resourcesOf(response).map((resource) => String(resource.id)) : [];
  const isEffective = (isSuccess && isWrite) || inAnswer.length > 0;
  const inRequest = isEffective ? [...possibleIds(exchange)].filter(isLive) : [];
  return [...target, ...inRequest, ...inAnswer];
}

/** A refused POST or PUT shows that somebody else has the name. */
function holderOfTakenName(
  { recorded, endpoint, request }: ParsedExchange,
  names: Set<string | undefined>,
  known: KnownResources,
): [string, NeededResource] | undefined {
  const name = nameOf(request);
  if (recorded.status !== 409 || endpoint === undefined || name === undefined || names.has(name))
    return undefined;
  names.add(name);
  const id = known.findByName(endpoint, name);
  const attribute = endpoint === 'Users' ? 'userName' : 'displayName';
  const state = (id === undefined ? undefined : known.get(id)?.seen) ?? { [attribute]: request?.[attribute] };
  return [id ?? `the holder of ${name}`, { type: endpoint, state }];
}

/**
 * Returns a resource as it was before the session: as a read before the first write shows it, or as it was known before. Else it is as
 * the session shows it later, without what the writes until then set.
 */
function stateBefore(id: string, session: ParsedExchange[], known: KnownResources): ScimObject | undefined {
  const writes: ParsedExchange[] = [];
  for (const exchange of session) {
    if (!exchange.isSuccess) continue;
    if (exchange.isWrite && exchange.id === id) writes.push(exchange);
    const earlier = writes.length > 0 ? known.get(id)?.seen : undefined;
    if (earlier) return earlier;
    const shown = exchange.shows === 'some' ? undefined : resourcesOf(exchange.response).find(hasId);
    if (shown) return { ...known.get(id)?.seen, ...withoutWritten(shown, writes) };
  }
  return known.get(id)?.seen;
  function hasId(resource: ScimObject): boolean {
    return resource.id === id;
  }
}

/** Leaves out texts and booleans that writes set. What they set in lists and objects may stay: it is set again to the same. */
function withoutWritten(resource: ScimObject, writes: ParsedExchange[]): ScimObject {
  const written = writes.flatMap(writtenAttributes);
  const stays = ([name, value]: [string, unknown]) =>
    name === 'userName' || typeof value === 'object' || !written.includes(name.toLowerCase());
  return Object.fromEntries(Object.entries(resource).filter(stays));
}

function inOrderOfCreation(needed: Map<string, NeededResource>): Map<string, NeededResource> {
  const ordered = new Map<string, NeededResource>();
  const visited = new Set<string>();
  const visit = (id: string, resource: NeededResource) => {
    if (visited.has(id)) return;
    visited.add(id);
    const managerId = managerOf(resource.state);
    const manager = managerId === undefined ? undefined : needed.get(managerId);
    if (managerId !== undefined && manager) visit(managerId, manager);
    ordered.set(id, resource);
  };
  for (const type of ['Users', 'Groups'])
    for (const [id, resource] of needed) if (resource.type === type) visit(id, resource);
  return ordered;
}

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const core = 'urn:ietf:params:scim:schemas:core:2.0:';

function managerOf(state: ScimObject | undefined): string | undefined {
  const extension = state?.[enterprise];
  const manager = isScimObject(extension) ? extension.manager : undefined;
  return isScimObject(manager) && typeof manager.value === 'string' ? manager.value : undefined;
}

/** Attributes that the service makes, and the travel extension, whose values are those of the travel service. */
const made = new Set([
  'id',
  'meta',
  'groups',
  '$ref',
  'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
]);

/** The other resources of the scenario, seen from one that is created. */
interface OtherResources {
  /** The number of the resource, for a name of one that the recording does not show. */
  number: number;
  isThere(id: string): boolean;
  isLater(id: string): boolean;
}

/**
 * Returns the body of the POST that creates a needed resource. Members that are not there are left out. A manager who comes
 * later is left out too; one whom the scenario does not have stays, as the service keeps any text.
 */
export function bodyOfSetUp(
  { type, state }: NeededResource,
  { number, isThere, isLater }: OtherResources,
): ScimObject {
  const schemas = [`${core}${type === 'Users' ? 'User' : 'Group'}`];
  // The recording may not show the name.
  const name =
    type === 'Users'
      ? { userName: `existing.${number}@recorded.example` }
      : { displayName: `Existing ${number}` };
  const shown: ScimObject = Object(withoutMade(state ?? {}));
  const extensions = Object.keys(shown).filter((attribute) => attribute.startsWith('urn:'));
  const body = { ...name, ...shown, schemas: [...schemas, ...extensions] };
  const managerId = managerOf(state);
  return {
    ...body,
    ...(Array.isArray(shown.members) ? { members: shown.members.filter(isMemberThere) } : {}),
    ...(managerId !== undefined && isLater(managerId) ? { [enterprise]: withoutManager(shown) } : {}),
  };
  function isMemberThere(member: unknown): boolean {
    return isScimObject(member) && isThere(String(member.value));
  }
}

function withoutManager(user: ScimObject): ScimObject {
  const { manager: _, ...rest } = Object(user[enterprise]);
  return rest;
}

function withoutMade(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMade);
  if (!isScimObject(value)) return value;
  const members = Object.entries(value).filter(([name]) => !made.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutMade(member)]));
}
