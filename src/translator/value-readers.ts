import {
  type CountryCode,
  getCountries,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js';
import type { Json } from '../schema/resource.ts';
import { type Reader, type Reading, textOf, unusable } from './values.ts';

/** Lenient on purpose: the travel API has the last word on addresses. */
const address = /^[^\s@<>()",:;\\[\]]+@[^\s@.,<>()":;\\[\]]+(?:\.[^\s@.,<>()":;\\[\]]+)+$/u;

/** An email address, with its case kept. */
export function readEmail(raw: Json): Reading {
  const text = textOf(raw);
  if (text !== undefined && text.length <= 254 && address.test(text)) return { value: text };
  return unusable(
    'emailInvalid',
    'This is not an email address.',
    'Correct the email address in the identity provider, e.g. ada@example.com.',
  );
}

/** Any simple value as text. */
export function readText(raw: Json): Reading {
  const text = textOf(raw);
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
  const gender = textOf(raw)?.toLowerCase();
  if (gender === 'female' || gender === 'male') return { value: gender };
  return unusable(
    'genderUnknown',
    'This is no gender that the travel service knows: female or male.',
    'Correct the gender in the identity provider, or leave it empty there.',
  );
}

/** The three letters of an ISO 4217 currency, in any case. */
export function readCurrency(raw: Json): Reading {
  const currency = textOf(raw)?.toUpperCase();
  if (currency !== undefined && /^[A-Z]{3}$/.test(currency)) return { value: currency };
  return unusable(
    'currencyUnknown',
    'This is not the code of a currency (ISO 4217).',
    'Correct the currency in the identity provider, e.g. EUR.',
  );
}

/** True or false, also as text in any case. */
export function readBoolean(raw: Json): Reading {
  const text = textOf(raw)?.toLowerCase();
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
  const [primary = ''] = (textOf(raw) ?? '').toLowerCase().split(/[-_,;\s]/);
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
  const date = isoDate(textOf(raw) ?? '');
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
  const text = textOf(raw);
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
