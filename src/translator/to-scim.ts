import { isObject, type Json, type JsonObject, ownKey, type ScimResource, urns } from '../schema/resource.ts';
import { resolveAttribute, userType } from '../schema/resource-types.ts';
import { findField } from './custom-fields.ts';
import { defaultRules } from './default-rules.ts';
import { plainFields } from './fields.ts';
import { readers } from './readers.ts';
import { roleName } from './roles.ts';
import { findManagerReferences, type Rule, type Rules, ruleFor } from './rules.ts';
import { toTravel } from './to-travel.ts';
import type { Lookups, Named } from './translation.ts';
import { hasValue, readField, type TravelUser } from './traveler.ts';
import { toText } from './values.ts';

/**
 * The SCIM user that a traveler who was there before any IdP is shown as. Translated again it wants nothing else of that
 * traveler: whoever is found here by an IdP stays as they are until it writes something.
 */
export function toScim(rules: Rules, traveler: TravelUser, { lookups }: { lookups: Lookups }): ScimResource {
  const user = withoutGaps({
    userName: traveler.email,
    name: { givenName: traveler.firstName, familyName: traveler.lastName },
    displayName:
      [traveler.firstName, traveler.lastName].filter((part) => part !== undefined).join(' ') || undefined,
    active: !traveler.archived,
    preferredLanguage: traveler.lang,
    emails: [{ value: traveler.email, type: 'work', primary: true }],
    // Of the types that count, the one that a number from the IdP replaces or outranks.
    phoneNumbers: traveler.phoneNumber && [{ value: traveler.phoneNumber, type: 'work', primary: true }],
    addresses: addressesOf(traveler),
    [urns.travel]: extensionOf(traveler, rules, lookups),
  });
  return mappedBack(rules, user, { traveler, lookups });
}

type Sparse = Json | undefined | Sparse[] | { [name: string]: Sparse };

function addressesOf({ address = {} }: TravelUser): Sparse {
  const { streetAddress, city, region, postalCode, countryCode } = address;
  const parts = { streetAddress, locality: city, region, postalCode, country: countryCode };
  const isEmpty = Object.values(parts).every((part) => part === undefined);
  return isEmpty ? undefined : [{ ...parts, type: 'work', primary: true }];
}

function extensionOf(traveler: TravelUser, { mapping }: Rules, lookups: Lookups): Sparse {
  return {
    billingProfile: named(traveler.billingProfileId, lookups.billingProfiles),
    costCenter: named(traveler.costCenterId, lookups.costCenters),
    travelPolicy: named(traveler.travelPolicyId, lookups.travelPolicies),
    manager: { id: traveler.managerId },
    dateOfBirth: traveler.dateOfBirth,
    gender: traveler.gender,
    currency: traveler.currency,
    separateIcsEmails: traveler.separateIcsEmails,
    roles: traveler.roles?.map((role) => ({ value: roleName(role, mapping) })),
  };
}

function named(id: string | undefined, things: Named[]): Sparse {
  return { id, name: things.find((thing) => thing.id === id)?.name };
}

/** Without what has no value, as unassigned attributes are not there (RFC 7643 §2.5). */
function withoutGaps(object: { [name: string]: Sparse }): JsonObject {
  const filled: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const kept = withoutGap(value);
    if (kept !== undefined) filled[name] = kept;
  }
  return filled;
}

function withoutGap(value: Sparse): Json | undefined {
  if (value === '' || value === null || typeof value !== 'object') return value === '' ? undefined : value;
  if (!Array.isArray(value)) {
    const object = withoutGaps(value);
    return Object.keys(object).length > 0 ? object : undefined;
  }
  const elements = value.map(withoutGap).filter((element) => element !== undefined);
  return elements.length > 0 ? elements : undefined;
}

interface Origin {
  traveler: TravelUser;
  lookups: Lookups;
}

/** A place that a value can be written to: one attribute, or one part of one. */
interface Spot {
  urn: string | undefined;
  name: string;
  sub: string | undefined;
}

/**
 * A user with the attributes that mapping rules read, such that the rules make of them what the traveler has. Where no
 * value does that, the attribute is left out: a rule with lossy transforms, or two rules, default ones too, that would
 * need two values.
 */
export function mappedBack(rules: Rules, user: ScimResource, origin: Origin): ScimResource {
  const texts = new Map<string, { spot: Spot; texts: Set<string | undefined> }>();
  for (const rule of effective(rules, origin.lookups)) {
    const spot = spotOf(rule);
    if (!spot) continue;
    const mark = JSON.stringify([spot.urn, spot.name, spot.sub]);
    const entry = texts.get(mark) ?? { spot, texts: new Set() };
    texts.set(mark, { spot, texts: entry.texts.add(textFor(rule, origin)) });
  }
  const sources = defaultSources(rules);
  return [...texts.values()].reduce((written, { spot, texts: [only, ...others] }) => {
    const mapped = write(written, spot, others.length === 0 ? only : undefined);
    if (!isReadIn(sources, spot)) return mapped;
    const without = write(written, spot, undefined);
    // Of which names are made where there are none.
    const nameless = write(without, wholeName, undefined);
    return quietest([mapped, without, nameless, written], rules, origin);
  }, user);
}

