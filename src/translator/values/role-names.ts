import { type AssignableRole, travelRoles } from '../../model/translation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { isObject, type Json, type JsonObject, type ScimResource } from '../../schema/resource.ts';
import { elementsOf, type Fault, isUnassigned, toText, unusable } from './values.ts';

/** Roles of administrators. An IdP can give them only if `roles.allow` of the mapping lists them. */
const privileged: string[] = ['admin', 'authAdmin'];

/** The settings of a mapping for roles. */
export interface RoleSettings {
  roles?: { allow?: string[] | undefined; map?: Record<string, string> | undefined } | undefined;
}

/** The roles that a mapping gives. */
export interface RoleTable {
  /** The roles by the folded names that the mapping and the travel service have for them. */
  byName: ReadonlyMap<string, string>;
  /** The roles that an IdP may give. */
  allowed: ReadonlySet<string>;
}

/** Makes the table of the roles that a mapping gives. */
export function roleTable({ roles }: RoleSettings): RoleTable {
  const mapped = Object.entries(roles?.map ?? {}).map(
    ([from, role]) => [foldCase(toText(from) ?? from), role] as const,
  );
  const own = travelRoles.map((role) => [foldCase(role), role] as const);
  const allowed = roles?.allow ?? travelRoles.filter((role) => !privileged.includes(role));
  // In a Map, a later entry replaces an earlier one, and the first entry of the mapping counts.
  return { byName: new Map([...own, ...mapped.toReversed()]), allowed: new Set(allowed) };
}

/** Returns the role with the first of these names that is known. */
export function toKnownRole(names: readonly string[], { byName }: RoleTable): string | undefined {
  return names.map((name) => byName.get(foldCase(name))).find(isKnown);
}

function isKnown(role: string | undefined): role is string {
  return role !== undefined;
}

/** A role as a user or a rule names it. */
export interface NamedRole {
  raw: Json;
  /** The texts by which the role is looked up: its value, then its display name. */
  names: string[];
}

/**
 * Returns the SCIM name that is translated to a role of a traveler: the role itself, or a key of `roles.map`. Undefined
 * if there is none, because the mapping translates the role's own name to another role.
 */
export function toScimRole(role: string, mapping: RoleSettings): string | undefined {
  const table = roleTable(mapping);
  const translations = (name: string): (string | undefined)[] => {
    const parts = namedRoles({ value: name }, table);
    return parts.map(({ names }) => toKnownRole(names, table));
  };
  const names = [role, ...Object.keys(mapping.roles?.map ?? {})];
  const name = names.find((each) => translations(each).every((found) => found === role));
  return name ?? (translations(role).some(isKnown) ? undefined : role);
}

/** Returns the roles that an IdP may give, in the order of their names. */
export function assignableRoles(mapping: RoleSettings): AssignableRole[] {
  const { allowed } = roleTable(mapping);
  const roles = travelRoles
    .filter((role) => allowed.has(role))
    .map((role) => ({ role, name: toScimRole(role, mapping) }));
  return roles.flatMap(({ role, name }) => (name === undefined ? [] : [{ role, name }])).sort(byName);
}

/** By code units, as the positions of cursors compare. */
function byName(one: AssignableRole, other: AssignableRole): number {
  return one.name < other.name ? -1 : 1;
}

/** Returns the roles in the attribute `roles` of a user or extension. */
export function rolesIn(container: ScimResource, table: RoleTable): NamedRole[] {
  return elementsOf(container, 'roles').flatMap((element) => namedRoles(element, table));
}

/**
 * Returns the roles in one element of `roles`. Some clients send a comma-separated list, and Entra ID sends a JSON
 * object as text.
 */
export function namedRoles({ value = null, display }: JsonObject, table: RoleTable): NamedRole[] {
  const displayName = toText(display);
  const text = toText(value) ?? (isUnassigned(value) ? displayName : undefined);
  const inner = text?.startsWith('{') ? parseJson(text) : value;
  if (isObject(inner))
    return [{ raw: value, names: texts(inner.value, inner.displayName, inner.display, displayName) }];
  if (text === undefined) return isUnassigned(value) ? [] : [{ raw: value, names: texts(displayName) }];
  const whole = { raw: text, names: texts(text, displayName) };
  if (!text.includes(',') || toKnownRole(whole.names, table) !== undefined) return [whole];
  return text.split(',').flatMap((part) => texts(part).map((name) => ({ raw: name, names: [name] })));
}

function texts(...values: (Json | undefined)[]): string[] {
  return values.map(toText).filter((text) => text !== undefined);
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the known roles that a value names, and the reason for which one of them cannot be given. */
export function readRoles(value: Json, table: RoleTable): { roles: string[]; fault: Fault | undefined } {
  const known = namedRoles({ value }, table).map(({ names }) => toKnownRole(names, table));
  const fault = known.map((role) => roleFault(role, table)).find((one) => one !== undefined);
  return { roles: known.filter(isKnown), fault };
}

/** The fault of a name that is no role. */
export const unknownRole: Fault = unusable(
  'roleUnknown',
  'The travel service has no such role.',
  'Give a role of the travel service, or translate this one in roles.map of the mapping.',
).fault;

/** Returns the fault for which a role cannot be given. */
export function roleFault(role: string | undefined, { allowed }: RoleTable): Fault | undefined {
  if (role === undefined) return unknownRole;
  if (allowed.has(role)) return undefined;
  return unusable(
    'roleNotAllowed',
    `The mapping does not let the identity provider give the role ${role}.`,
    `List ${role} in roles.allow of the mapping, if this is meant.`,
  ).fault;
}
