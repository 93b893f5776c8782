import { foldCase } from '../schema/case-fold.ts';
import { isObject, type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { mergeParts, type TranslationPart, toFinding } from './decide.ts';
import type { Mapping } from './mapping-file.ts';
import { travelRoles } from './translation.ts';
import { elementsOf, type Fault, isUnassigned, toText, unusable, valueAt } from './values.ts';

/** Roles that rule over the travel service: an IdP gives them only where the mapping lists them. */
const privileged: string[] = ['admin', 'authAdmin'];

/** The roles of the travel extension, else the core ones, as far as the mapping allows them; each is a field of its own. */
export function decideRoles(user: ScimResource, mapping: Mapping): TranslationPart {
  const { rule, elements } = rolesOf(user, mapping);
  if (elements.length > 0) return mergeParts(elements.map((element) => decideRole(element, rule, mapping)));
  const entry = { field: 'roles', origin: 'default', rule, outcome: 'absent', reason: 'no value' } as const;
  return { fields: {}, findings: [], trace: [entry], needsFreshLookups: false };
}

/** What a role of a traveler is called in SCIM, such that it leads back to it: `roles.map` may call it otherwise. */
export function toScimRole(role: string, mapping: Mapping): string | undefined {
  const leadsTo = (name: string): (string | undefined)[] => {
    const parts = namedRoles({ value: name }, mapping);
    return parts.map(({ names }) => names.map((each) => travelRole(each, mapping)).find(isGiven));
  };
  const names = [role, ...Object.keys(mapping.roles?.map ?? {})];
  const name = names.find((each) => leadsTo(each).every((found) => found === role));
  return name ?? (leadsTo(role).some(isGiven) ? undefined : role);
}

function isGiven(role: string | undefined): role is string {
  return role !== undefined;
}

interface NamedRole {
  raw: Json;
  /** What it may be called: its value, then what it is displayed as. */
  names: string[];
}

function rolesOf(user: ScimResource, mapping: Mapping): { rule: string; elements: NamedRole[] } {
  const namesIn = (of: ScimResource) =>
    elementsOf(of, 'roles').flatMap((element) => namedRoles(element, mapping));
  const extension = valueAt(user, urns.travel);
  const own = isObject(extension) ? namesIn(extension) : [];
  if (own.length > 0) return { rule: `${urns.travel}:roles.value`, elements: own };
  return { rule: 'roles.value', elements: namesIn(user) };
}

/** One role, or several: some clients write a comma-separated list, Entra ID a JSON object inside the text. */
function namedRoles({ value = null, display }: JsonObject, mapping: Mapping): NamedRole[] {
  const shown = toText(display);
  const text = toText(value) ?? (isUnassigned(value) ? shown : undefined);
  const inner = text?.startsWith('{') ? parsed(text) : value;
  if (isObject(inner))
    return [{ raw: value, names: texts(inner.value, inner.displayName, inner.display, shown) }];
  if (text === undefined) return isUnassigned(value) ? [] : [{ raw: value, names: texts(shown) }];
  const whole = { raw: text, names: texts(text, shown) };
  if (!text.includes(',') || whole.names.some((name) => travelRole(name, mapping))) return [whole];
  return text.split(',').flatMap((part) => texts(part).map((name) => ({ raw: name, names: [name] })));
}

function texts(...values: (Json | undefined)[]): string[] {
  return values.map(toText).filter((text) => text !== undefined);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function decideRole({ raw, names }: NamedRole, rule: string, mapping: Mapping): TranslationPart {
  const role = names.map((name) => travelRole(name, mapping)).find(isGiven);
  const fault = faultOf(role, mapping);
  const entry = { field: role ? `roles.${role}` : 'roles', origin: 'default', rule, before: raw } as const;
  if (role === undefined || fault) {
    const told = fault ?? unknownRole;
    const trace: TranslationPart['trace'] = [{ ...entry, outcome: 'skipped', reason: told.reason }];
    return { fields: {}, findings: [toFinding(entry.field, raw, told)], trace, needsFreshLookups: false };
  }
  const trace: TranslationPart['trace'] = [{ ...entry, outcome: 'set', after: role }];
  return {
    fields: { [entry.field]: { kind: 'value', value: true, source: raw } },
    findings: [],
    trace,
    needsFreshLookups: false,
  };
}

function travelRole(name: string, { roles }: Mapping): string | undefined {
  const wanted = foldCase(name);
  const mapped = Object.entries(roles?.map ?? {}).find(([from]) => foldCase(from) === wanted);
  return mapped?.[1] ?? travelRoles.find((role) => foldCase(role) === wanted);
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