const wholeName: Spot = { urn: undefined, name: 'displayName', sub: undefined };

/** The paths that default rules read. */
function defaultSources({ mapping }: Rules): string[] {
  return plainFields.flatMap((field) => defaultRules[field]({}, mapping).map(({ rule }) => rule));
}

function isReadIn(sources: string[], { urn, name, sub }: Spot): boolean {
  const path = [urn === undefined ? name : `${urn}:${name}`, sub]
    .filter((part) => part !== undefined)
    .join('.');
  return sources.some(
    (source) => source === path || source.startsWith(`${path}.`) || source.startsWith(`${path},`),
  );
}

/** What a mapping rule and a default rule both read must serve both: the first user that wants least of the traveler. */
function quietest(users: ScimResource[], rules: Rules, origin: Origin): ScimResource {
  const counted = users.map((user) => ({ user, wishes: wishesOf(user, rules, origin) }));
  const least = Math.min(...counted.map(({ wishes }) => wishes));
  return counted.find(({ wishes }) => wishes === least)?.user ?? {};
}

/** How many fields of the traveler a user would change. */
function wishesOf(user: ScimResource, rules: Rules, { traveler, lookups }: Origin): number {
  const references = new Map(findManagerReferences(rules, user).map((raw) => [raw, { travelId: raw }]));
  const { fields } = toTravel(rules, user, { lookups, references });
  const wishes = Object.entries(fields).filter(
    ([key, wanted]) => wanted.kind === 'value' && !hasValue(traveler, { key, wanted: wanted.value, rules }),
  );
  return wishes.length;
}

/** The rules that set something: of several for one target the first. */
function effective(rules: Rules, { customFields }: Lookups): Rule[] {
  const taken = new Set<string>();
  return rules.rules.filter((rule) => {
    if (rule.target.kind === 'field') return ruleFor(rules, rule.target.field) === rule;
    const field = findField(rule.target, customFields);
    if ('code' in field || taken.has(field.id)) return false;
    taken.add(field.id);
    return true;
  });
}

/** Where a rule's attribute is, when it has one simple value. `userName` and `active` say what they must. */
function spotOf({ path }: Rule): Spot | undefined {
  const { urn, name, attribute } = resolveAttribute(userType, path);
  const isFixed = urn === undefined && (name === 'userName' || name === 'active');
  if (name === undefined || path.filter || attribute?.multiValued || isFixed) return undefined;
  if (attribute?.type === 'complex' && path.sub === undefined) return undefined;
  const sub = attribute?.subAttributes?.find((one) => one.name.toLowerCase() === path.sub?.toLowerCase());
  return { urn, name, sub: sub?.name ?? path.sub };
}

/** The text that the rule turns into what the traveler has; undefined when there is none. */
function textFor(rule: Rule, origin: Origin): string | undefined {
  return spellings(rule, origin).find((text) => {
    const prepared = rule.transform ? rule.transform(text) : { value: text };
    return 'value' in prepared && makes(rule, prepared.value, origin) && toText(prepared.value) === text;
  });
}

function spellings({ target }: Rule, { traveler, lookups }: Origin): string[] {
  if (target.kind === 'customField') {
    const field = findField(target, lookups.customFields);
    const held =
      'code' in field
        ? undefined
        : traveler.customFields?.find(({ customFieldId }) => customFieldId === field.id);
    const [only, ...others] = held?.values ?? [];
    return only?.data === undefined || others.length > 0 ? [] : [only.data];
  }
  const value = toText(readField(traveler, target.field));
  if (value === undefined) return [];
  const name = thingsOf(target.field, lookups).find(({ id }) => id === value)?.name;
  return name === undefined ? [value] : [name, value];
}

function thingsOf(field: string, { costCenters, billingProfiles, travelPolicies }: Lookups): Named[] {
  if (field === 'costCenterId') return costCenters;
  if (field === 'billingProfileId') return billingProfiles;
  return field === 'travelPolicyId' ? travelPolicies : [];
}

/** A name must lead back to the very same thing. */
function makes({ target }: Rule, text: Json, { traveler, lookups }: Origin): boolean {
  if (target.kind === 'customField' || thingsOf(target.field, lookups).length === 0) return true;
  const context = { lookups, references: new Map(), applied: {}, phoneCountries: [] };
  const reading = readers[target.field](text, context);
  return 'value' in reading && reading.value === readField(traveler, target.field);
}

function write(user: ScimResource, { urn, name, sub }: Spot, text: string | undefined): ScimResource {
  if (urn !== undefined) {
    const key = ownKey(user, urn) ?? urn;
    const inner = user[key];
    return assigned(user, key, write(isObject(inner) ? inner : {}, { urn: undefined, name, sub }, text));
  }
  if (sub === undefined) return assigned(user, name, text);
  const inner = user[name];
  return assigned(user, name, assigned(isObject(inner) ? inner : {}, sub, text));
}

/** A copy with one attribute set; with nothing to set, or an empty object, the attribute is left out. */
function assigned(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...others } = object;
  const isEmpty = value === undefined || (isObject(value) && Object.keys(value).length === 0);
  return isEmpty ? others : { ...others, [name]: value };
}
