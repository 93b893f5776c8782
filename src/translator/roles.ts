import { isObject } from '../schema/own.ts';
import { type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { findingOf } from './decide.ts';
import type { Mapping } from './mapping.ts';
import { joined, type Part } from './part.ts';
import { type Fault, unusable } from './reading.ts';
import { travelRoles } from './travel-roles.ts';
import { elementsOf, textOf, valueAt } from './values.ts';

/** Roles that rule over the travel service: an IdP gives them only where the mapping lists them. */
const privileged: string[] = ['admin', 'authAdmin'];

/** The roles of the travel extension, else the core ones, as far as the mapping allows them; each is a field of its own. */
export function decideRoles(user: ScimResource, mapping: Mapping): Part {
  const { rule, elements } = rolesOf(user);
  if (elements.length > 0) return joined(elements.map((element) => decideRole(element, rule, mapping)));
  const entry = { field: 'roles', origin: 'default', rule, outcome: 'absent', reason: 'no value' } as const;
  return { fields: {}, findings: [], trace: [entry], missed: false };
}

interface NamedRole {
  raw: Json;
  /** What it may be called: its value, then what it is displayed as. */
  names: string[];
}

function rolesOf(user: ScimResource): { rule: string; elements: NamedRole[] } {
  const extension = valueAt(user, urns.travel);
  const own = isObject(extension) ? elementsOf(extension, 'roles').flatMap(namedRoles) : [];
  if (own.length > 0) return { rule: `${urns.travel}:roles.value`, elements: own };
  return { rule: 'roles.value', elements: elementsOf(user, 'roles').flatMap(namedRoles) };
}

/** One role, or several: some clients write a comma-separated list, Entra ID a JSON object inside the text. */
function namedRoles({ value, display }: JsonObject): NamedRole[] {
  const text = textOf(value) ?? textOf(display);
  if (text === undefined) return [];
  const shown = textOf(display);
  const inner = text.startsWith('{') ? parsed(text) : null;
  if (isObject(inner)) {
    const names = [inner.value, inner.displayName, inner.display, shown].map(textOf);
    return [{ raw: text, names: names.filter((name) => name !== undefined) }];
  }
  const parts = text.split(',').map((part) => part.trim());
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return [{ raw: only, names: shown ? [only, shown] : [only] }];
  return parts.filter((part) => part !== '').map((part) => ({ raw: part, names: [part] }));
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function decideRole({ raw, names }: NamedRole, rule: string, mapping: Mapping): Part {
  const role = names.map((name) => travelRole(name, mapping)).find((found) => found !== undefined);
  const fault = faultOf(role, mapping);
  const entry = { field: role ? `roles.${role}` : 'roles', origin: 'default', rule, before: raw } as const;
  if (role === undefined || fault) {
    const told = fault ?? unknownRole;
    const trace: Part['trace'] = [{ ...entry, outcome: 'skipped', reason: told.reason }];
    return { fields: {}, findings: [findingOf(entry.field, raw, told)], trace, missed: false };
  }
  const trace: Part['trace'] = [{ ...entry, outcome: 'set', after: role }];
  return {
    fields: { [entry.field]: { kind: 'value', value: true, source: raw } },
    findings: [],
    trace,
    missed: false,
  };
}

function travelRole(name: string, { roles }: Mapping): string | undefined {
  const wanted = name.toLowerCase();
  const mapped = Object.entries(roles?.map ?? {}).find(([from]) => from.toLowerCase() === wanted);
  return mapped?.[1] ?? travelRoles.find((role) => role.toLowerCase() === wanted);
}

const unknownRole: Fault = unusable(
  'roleUnknown',
  'The travel service has no such role.',
  'Give a role of the travel service, or translate this one in roles.map of the mapping.',
).fault;

function faultOf(role: string | undefined, { roles }: Mapping): Fault | undefined {
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
