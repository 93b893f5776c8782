import { type Lookups, rolesTarget } from '../model/translation.ts';
import type { TravelUser } from '../model/traveler.ts';
import { findAttribute } from '../schema/attributes.ts';
import { isObject, type Json, type JsonObject, ownKey, type ScimResource, urns } from '../schema/resource.ts';
import { resolveAttribute, userType } from '../schema/resource-types.ts';
import { type Field, findField, inSchemaOrder } from './fields/fields.ts';
import { hasValue, readField } from './plan/traveler.ts';
import { findManagerReferences } from './rules/compiled-fields.ts';
import { findCustomField } from './rules/custom-field-values.ts';
import type { Rule, Rules } from './rules/rules.ts';
import { toTravel } from './to-travel.ts';
import { toScimRole } from './values/role-names.ts';
import { toText } from './values/values.ts';

/**
 * Converts a traveler that no IdP has provisioned to a SCIM user. Translated back, this user equals the traveler: an
 * IdP that links to it changes nothing until it writes.
 */
export function toScim(rules: Rules, traveler: TravelUser, { lookups }: { lookups: Lookups }): ScimResource {
  const origin = { traveler, lookups, fields: rules.fields };
  return withMappedAttributes(rules, defaultUser(rules, origin), origin);
}

/** The traveler to convert, with the data that the conversion needs. */
interface Origin {
  traveler: TravelUser;
  lookups: Lookups;
  fields: readonly Field[];
}

/** Makes the SCIM user without mapping rules: each field is in the attribute that its row names. */
function defaultUser(rules: Rules, { traveler, lookups }: Origin): ScimResource {
  const names = [traveler.firstName, traveler.lastName].filter((part) => part !== undefined);
  const user: JsonObject = {
    userName: traveler.email,
    name: {},
    displayName: names.join(' '),
    active: !traveler.archived,
  };
  for (const { key, path, refersTo } of inSchemaOrder(rules.fields)) {
    const value = readField(traveler, key);
    if (value === undefined || path.length === 0) continue;
    writeAt(user, path, value);
    const name = refersTo && lookups[refersTo].find(({ id }) => id === value)?.name;
    if (name !== undefined) writeAt(user, [...path.slice(0, -1), 'name'], name);
  }
  const roles = (traveler.roles ?? []).flatMap((role) => toScimRole(role, rules.mapping) ?? []);
  if (roles.length > 0)
    writeAt(
      user,
      [urns.travel, 'roles'],
      roles.map((value) => ({ value })),
    );
  return toAttributes(user);
}

/** Sets a value, unless it is empty. Objects on the way to it are created. */
function writeAt(user: JsonObject, path: readonly string[], value: Json): void {
  if (value === '') return;
  let container = user;
  for (const parent of path.slice(0, -1)) {
    const inner = container[parent];
    const object = isObject(inner) ? inner : {};
    container[parent] = object;
    container = object;
  }
  container[path.at(-1) ?? ''] = value;
}

/** Makes a work element of each value of a multi-valued attribute. Unassigned attributes are left out (RFC 7643 §2.5). */
function toAttributes(user: JsonObject): JsonObject {
  const isAssigned = (value: Json) => value !== '' && !(isObject(value) && Object.keys(value).length === 0);
  const { attributes } = userType.schema;
  return Object.fromEntries(
    Object.entries(user).flatMap(([name, value]): [string, Json][] => {
      if (!isAssigned(value)) return [];
      const isElement = isObject(value) && findAttribute(attributes, name)?.multiValued === true;
      return [[name, isElement ? [{ ...value, type: 'work', primary: true }] : value]];
    }),
  );
}

/** An attribute or sub-attribute that a mapping rule reads. */
interface MappedAttribute {
  urn: string | undefined;
  name: string;
  sub: string | undefined;
}

/**
 * Sets the attributes that mapping rules read to values that the rules translate to the traveler's own values. If there
 * is no such value, the attribute is omitted: a transform loses information, or two rules need different values.
 */
function withMappedAttributes(rules: Rules, user: ScimResource, origin: Origin): ScimResource {
  const mapped = new Map<string, { attribute: MappedAttribute; texts: Set<string | undefined> }>();
  for (const rule of usedRules(rules, origin.lookups)) {
    const attribute = mappedAttribute(rule);
    if (!attribute) continue;
    const key = JSON.stringify([attribute.urn, attribute.name, attribute.sub]);
    const entry = mapped.get(key) ?? { attribute, texts: new Set() };
    mapped.set(key, { attribute, texts: entry.texts.add(findSourceText(rule, origin)) });
  }
  if (mapped.size === 0) return user;
  const defaultPaths = rules.fields.flatMap(({ sources }) => sources.map(({ rule }) => rule));
  return [...mapped.values()].reduce((written, { attribute, texts: [text, ...others] }) => {
    const withText = setAttribute(written, attribute, others.length === 0 ? text : undefined);
    if (!isReadByDefault(defaultPaths, attribute)) return withText;
    const without = setAttribute(written, attribute, undefined);
    // Also try without `name`: the default rules then take the names from the displayName.
    const withoutNames = setAttribute(without, displayName, undefined);
    return withFewestChanges([withText, without, withoutNames, written], rules, origin);
  }, user);
}

const displayName: MappedAttribute = { urn: undefined, name: 'displayName', sub: undefined };

function isReadByDefault(defaultPaths: string[], { urn, name, sub }: MappedAttribute): boolean {
  const path = [urn === undefined ? name : `${urn}:${name}`, sub]
    .filter((part) => part !== undefined)
    .join('.');
  return defaultPaths.some(
    (source) => source === path || source.startsWith(`${path}.`) || source.startsWith(`${path},`),
  );
}

