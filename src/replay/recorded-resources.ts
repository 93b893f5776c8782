import { decodeOrKeep } from './anonymize.ts';
import type { RecordedExchange } from './exchanges.ts';
import { isScimObject, parseScimObject, resourcesOf, type ScimObject } from './expectations.ts';

/** A recorded exchange with its parsed parts. */
export interface ParsedExchange {
  recorded: RecordedExchange;
  endpoint: 'Users' | 'Groups' | undefined;
  /** The id in the path. */
  id: string | undefined;
  request: ScimObject | undefined;
  response: ScimObject | undefined;
  isSuccess: boolean;
  isWrite: boolean;
  /** The decoded filter of the query or of a search. */
  filter: string | undefined;
  /** The attributes that the request wants in the answer: all, all but some, or some. */
  shows: 'all' | 'most' | 'some';
}

/** Parses the target and the bodies of an exchange. */
export function parseExchange(recorded: RecordedExchange): ParsedExchange {
  const { pathname, searchParams } = new URL(recorded.path, 'http://scim.example');
  const [, name, id] = /^\/(Users|Groups)(?:\/([^/]+))?$/i.exec(pathname) ?? [];
  const isSearch = id === '.search' || pathname === '/.search';
  const request = parseScimObject(recorded.requestBody);
  const parameters = isSearch ? (request ?? {}) : Object.fromEntries(searchParams);
  return {
    recorded,
    endpoint: name === undefined ? undefined : /users/i.test(name) ? 'Users' : 'Groups',
    id: id === undefined || isSearch ? undefined : decodeOrKeep(id),
    request,
    response: parseScimObject(recorded.responseBody),
    isSuccess: recorded.status < 400,
    isWrite: !isSearch && !['GET', 'HEAD', 'OPTIONS'].includes(recorded.method),
    filter: typeof parameters.filter === 'string' ? parameters.filter : undefined,
    shows: parameters.attributes ? 'some' : parameters.excludedAttributes ? 'most' : 'all',
  };
}

/** Returns true if a request names the resources that it wants: by id, or by a filter of equalities alone. */
export function isExactRequest({ id, filter, isWrite }: ParsedExchange): boolean {
  if (id !== undefined || isWrite) return true;
  if (filter === undefined) return false;
  const operators = filter.replace(/"(?:[^"\\]|\\.)*"/g, '');
  return /\beq\b/i.test(operators) && !/\b(ne|co|sw|ew|gt|ge|lt|le|pr|not)\b/i.test(operators);
}

/** Returns the id of the resource that a POST created. */
export function createdId({
  recorded,
  endpoint,
  id,
  response,
  isSuccess,
}: ParsedExchange): string | undefined {
  const isCreate = recorded.method === 'POST' && endpoint !== undefined && id === undefined;
  return isCreate && isSuccess && typeof response?.id === 'string' ? response.id : undefined;
}

/** A user or group of the recorded service. */
interface KnownResource {
  type: 'Users' | 'Groups';
  /** As last seen; undefined if it was never seen whole. */
  seen: ScimObject | undefined;
  isDeleted: boolean;
}

/** The users and groups of the recorded service, as far as the exchanges so far have shown them. */
export interface KnownResources {
  get(id: string): KnownResource | undefined;
  has(id: string): boolean;
  /** Returns the id of a resource that was last seen with a userName or displayName. */
  findByName(type: KnownResource['type'], name: string): string | undefined;
  /** Learns from one more exchange. */
  learn(exchange: ParsedExchange): void;
}

