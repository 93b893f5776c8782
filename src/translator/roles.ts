import { foldCase } from '../schema/case-fold.ts';
import { isObject, type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { mergeParts, type TranslationPart, toFinding } from './decide.ts';
import type { Mapping } from './mapping-file.ts';
import { travelRoles } from './translation.ts';
import { elementsOf, type Fault, isUnassigned, toText, unusable, valueAt } from './values.ts';

/** Roles of administrators. An IdP can give them only if `roles.allow` of the mapping lists them. */
const privileged: string[] = ['admin', 'authAdmin'];

/**
 * Decides the roles: those of the travel extension, or the core attribute `roles` if there are none. Each role that the
 * mapping allows is a field.
 */
export function decideRoles(user: ScimResource, mapping: Mapping): TranslationPart {
  const { rule, elements } = findRoles(user, mapping);
  if (elements.length > 0) return mergeParts(elements.map((element) => decideRole(element, rule, mapping)));
  const entry = { field: 'roles', origin: 'default', rule, outcome: 'absent', reason: 'no value' } as const;
  return { fields: {}, findings: [], trace: [entry], needsFreshLookups: false };
}

/**
 * Returns the SCIM name that is translated to a role of a traveler: the role itself, or a key of `roles.map`. Undefined
 * if there is none, because the mapping translates the role's own name to another role.
 */
export function toScimRole(role: string, mapping: Mapping): string | undefined {
  const translations = (name: string): (string | undefined)[] => {
    const parts = namedRoles({ value: name }, mapping);
    return parts.map(({ names }) => names.map((each) => toTravelRole(each, mapping)).find(isKnown));
  };
  const names = [role, ...Object.keys(mapping.roles?.map ?? {})];
  const name = names.find((each) => translations(each).every((found) => found === role));
  return name ?? (translations(role).some(isKnown) ? undefined : role);
}

function isKnown(role: string | undefined): role is string {
  return role !== undefined;
}

interface NamedRole {
  raw: Json;
  /** The texts by which the role is looked up: its value, then its display name. */
  names: string[];
}

function findRoles(user: ScimResource, mapping: Mapping): { rule: string; elements: NamedRole[] } {
  const rolesIn = (container: ScimResource) =>
    elementsOf(container, 'roles').flatMap((element) => namedRoles(element, mapping));
  const extension = valueAt(user, urns.travel);
  const extensionRoles = isObject(extension) ? rolesIn(extension) : [];
  if (extensionRoles.length > 0) return { rule: `${urns.travel}:roles.value`, elements: extensionRoles };
  return { rule: 'roles.value', elements: rolesIn(user) };
}

/**
 * Returns the roles in one element of `roles`. Some clients send a comma-separated list, and Entra ID sends a JSON
 * object as text.
 */
function namedRoles({ value = null, display }: JsonObject, mapping: Mapping): NamedRole[] {
  const displayName = toText(display);
  const text = toText(value) ?? (isUnassigned(value) ? displayName : undefined);
  const inner = text?.startsWith('{') ? parseJson(text) : value;
  if (isObject(inner))
    return [{ raw: value, names: texts(inner.value, inner.displayName, inner.display, displayName) }];
  if (text === undefined) return isUnassigned(value) ? [] : [{ raw: value, names: texts(displayName) }];
  const whole = { raw: text, names: texts(text, displayName) };
  if (!text.includes(',') || whole.names.some((name) => toTravelRole(name, mapping))) return [whole];
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

function decideRole({ raw, names }: NamedRole, rule: string, mapping: Mapping): TranslationPart {
  const role = names.map((name) => toTravelRole(name, mapping)).find(isKnown);
  const fault = roleFault(role, mapping);
  const entry = { field: role ? `roles.${role}` : 'roles', origin: 'default', rule, before: raw } as const;
  if (role === undefined || fault) {
    const reported = fault ?? unknownRole;
    const trace: TranslationPart['trace'] = [{ ...entry, outcome: 'skipped', reason: reported.reason }];
    return { fields: {}, findings: [toFinding(entry.field, raw, reported)], trace, needsFreshLookups: false };
  }
  const trace: TranslationPart['trace'] = [{ ...entry, outcome: 'set', after: role }];
  return {
    fields: { [entry.field]: { kind: 'value', value: true, source: raw } },
    findings: [],
    trace,
    needsFreshLookups: false,
  };
}

function toTravelRole(name: string, { roles }: Mapping): string | undefined {
  const wanted = foldCase(name);
  const mapped = Object.entries(roles?.map ?? {}).find(([from]) => foldCase(from) === wanted);
  return mapped?.[1] ?? travelRoles.find((role) => foldCase(role) === wanted);
}

const unknownRole: Fault = unusable(
  'roleUnknown',
  'The travel service has no such role.',
  'Give a role of the travel service, or translate this one in roles.map of the mapping.',
).fault;

function roleFault(role: string | undefined, { roles }: Mapping): Fault | undefined {
  if (role === undefined) return unknownRole;
  const isAllowed = roles?.allow
    ? roles.allow.some((allowed) => allowed === role)
    : !privileged.includes(role);
  if (isAllowed) return undefined;
  return unusable(
    'roleNotAllowed',
    `The mapping does not let the identity provider give the role ${role}.`,
    `List ${role} in roles.allow of the mapping, if this is meant.`,
  ).fault;
}