/**
 * Returns the user whose translation would change the fewest fields of the traveler; of several, the first. A mapping
 * rule and a default rule may read the same attribute, so that no value suits both.
 */
function withFewestChanges(users: ScimResource[], rules: Rules, origin: Origin): ScimResource {
  const counted = users.map((user) => ({ user, changes: countChanges(user, rules, origin) }));
  const fewest = Math.min(...counted.map(({ changes }) => changes));
  return counted.find(({ changes }) => changes === fewest)?.user ?? {};
}

/** Returns the number of the traveler's fields that the translation of a user would change. */
function countChanges(user: ScimResource, rules: Rules, { traveler, lookups }: Origin): number {
  const references = new Map(findManagerReferences(rules, user).map((raw) => [raw, { travelId: raw }]));
  const { fields } = toTravel(rules, user, { lookups, references });
  const changes = Object.entries(fields).filter(
    ([key, wanted]) => wanted.kind === 'value' && !hasValue(traveler, { key, wanted: wanted.value, rules }),
  );
  return changes.length;
}

/**
 * Returns the rules that are in effect for users for whom no condition holds: of several with the same target, the first
 * without a condition. A condition cannot be inverted: no attribute of the traveler says whether it held.
 */
function usedRules(rules: Rules, { customFields }: Lookups): Rule[] {
  const seen = new Set<string>();
  return rules.rules.filter(({ target, condition }) => {
    const field = target.kind === 'customField' ? findCustomField(target, customFields) : undefined;
    if (condition || (field && 'code' in field)) return false;
    // The user has the roles of the traveler in an attribute of their own.
    if (target.kind === 'field' && target.field === rolesTarget) return false;
    const key = field ? `customFields.${field.id}` : target.kind === 'field' ? target.field : '';
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}

/**
 * Returns the attribute of a rule that reads a single simple value. Templates and several paths cannot be inverted.
 * `userName` and `active` are excluded, because they
 * are always derived from the traveler.
 */
function mappedAttribute({ input }: Rule): MappedAttribute | undefined {
  const [first, ...others] = input.kind === 'paths' ? input.paths : [];
  if (!first || others.length > 0) return undefined;
  const { path } = first;
  const { urn, name, attribute } = resolveAttribute(userType, path);
  const isFixed = urn === undefined && (name === 'userName' || name === 'active');
  if (name === undefined || path.filter || attribute?.multiValued || isFixed) return undefined;
  if (attribute?.type === 'complex' && path.sub === undefined) return undefined;
  return { urn, name, sub: findAttribute(attribute?.subAttributes, path.sub ?? '')?.name ?? path.sub };
}

/** Finds a text that the rule translates to the traveler's value; undefined if there is none. */
function findSourceText(rule: Rule, origin: Origin): string | undefined {
  return possibleTexts(rule, origin).find((text) => {
    const [transformed, ...others] = rule.transform ? rule.transform(text) : [{ value: text }];
    if (!transformed || !('value' in transformed) || others.length > 0) return false;
    if (toText(transformed.value) !== text) return false;
    return namesSameResource(rule, transformed.value, origin);
  });
}

function possibleTexts({ target }: Rule, { traveler, lookups, fields }: Origin): string[] {
  if (target.kind === 'customField') {
    const field = findCustomField(target, lookups.customFields);
    if ('code' in field) return [];
    const held = traveler.customFields?.find(({ customFieldId }) => customFieldId === field.id);
    const [only, ...others] = held?.values ?? [];
    return only?.data === undefined || others.length > 0 ? [] : [only.data];
  }
  const value = toText(readField(traveler, target.field));
  if (value === undefined) return [];
  const name = namedResources(findField(target.field, fields), lookups).find(({ id }) => id === value)?.name;
  return name === undefined ? [value] : [name, value];
}

function namedResources(field: Field | undefined, lookups: Lookups): Lookups['costCenters'] {
  return field?.refersTo === undefined ? [] : lookups[field.refersTo];
}

/**
 * Returns false if the text names another resource than the one that the traveler has, e.g. another cost center of the
 * same name.
 */
function namesSameResource({ target }: Rule, text: Json, { traveler, lookups, fields }: Origin): boolean {
  const field = target.kind === 'field' ? findField(target.field, fields) : undefined;
  if (!field || namedResources(field, lookups).length === 0) return true;
  const context = { lookups, references: new Map(), applied: {}, phoneCountries: [] };
  const reading = field.read(text, context);
  return 'value' in reading && reading.value === readField(traveler, field.key);
}

/** A copy of the user with one attribute set, or removed if `text` is undefined. */
function setAttribute(
  user: ScimResource,
  { urn, name, sub }: MappedAttribute,
  text: string | undefined,
): ScimResource {
  if (urn !== undefined) {
    const key = ownKey(user, urn) ?? urn;
    const inner = user[key];
    const extension = isObject(inner) ? inner : {};
    return setMember(user, key, setAttribute(extension, { urn: undefined, name, sub }, text));
  }
  if (sub === undefined) return setMember(user, name, text);
  const inner = user[name];
  return setMember(user, name, setMember(isObject(inner) ? inner : {}, sub, text));
}

/** A copy with one member set, or removed if the value is undefined or an empty object. */
function setMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...others } = object;
  const isEmpty = value === undefined || (isObject(value) && Object.keys(value).length === 0);
  return isEmpty ? others : { ...others, [name]: value };
}