/** Creates an empty collection of known resources. */
export function knownResources(): KnownResources {
  const known = new Map<string, KnownResource>();
  const note = (id: string, type: KnownResource['type'], seen?: ScimObject) => {
    const before = known.get(id);
    known.set(id, { type, seen: seen ?? before?.seen, isDeleted: false });
  };
  return {
    get: (id) => known.get(id),
    has: (id) => known.has(id),
    findByName: (type, name) =>
      [...known].find(([, one]) => one.type === type && !one.isDeleted && nameOf(one.seen) === name)?.[0],
    learn: (exchange) => {
      const { recorded, endpoint, id, response, isSuccess, shows } = exchange;
      if (!isSuccess || endpoint === undefined) return;
      if (id !== undefined) note(id, endpoint);
      for (const resource of resourcesOf(response)) {
        const before = shows === 'most' ? known.get(String(resource.id))?.seen : undefined;
        note(String(resource.id), endpoint, shows === 'some' ? undefined : { ...before, ...resource });
      }
      for (const member of membersIn(exchange)) if (!known.has(member)) note(member, 'Users');
      const target = id === undefined ? undefined : known.get(id);
      if (!target) return;
      if (recorded.method === 'DELETE') target.isDeleted = true;
    },
  };
}

/** Returns the attribute of a user or group that must be unique, in lower case. */
export function nameOf(resource: ScimObject | undefined): string | undefined {
  const name = resource?.userName ?? resource?.displayName;
  return typeof name === 'string' ? name.toLowerCase() : undefined;
}

/**
 * Returns the ids of the members in a successful write of a group that are ids of the service: a whole group in the response shows no
 * `$ref` for others.
 */
function membersIn({ endpoint, request, isWrite, response, shows }: ParsedExchange): string[] {
  if (endpoint !== 'Groups' || !isWrite) return [];
  const written = [request, ...operationsOf(request)].flatMap((one) => [
    ...memberIds(one?.members),
    ...(/^members$/i.test(String(one?.path)) ? memberIds(one?.value) : []),
    ...(isScimObject(one?.value) ? memberIds(one.value.members) : []),
  ]);
  const answered = Array.isArray(response?.members) ? response.members.filter(isScimObject) : [];
  const unresolved = answered.filter((member) => shows === 'all' && member.$ref === undefined);
  const unknown = new Set(memberIds(unresolved));
  return [...written, ...memberIds(answered)].filter((id) => !unknown.has(id));
}

function memberIds(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((member) =>
    isScimObject(member) && typeof member.value === 'string' ? [member.value] : [],
  );
}

function operationsOf(request: ScimObject | undefined): ScimObject[] {
  const operations = Object.entries(request ?? {}).find(([name]) => name.toLowerCase() === 'operations')?.[1];
  return Array.isArray(operations) ? operations.filter(isScimObject) : [];
}

/** Returns the names of the attributes that a write sets, in lower case and without sub-attributes. */
export function writtenAttributes({ request }: ParsedExchange): string[] {
  const names = [request ?? {}, ...operationsOf(request)].flatMap((one) => [
    ...Object.keys(one),
    ...(typeof one.path === 'string' ? [one.path] : []),
    ...(isScimObject(one.value) && one.path === undefined ? Object.keys(one.value) : []),
  ]);
  return names.map((name) => {
    const [urn = ''] = /^urn:.*:(User|Group)(?=:|$)/i.exec(name) ?? [];
    return (urn === '' ? name.replace(/[.[].*$/s, '') : urn).toLowerCase();
  });
}

/** An id of the service, or any other word that could be one. A percent-encoded character is none of it. */
const idPattern = /%[0-9a-f]{2}|[\w.-]+/gi;

/** Returns all words of a request that may be ids of the service: of its target and its body. */
export function possibleIds({ recorded }: ParsedExchange): Set<string> {
  return new Set(`${decodeOrKeep(recorded.path)} ${recorded.requestBody ?? ''}`.match(idPattern));
}

/** Replaces ids of the service by variables, such as `{{user1}}`. */
export function replaceIds(text: string, variableOf: (id: string) => string | undefined): string {
  return text.replace(idPattern, (word) => {
    const variable = variableOf(word);
    return variable === undefined ? word : `{{${variable}}}`;
  });
}
