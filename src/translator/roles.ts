import { foldCase } from '../schema/case-fold.ts';
import { isObject, type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { type TranslationDraft, toFinding } from './decide.ts';
import type { Mapping } from './mapping-file.ts';
import { travelRoles } from './translation.ts';
import { elementsOf, type Fault, isUnassigned, toText, unusable, valueAt } from './values.ts';

/** Roles of administrators. An IdP can give them only if `roles.allow` of the mapping lists them. */
const privileged: string[] = ['admin', 'authAdmin'];

/** The SCIM paths from which roles are read, the preferred one first. */
export const roleSources: readonly string[] = [`${urns.travel}:roles.value`, 'roles.value'];

/**
 * Decides the roles: those of the travel extension, or the core attribute `roles` if there are none. Each role that the
 * mapping allows is a field.
 */
export function translateRoles(draft: TranslationDraft, user: ScimResource, mapping: Mapping): void {
  const table = roleTable(mapping);
  const extension = valueAt(user, urns.travel);
  const preferred = isObject(extension) ? rolesIn(extension, table) : [];
  const source = preferred.length > 0 ? 0 : 1;
  const named = source === 0 ? preferred : rolesIn(user, table);
  for (const role of named) translateRole(draft, role, { source, table });
  if (named.length === 0)
    draft.trace.push({
      ...{ field: 'roles', origin: 'default', rule: roleSources[source] ?? '' },
      ...{ outcome: 'absent', reason: 'no value' },
    });
}

/**
 * Returns the SCIM name that is translated to a role of a traveler: the role itself, or a key of `roles.map`. Undefined
 * if there is none, because the mapping translates the role's own name to another role.
 */
export function toScimRole(role: string, mapping: Mapping): string | undefined {
  const table = roleTable(mapping);
  const translations = (name: string): (string | undefined)[] => {
    const parts = namedRoles({ value: name }, table);
    return parts.map(({ names }) => toKnownRole(names, table));
  };
  const names = [role, ...Object.keys(mapping.roles?.map ?? {})];
  const name = names.find((each) => translations(each).every((found) => found === role));
  return name ?? (translations(role).some(isKnown) ? undefined : role);
}

/** The roles that a mapping gives. */
interface RoleTable {
  /** The roles by the folded names that the mapping and the travel service have for them. */
  byName: ReadonlyMap<string, string>;
  /** The roles that an IdP may give. */
  allowed: ReadonlySet<string>;
}

function roleTable({ roles }: Mapping): RoleTable {
  const mapped = Object.entries(roles?.map ?? {}).map(
    ([from, role]) => [foldCase(toText(from) ?? from), role] as const,
  );
  const own = travelRoles.map((role) => [foldCase(role), role] as const);
  const allowed = roles?.allow ?? travelRoles.filter((role) => !privileged.includes(role));
  // In a Map, a later entry replaces an earlier one, and the first entry of the mapping counts.
  return { byName: new Map([...own, ...mapped.toReversed()]), allowed: new Set(allowed) };
}

function toKnownRole(names: readonly string[], { byName }: RoleTable): string | undefined {
  return names.map((name) => byName.get(foldCase(name))).find(isKnown);
}

function isKnown(role: string | undefined): role is string {
  return role !== undefined;
}

interface NamedRole {
  raw: Json;
  /** The texts by which the role is looked up: its value, then its display name. */
  names: string[];
}

function rolesIn(container: ScimResource, table: RoleTable): NamedRole[] {
  return elementsOf(container, 'roles').flatMap((element) => namedRoles(element, table));
}

/**
 * Returns the roles in one element of `roles`. Some clients send a comma-separated list, and Entra ID sends a JSON
 * object as text.
 */
function namedRoles({ value = null, display }: JsonObject, table: RoleTable): NamedRole[] {
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

function translateRole(
  { fields, findings, trace }: TranslationDraft,
  { raw, names }: NamedRole,
  { source, table }: { source: number; table: RoleTable },
): void {
  const role = toKnownRole(names, table);
  const fault = roleFault(role, table);
  const field = role === undefined ? 'roles' : `roles.${role}`;
  const rule = roleSources[source] ?? '';
  if (role === undefined || fault) {
    const reported = fault ?? unknownRole;
    findings.push(toFinding(field, raw, reported));
    trace.push({ field, origin: 'default', rule, outcome: 'skipped', before: raw, reason: reported.reason });
    return;
  }
  fields[field] = { kind: 'value', value: true, source: raw };
  trace.push({ field, origin: 'default', rule, outcome: 'set', before: raw, after: role });
}

const unknownRole: Fault = unusable(
  'roleUnknown',
  'The travel service has no such role.',
  'Give a role of the travel service, or translate this one in roles.map of the mapping.',
).fault;

function roleFault(role: string | undefined, { allowed }: RoleTable): Fault | undefined {
  if (role === undefined) return unknownRole;
  if (allowed.has(role)) return undefined;
  return unusable(
    'roleNotAllowed',
    `The mapping does not let the identity provider give the role ${role}.`,
    `List ${role} in roles.allow of the mapping, if this is meant.`,
  ).fault;
}
