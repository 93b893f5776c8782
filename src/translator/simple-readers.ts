import type { Json } from '../schema/resource.ts';
import { type Reading, unusable } from './reading.ts';
import { textOf } from './values.ts';

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
