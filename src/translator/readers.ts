import {
  type CountryCode,
  getCountries,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js';
import { isObject, type Json } from '../schema/resource.ts';
import { readCountry } from './countries.ts';
import type { PlainField } from './fields.ts';
import type { AppliedField, Lookups, Named, Reference } from './translation.ts';
import {
  type Fault,
  isEqualJson,
  notInLookups,
  type Reader,
  type Reading,
  toText,
  unresolved,
  unusable,
} from './values.ts';

/** Lenient on purpose: the travel API has the last word on addresses. */
const address = /^[^\s@<>()",:;\\[\]]+@[^\s@.,<>()":;\\[\]]+(?:\.[^\s@.,<>()":;\\[\]]+)+$/u;

/** An email address, with its case kept. */
export function readEmail(raw: Json): Reading {
  const text = toText(raw);
  if (text !== undefined && text.length <= 254 && address.test(text)) return { value: text };
  return unusable(
    'emailInvalid',
    'This is not an email address.',
    'Correct the email address in the identity provider, e.g. ada@example.com.',
  );
}

/** Any simple value as text. */
export function readText(raw: Json): Reading {
  const text = toText(raw);
  if (text !== undefined) return { value: text };
  return unusable(
    'textUnusable',
    'The value is not a text, number or boolean, or it is longer than 10,000 characters.',
    'Map a simple attribute, or shorten the value in the identity provider.',
  );
}

/** The lines of a street address in one. */
export function readStreet(raw: Json): Reading {
  const reading = readText(raw);
  if (!('value' in reading) || typeof reading.value !== 'string') return reading;
  const lines = reading.value.split(/[\r\n]+/).map((line) => line.trim());
  return { value: lines.filter((line) => line !== '').join(', ') };
}

/** `female` or `male`, in any case. */
export function readGender(raw: Json): Reading {
  const gender = toText(raw)?.toLowerCase();
  if (gender === 'female' || gender === 'male') return { value: gender };
  return unusable(
    'genderUnknown',
    'This is no gender that the travel service knows: female or male.',
    'Correct the gender in the identity provider, or leave it empty there.',
  );
}

/** The three letters of an ISO 4217 currency, in any case. */
export function readCurrency(raw: Json): Reading {
  const currency = toText(raw)?.toUpperCase();
  if (currency !== undefined && /^[A-Z]{3}$/.test(currency)) return { value: currency };
  return unusable(
    'currencyUnknown',
    'This is not the code of a currency (ISO 4217).',
    'Correct the currency in the identity provider, e.g. EUR.',
  );
}

/** True or false, also as text in any case. */
export function readBoolean(raw: Json): Reading {
  const text = toText(raw)?.toLowerCase();
  if (text === 'true' || text === 'false') return { value: text === 'true' };
  return unusable(
    'booleanUnreadable',
    'This is neither true nor false.',
    'Correct the value in the identity provider to true or false.',
  );
}

/** The languages of the travel service by what IdPs call them: ISO 639 codes and plain names. */
const languages = new Map([
  ...['fr', 'fra', 'fre', 'french', 'français', 'francais'].map((name) => [name, 'fr'] as const),
  ...['en', 'eng', 'english', 'anglais'].map((name) => [name, 'en'] as const),
]);

/** A language tag (`fr-CA`, `en_US`) or a list of them as in Accept-Language, of which the first counts. */
export function readLanguage(raw: Json): Reading {
  const [primary = ''] = (toText(raw) ?? '').toLowerCase().split(/[-_,;\s]/);
  const language = languages.get(primary);
  if (language) return { value: language };
  return unusable(
    'languageUnsupported',
    'The travel service speaks English and French.',
    'Set the preferred language to en or fr in the identity provider, or language.default in the mapping.',
  );
}

/** A date of birth: `YYYY-MM-DD`, also where a time follows it. */
export function readDate(raw: Json): Reading {
  const date = isoDate(toText(raw) ?? '');
  if (date) return { value: date };
  return unusable(
    'dateUnreadable',
    'This is not a date of the form YYYY-MM-DD.',
    'Correct the date in the identity provider, e.g. 1990-02-28, or give the rule a date transform.',
  );
}

/** The date at the start of an ISO 8601 date or date-time, when it exists in the calendar. */
export function isoDate(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/.exec(text) ?? [];
  return calendarDate(year, month, day);
}

/** Reads a date written as `format` says, in which YYYY, MM and DD stand for the parts, e.g. `DD/MM/YYYY`. */
export function dateOf(text: string, format: string): string | undefined {
  if (text.length !== format.length) return undefined;
  const part = (name: string): string => text.slice(format.indexOf(name), format.indexOf(name) + name.length);
  const year = part('YYYY');
  const month = part('MM');
  const day = part('DD');
  const spelled = format.replace('YYYY', year).replace('MM', month).replace('DD', day);
  return spelled === text ? calendarDate(year, month, day) : undefined;
}

/** True when a format names year, month and day once each. */
export function isDateFormat(format: string): boolean {
  return ['YYYY', 'MM', 'DD'].every((part) => format.split(part).length === 2);
}

function calendarDate(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month}-${day}`;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse rolls 30 February over into March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : undefined;
}

const remedy = 'Correct the phone number in the identity provider, e.g. +33 612345678.';

/** A phone number as the travel API wants it: `+CC`, one space, national digits. */
export const readPhone: Reader = (raw, { phoneCountries }) => phoneNumber(raw, phoneCountries);

/**
 * Reads a phone number. International ones need only be possible; a national one must be valid in one of `countries`,
 * tried in order, as a guessed country would make it a stranger's number.
 */
export function phoneNumber(raw: Parameters<Reader>[0], countries: string[]): Reading {
  const text = toText(raw);
  if (text === undefined) return unusable('phoneUnreadable', 'This is not a phone number.', remedy);
  // RFC 3966 URIs, and 00, which dials abroad from most of the world.
  const dialed = text.replace(/^tel:/i, '').replace(/^\(?00\)?\s*(?=[1-9(])/, '+');
  const number = /[+＋]/.test(dialed) ? international(dialed) : national(dialed, countries);
  if (!number) return unreadablePhone(dialed, countries);
  if (number.ext) {
    return unusable(
      'phoneExtension',
      'The phone number has an extension, which the travel API cannot hold.',
      remedy,
    );
  }
  return { value: `+${number.countryCallingCode} ${number.nationalNumber}` };
}

function international(text: string): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(text, { extract: false });
  return number?.isPossible() ? number : undefined;
}

function national(text: string, countries: string[]): PhoneNumber | undefined {
  for (const country of countries.filter(isPhoneCountry)) {
    const number = parsePhoneNumberFromString(text, { defaultCountry: country, extract: false });
    if (number?.isValid()) return number;
  }
  return undefined;
}

function unreadablePhone(text: string, countries: string[]): Reading {
  if (countries.length > 0 || text.startsWith('+') || !/\d{5}/.test(text.replace(/\D/g, ''))) {
    return unusable('phoneUnreadable', 'This is not a complete phone number.', remedy);
  }
  return unusable(
    'phoneWithoutCountry',
    'The phone number has no country code, and no default country is known.',
    `${remedy} Or set phone.defaultCountry in the mapping.`,
  );
}

/** Every country whose numbering is known. */
export const allPhoneCountries: string[] = getCountries();

/** True for the ISO 3166-1 code, in capitals, of a country whose numbering is known. */
export function isPhoneCountry(country: string): country is CountryCode {
  return isSupportedCountry(country);
}

/** A manager as the bridge resolved it. */
export const readReference: Reader = (raw, { references }) => {
  const reference = references.get(toText(raw) ?? '') ?? { unresolved: 'unknown' };
  return 'travelId' in reference ? { value: reference.travelId } : failures[reference.unresolved];
};

const failures = {
  unknown: unresolved(
    'managerUnknown',
    'No user of this connection matches this manager.',
    'Provision the manager too, or correct the value; the manager is set by itself once that user is there.',
  ),
  notLinked: unresolved(
    'managerNotLinked',
    'The manager is known, but has no traveler yet.',
    'See the findings of the manager; the manager is set by itself once there is a traveler.',
  ),
  self: unusable(
    'managerSelf',
    'The user is named as their own manager.',
    'Name another manager in the identity provider.',
  ),
  circle: unusable(
    'managerCircle',
    'The chain of managers leads back to this user.',
    'Break the circle of managers in the identity provider.',
  ),
  gone: unusable('managerGone', 'The manager was deleted.', 'Name the new manager in the identity provider.'),
} satisfies Record<Extract<Reference, { unresolved: string }>['unresolved'], ReturnType<typeof unusable>>;

/** A kind of named thing that travelers refer to. */
interface Kind {
  field: 'costCenterId' | 'billingProfileId' | 'travelPolicyId';
  noun: string;
  among: (lookups: Lookups) => Named[];
}

/** A cost center, by id or exact name. */
export const readCostCenter = readerOf({
  field: 'costCenterId',
  noun: 'cost center',
  among: (all) => all.costCenters,
});

/** A billing profile, by id or exact name. */
export const readBillingProfile = readerOf({
  field: 'billingProfileId',
  noun: 'billing profile',
  among: (all) => all.billingProfiles,
});

/** A travel policy, by id or exact name. */
export const readTravelPolicy = readerOf({
  field: 'travelPolicyId',
  noun: 'travel policy',
  among: (all) => all.travelPolicies,
});

/**
 * Finds a named thing. What was found once sticks to its source value until it is gone: that its name is now another's,
 * or nobody's, moves no traveler.
 */
function readerOf({ field, noun, among }: Kind): Reader {
  return (raw, { lookups, applied }) => {
    const things = among(lookups);
    const reading = find(raw, things, noun);
    const before = applied[field];
    if (!before || !isEqualJson(before.source, raw)) return reading;
    if ('value' in reading && reading.value === before.sent) return reading;
    if (things.some(({ id }) => id === before.sent)) return { value: before.sent };
    return 'value' in reading ? reading : gone(reading.fault, before, noun);
  };
}

function find(raw: Json, things: Named[], noun: string): Reading {
  const { id, name } = isObject(raw)
    ? { id: toText(raw.id), name: toText(raw.name) }
    : { id: toText(raw), name: undefined };
  if (id === undefined) return name === undefined ? unreadableName(noun) : byName(name, things, noun);
  const found = things.find((thing) => thing.id === id);
  // A bare value may be an id or a name.
  if (!found) return isObject(raw) ? unknownThing(noun) : byName(id, things, noun);
  if (name === undefined || found.name === name) return { value: id };
  return { value: id, note: contradiction(noun, found) };
}

function byName(name: string, things: Named[], noun: string): Reading {
  const found = things.filter((thing) => thing.name === name);
  const active = found.filter(({ archived }) => !archived);
  const [only] = active;
  if (only && active.length === 1) return { value: only.id };
  if (active.length > 1) {
    const reason = `Several ${noun}s of the travel service have this name.`;
    return unresolved(
      `${code(noun)}Ambiguous`,
      reason,
      `Rename all but one of them, or name the ${noun} by its id.`,
    );
  }
  if (found.length === 0) return unknownThing(noun);
  const reason = `The ${noun} of this name is archived.`;
  return unresolved(
    `${code(noun)}Archived`,
    reason,
    `Restore the ${noun} in the travel service, or name another.`,
  );
}

function unreadableName(noun: string): Reading {
  return unusable(
    `${code(noun)}Unreadable`,
    `This does not name a ${noun}.`,
    `Give the id or the name of a ${noun}.`,
  );
}

function unknownThing(noun: string): Reading {
  const reason = `The travel service has no such ${noun}.`;
  const remedy = `Create the ${noun} in the travel service, or correct the value in the identity provider.`;
  return notInLookups(`${code(noun)}Unknown`, reason, remedy);
}

function contradiction(noun: string, { name }: Named): Fault {
  return unusable(
    `${code(noun)}Contradiction`,
    `The ${noun} of this id is called "${name}"; the id was followed, not the name.`,
    'Correct the id or the name in the identity provider.',
  ).fault;
}

function gone(fault: Fault, { sent }: AppliedField, noun: string): Reading {
  const reason = `The ${noun} ${String(sent)} that this value meant before is gone. ${fault.reason}`;
  return { fault: { ...fault, kind: 'unusable', reason } };
}

/** `cost center` → `costCenter`. */
function code(noun: string): string {
  return noun.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** How each field reads a SCIM value, whichever rule it comes from. */
export const readers = {
  email: readEmail,
  firstName: readText,
  lastName: readText,
  phoneNumber: readPhone,
  lang: readLanguage,
  'address.streetAddress': readStreet,
  'address.city': readText,
  'address.region': readText,
  'address.postalCode': readText,
  'address.countryCode': readCountry,
  managerId: readReference,
  costCenterId: readCostCenter,
  billingProfileId: readBillingProfile,
  travelPolicyId: readTravelPolicy,
  dateOfBirth: readDate,
  gender: readGender,
  currency: readCurrency,
  separateIcsEmails: readBoolean,
} satisfies Record<PlainField, Reader>;
