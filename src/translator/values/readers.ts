import {
  type CountryCode,
  getCountries,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js';
import type { Lookups, NamedResource, Reference } from '../../model/translation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { lineBreaks, toLine } from '../../schema/clean-text.ts';
import { isObject, type Json } from '../../schema/resource.ts';
import { isoDate } from './dates.ts';
import {
  type Fault,
  isEqualJson,
  notInLookups,
  type Reader,
  type Reading,
  toText,
  toVerbatimText,
  unresolved,
  unusable,
} from './values.ts';

/** This pattern accepts more than RFC 5321 allows, because the travel API validates addresses itself. */
const emailAddress = /^[^\s@<>()",:;\\[\]]+@[^\s@.,<>()":;\\[\]]+(?:\.[^\s@.,<>()":;\\[\]]+)+$/u;

/**
 * The userName that Entra ID gives a deleted user: the object id without hyphens, in front of the former name. It is the
 * address of nobody.
 */
const tombstoneName = /^[\da-f]{32}[^@]/i;

/** The userName that Entra ID gives a guest: the former address with `_` in place of `@`, in front of `#EXT#`. No mail reaches it. */
const guestName = /#EXT#@/i;

/** Reads an email address; its case is kept. */
export function readEmail(raw: Json): Reading {
  const text = toText(raw);
  if (text !== undefined && tombstoneName.test(text)) {
    return unusable(
      'emailOfDeletedUser',
      'This is the name that Entra ID gives a deleted user: 32 hexadecimal digits in front of the former name.',
      'Nothing needs to be done if the person has left; otherwise restore the user in Entra ID.',
    );
  }
  if (text !== undefined && guestName.test(text)) {
    return unusable(
      'emailOfGuest',
      'This is the name that Entra ID gives a guest, to which no mail can be sent.',
      'Map the address of the guest (mail or otherMails) to emails in Entra ID.',
    );
  }
  if (text !== undefined && text.length <= 254 && emailAddress.test(text)) return { value: text };
  return unusable(
    'emailInvalid',
    'This is not an email address.',
    'Correct the email address in the identity provider, e.g. ada@example.com.',
  );
}

/** Reads a string, number or boolean as text. */
export function readText(raw: Json): Reading {
  const text = toText(raw);
  return text === undefined ? unusableText() : { value: text };
}

/** Reads a string, number or boolean as one line of text. */
export function readLine(raw: Json): Reading {
  const text = toText(raw);
  return text === undefined ? unusableText() : { value: toLine(text) };
}

function unusableText(): Reading {
  return unusable(
    'textUnusable',
    'The value is not a text, number or boolean, or it is longer than 10,000 characters.',
    'Map a simple attribute, or shorten the value in the identity provider.',
  );
}

/** Reads a street address; its lines are joined by commas. */
export function readStreet(raw: Json): Reading {
  const text = toText(raw);
  if (text === undefined) return unusableText();
  const lines = text.split(lineBreaks).map((line) => toLine(line).trim());
  return { value: lines.filter((line) => line !== '').join(', ') };
}

/** Reads `female` or `male` in any case. */
export function readGender(raw: Json): Reading {
  const gender = toText(raw)?.toLowerCase();
  if (gender === 'female' || gender === 'male') return { value: gender };
  return unusable(
    'genderUnknown',
    'This is no gender that the travel service knows: female or male.',
    'Correct the gender in the identity provider, or leave it empty there.',
  );
}

/** Reads an ISO 4217 currency code in any case. */
export function readCurrency(raw: Json): Reading {
  const currency = toText(raw)?.toUpperCase();
  if (currency !== undefined && /^[A-Z]{3}$/.test(currency)) return { value: currency };
  return unusable(
    'currencyUnknown',
    'This is not the code of a currency (ISO 4217).',
    'Correct the currency in the identity provider, e.g. EUR.',
  );
}

/** Reads a boolean, or `true` or `false` as text in any case. */
export function readBoolean(raw: Json): Reading {
  const text = toText(raw)?.toLowerCase();
  if (text === 'true' || text === 'false') return { value: text === 'true' };
  return unusable(
    'booleanUnreadable',
    'This is neither true nor false.',
    'Correct the value in the identity provider to true or false.',
  );
}

/** The languages of the travel service by the ISO 639 codes and names that IdPs send. */
const languages = new Map([
  ...['fr', 'fra', 'fre', 'french', 'français', 'francais'].map((name) => [name, 'fr'] as const),
  ...['en', 'eng', 'english', 'anglais'].map((name) => [name, 'en'] as const),
]);

/** Reads a language tag (`fr-CA`, `en_US`) or the first one of an Accept-Language list. */
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

/** Reads a date `YYYY-MM-DD`. If a time or a time zone follows, it is ignored. */
function readDate(raw: Json): Reading {
  const date = isoDate(toText(raw) ?? '');
  if (date) return { value: date };
  return unusable(
    'dateUnreadable',
    'This is not a date of the form YYYY-MM-DD.',
    'Correct the date in the identity provider, e.g. 1990-02-28, or give the rule a date transform.',
  );
}

/** Nobody who travels was born earlier: such dates stand for an unknown one. */
const EARLIEST_BIRTH = '1900-01-01';

/** Reads a date of birth. It is not later than the last write of the user. */
export const readDateOfBirth: Reader = (raw, { statedOn }) => {
  const reading = readDate(raw);
  if (!('value' in reading)) return reading;
  const date = String(reading.value);
  if (date >= EARLIEST_BIRTH && (statedOn === undefined || date <= statedOn)) return reading;
  return unusable(
    'dateOfBirthImplausible',
    'Nobody has this date of birth: it is before 1900, or in the future.',
    'Correct the date in the identity provider, or remove it if it is not known.',
  );
};

const phoneRemedy = 'Correct the phone number in the identity provider, e.g. +33 612345678.';

/** Reads a phone number to the form of the travel API: `+CC`, one space, national digits. */
export const readPhone: Reader = (raw, { phoneCountries }) => readPhoneNumber(raw, phoneCountries);

/**
 * Reads a phone number. For an international number a possible length is sufficient. A national number must be valid in
 * one of `countries`, which are tried in order: interpreted in a wrong country, it would be the number of another
 * person.
 */
export function readPhoneNumber(raw: Json, countries: string[]): Reading {
  const text = toText(raw);
  if (text === undefined) return unusable('phoneUnreadable', 'This is not a phone number.', phoneRemedy);
  // A full-width plus sign, a `tel:` URI (RFC 3966), and 00, the international prefix of most countries.
  const dialed = toLine(text)
    .replaceAll('＋', '+')
    .replace(/^tel:/i, '')
    .replace(/^\(?00\)?\s*(?=[1-9(])/, '+');
  const number = dialed.includes('+') ? international(dialed) : national(dialed, countries);
  if (!number) return unreadablePhone(dialed, countries);
  if (number.ext) {
    return unusable(
      'phoneExtension',
      'The phone number has an extension, which the travel API cannot hold.',
      phoneRemedy,
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
    return unusable('phoneUnreadable', 'This is not a complete phone number.', phoneRemedy);
  }
  return unusable(
    'phoneWithoutCountry',
    'The phone number has no country code, and no default country is known.',
    `${phoneRemedy} Or set phone.defaultCountry in the mapping.`,
  );
}

/** The countries whose phone numbers can be read (ISO 3166-1 alpha-2). */
export const allPhoneCountries: string[] = getCountries();

/** True for the code of a country whose phone numbers can be read (ISO 3166-1 alpha-2, in capitals). */
export function isPhoneCountry(country: string): country is CountryCode {
  return isSupportedCountry(country);
}

/**
 * Reads a manager. Returns the travel user id to which provisioning has resolved the value, or why it could not be
 * resolved.
 */
export const readManager: Reader = (raw, { references }) => {
  const reference = references.get(toVerbatimText(raw) ?? '') ?? { unresolved: 'unknown' };
  if (!('travelId' in reference)) return managerFaults[reference.unresolved];
  return reference.isInactive ? inactiveManager : { value: reference.travelId };
};

const inactiveManager = unusable(
  'managerInactive',
  'The manager was deactivated in the identity provider, and is left out.',
  'Name the new manager in the identity provider; a manager who is active again is set by itself.',
);

const managerFaults = {
  unknown: unresolved(
    'managerUnknown',
    'No user of this connection matches this manager.',
    'Provision the manager too, or correct the value; the manager is set by itself once that user is there.',
  ),
  ambiguous: unresolved(
    'managerAmbiguous',
    'Several active users of this connection have this employee number.',
    'Correct the number of all but one of them in the identity provider; the manager is set by itself then.',
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
  replaced: unusable(
    'managerReplaced',
    'The manager has left, and another person has taken that place.',
    'Name the new manager in the identity provider by another value, or join the two users if they are one person (npx jetbridge people join).',
  ),
} satisfies Record<Extract<Reference, { unresolved: string }>['unresolved'], ReturnType<typeof unusable>>;

/** A kind of resource that a traveler's field refers to, e.g. cost centers. */
interface NamedResourceKind {
  /** The field of the traveler that contains the id. */
  field: string;
  noun: string;
  among: (lookups: Lookups) => NamedResource[];
}

/**
 * Makes a reader that finds a resource by id or name and returns its id. An exact name comes before one that differs in case or blanks. If the source value is the same as for
 * the applied id, that id stays as long as the resource exists: renaming a resource changes no traveler. If it is gone, the value is unresolved,
 * so that a list which is incomplete takes nothing away.
 */
export function namedResourceReader({ field, noun, among }: NamedResourceKind): Reader {
  return (raw, { lookups, applied }) => {
    const resources = among(lookups);
    const reading = findResource(raw, resources, noun);
    const before = applied[field];
    if (!before || !isEqualJson(before.source, raw)) return reading;
    if ('value' in reading && reading.value === before.sent) return reading;
    return resources.some(({ id }) => id === before.sent) ? { value: before.sent } : reading;
  };
}

function findResource(raw: Json, resources: NamedResource[], noun: string): Reading {
  const { id, name } = isObject(raw)
    ? { id: toText(raw.id), name: toText(raw.name) }
    : { id: undefined, name: toText(raw) };
  if (id === undefined)
    return name === undefined ? unreadableResource(noun) : findByIdOrName(name, resources, noun);
  const found = resources.find((resource) => resource.id === id);
  if (!found) return unknownResource(noun);
  if (name === undefined || isNamed(found, name)) return { value: id };
  return { value: id, note: contradiction(noun, found) };
}

/** Finds a resource by a text that may be its id. */
function findByIdOrName(text: string, resources: NamedResource[], noun: string): Reading {
  return resources.some(({ id }) => id === text) ? { value: text } : findByName(text, resources, noun);
}

function findByName(name: string, resources: NamedResource[], noun: string): Reading {
  const exact = resources.filter((resource) => toText(resource.name) === name);
  const found = exact.length > 0 ? exact : resources.filter((resource) => isNamed(resource, name));
  const active = found.filter(({ archived }) => !archived);
  const [only] = active;
  if (only && active.length === 1) return { value: only.id };
  if (active.length > 1) {
    const reason = `More than one ${noun} of the travel service has this name.`;
    return unresolved(
      `${toCamelCase(noun)}Ambiguous`,
      reason,
      `Rename all but one of them, or name the ${noun} by its id.`,
    );
  }
  if (found.length === 0) return unknownResource(noun);
  const reason = `The ${noun} of this name is archived.`;
  return unresolved(
    `${toCamelCase(noun)}Archived`,
    reason,
    `Restore the ${noun} in the travel service, or name another.`,
  );
}

/** A name is compared without invisible characters, case and repeated blanks. */
function isNamed(resource: NamedResource, name: string): boolean {
  return nameKey(toText(resource.name) ?? '') === nameKey(name);
}

function nameKey(name: string): string {
  return foldCase(name).replace(/\s+/g, ' ');
}

function unreadableResource(noun: string): Reading {
  return unusable(
    `${toCamelCase(noun)}Unreadable`,
    `This does not name a ${noun}.`,
    `Give the id or the name of a ${noun}.`,
  );
}

function unknownResource(noun: string): Reading {
  const reason = `The travel service has no such ${noun}.`;
  const remedy = `Create the ${noun} in the travel service, or correct the value in the identity provider.`;
  return notInLookups(`${toCamelCase(noun)}Unknown`, reason, remedy);
}

function contradiction(noun: string, { name }: NamedResource): Fault {
  return unusable(
    `${toCamelCase(noun)}Contradiction`,
    `The ${noun} of this id is called "${name}"; the id was followed, not the name.`,
    'Correct the id or the name in the identity provider.',
  ).fault;
}

/** Converts words to a JSON name, e.g. `cost center` to `costCenter`. */
function toCamelCase(noun: string): string {
  return noun.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
}
