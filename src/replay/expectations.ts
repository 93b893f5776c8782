import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../schema/json-depth.ts';

/** A JSON object of a SCIM message. */
export type ScimObject = Record<string, unknown>;

/** Returns true if a JSON value is an object. */
export function isScimObject(value: unknown): value is ScimObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a body; undefined if it is not a JSON object. */
export function parseScimObject(text: string | undefined): ScimObject | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  return isScimObject(value) ? value : undefined;
}

/** The resources in an answer: of a list, or the only one. */
export function resourcesOf(body: ScimObject | undefined): ScimObject[] {
  if (!body) return [];
  if (Array.isArray(body.Resources)) return body.Resources.filter(isScimObject);
  return typeof body.id === 'string' && Array.isArray(body.schemas) ? [body] : [];
}

/** The request of an answer. */
export interface ExpectationContext {
  /** The body of the request; undefined if it had none. */
  request: ScimObject | undefined;
  /** True if the request asks for exactly the resources that it names, so that no other one can be in the answer. */
  isExact: boolean;
}

const travelExtension = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';
const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/**
 * Returns the matchers for what an IdP reads in an answer: no times, versions, locations or texts for people. Ids of resources that
 * the scenario creates are variables in the body.
 */
export function expectedBody(status: number, body: ScimObject, context: ExpectationContext): ScimObject {
  if (status >= 400) return expectedError(body);
  if (Array.isArray(body.Resources)) return expectedList(body, context);
  return resourcesOf(body).length > 0 ? expectedResource('', body, context.request) : {};
}

function expectedError({ status, scimType }: ScimObject): ScimObject {
  return {
    schemas: { $contains: errorUrn },
    ...(typeof status === 'string' ? { status } : {}),
    ...(typeof scimType === 'string' ? { scimType } : {}),
  };
}

function expectedList(body: ScimObject, context: ExpectationContext): ScimObject {
  const resources = resourcesOf(body);
  const matchers = { schemas: { $contains: listUrn } };
  if (!context.isExact || !resources.every(({ id }) => isVariable(id))) return matchers;
  const each = resources.map((resource) =>
    expectedResource(`Resources[?(id=="${resource.id}")]`, resource, context.request),
  );
  return Object.assign({ ...matchers, totalResults: body.totalResults }, ...each);
}

/** Attributes that the service makes. */
const made = new Set(['schemas', 'meta', '$ref']);

/** Matches every attribute of a user or group, in their order. */
function expectedResource(at: string, resource: ScimObject, request: ScimObject | undefined): ScimObject {
  const matchers: ScimObject = {};
  for (const [name, value] of Object.entries(resource)) {
    if (made.has(name)) continue;
    const path = pathOf(at, name);
    if (name === 'id') matchers[path] = isVariable(value) ? value : { $type: 'string' };
    else if (name === 'members' || name === 'groups')
      Object.assign(matchers, expectedReferences(path, value));
    else if (name === travelExtension) Object.assign(matchers, expectedTravelData(path, value, request));
    else Object.assign(matchers, expectedValue(path, value));
  }
  return matchers;
}

/** Matches the members or groups that the scenario creates; their number, if those are all. */
function expectedReferences(path: string, value: unknown): ScimObject {
  const references = Array.isArray(value) ? value.filter(isScimObject) : [];
  const known = references.map((reference) => reference.value).filter(isVariable);
  const matchers = known.map((variable) => [`${path}[?(value=="${variable}")].value`, variable]);
  return {
    ...(known.length === references.length ? { [path]: { $len: known.length } } : {}),
    ...Object.fromEntries(matchers),
  };
}

/** The travel extension is of the travel service, except for what the request itself writes to it. */
function expectedTravelData(path: string, value: unknown, request: ScimObject | undefined): ScimObject {
  const written = request?.[travelExtension];
  if (!isScimObject(written) || !isScimObject(value)) return {};
  const echoed = Object.entries(value).filter(([name, one]) => isDeepStrictEqual(written[name], one));
  return Object.assign({}, ...echoed.map(([name, one]) => expectedValue(pathOf(path, name), one)));
}

/** Matches a value as a whole; its members one by one if the service made some of them. */
function expectedValue(path: string, value: unknown): ScimObject {
  if (!hasMadePart(value)) return { [path]: value };
  const parts: [string, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item])
    : Object.entries(Object(value))
        .filter(([name]) => !made.has(name))
        .map(([name, part]) => [pathOf(path, name), part]);
  const matchers = parts.map(([at, part]) => expectedValue(at, part));
  return Object.assign(Array.isArray(value) ? { [path]: { $len: value.length } } : {}, ...matchers);
}

function isVariable(value: unknown): boolean {
  return typeof value === 'string' && /^\{\{\w+\}\}$/.test(value);
}

function hasMadePart(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, part]) => made.has(name) || hasMadePart(part));
}

function pathOf(at: string, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `${at}[${JSON.stringify(name)}]`;
  return at === '' ? name : `${at}.${name}`;
}
