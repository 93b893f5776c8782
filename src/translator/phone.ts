import {
  type CountryCode,
  getCountries,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js';
import type { Reader, Reading } from './reading.ts';
import { unusable } from './reading.ts';
import { textOf } from './values.ts';

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
  if (!number) return unreadable(dialed, countries);
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

function unreadable(text: string, countries: string[]): Reading {
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
