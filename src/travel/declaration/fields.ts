import isoCountries from 'i18n-iso-countries/index.js';
import { z } from 'zod';

const EMAIL =
  /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*(?:\.[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*)+$/u;
/** Maximum length of an email. RFC 5321 §4.5.3.1.3 limits a path to 256 characters, two of them brackets. */
const LONGEST_EMAIL = 254;
const CURRENCY = /^[A-Z]{3}$/;
const NOT_NEGATIVE = 'must not be below zero';

// JSON Schema cannot express the test functions, so each type states its rule for the OpenAPI document in `meta`.

/** A string of any content. */
export const text = z.string();

/** A non-blank string of at most 255 characters, for fields that lists are searched or sorted by. */
export const label = checked('required', 'must not be empty', (value) => value.trim() !== '')
  .refine((value) => value.length <= 255, fault('pattern', 'must be at most 255 characters long'))
  .meta({ pattern: '\\S', maxLength: 255 });

/** A boolean that defaults to false and is always present in responses. */
export const flag = z.boolean().default(false);

/** A language: `en` or `fr`. */
export const lang = checked(
  'lang',
  'must be one of en, fr',
  (value) => value === 'en' || value === 'fr',
).meta({ enum: ['en', 'fr'] });

/** A two-letter country code (ISO 3166-1 alpha-2). */
export const country = checked('country', 'must be a two-letter country code', isCountry).meta({
  pattern: '^[A-Z]{2}$',
  description: 'A two-letter country code (ISO 3166-1)',
  examples: ['FR'],
});

/** An email address; letters of any script are allowed (RFC 6531). */
export const email = checked(
  'email',
  'must be a valid email address',
  (value) => value.length <= LONGEST_EMAIL && EMAIL.test(value),
  // The format "email" would refuse letters of other scripts, and their classes need a flag that a document cannot state.
).meta({
  format: 'idn-email',
  maxLength: LONGEST_EMAIL,
  pattern: '^[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)+$',
  examples: ['ada@example.com'],
});

/** A phone number: "International number. A space between region code and number is mandatory" (specification). */
export const phoneNumber = matching(
  /^\+[1-9]\d{0,2} \d(?:[ -]?\d){2,14}$/,
  'must be an international number with a space after the region code, e.g. +33 612345678',
  {
    description: 'In international format, with a space after the country calling code',
    examples: ['+33 612345678'],
  },
);

/** An existing calendar date, YYYY-MM-DD. */
export const date = checked('pattern', 'must be a date of the shape YYYY-MM-DD', isDate).meta({
  format: 'date',
  examples: ['2026-11-20'],
});

/** A time: "ISO 8601 date-time in UTC, seconds precision" (specification). */
export const dateTime = matching(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  'must be a UTC date-time such as 2026-11-20T12:00:00Z',
  { format: 'date-time', examples: ['2026-11-20T12:00:00Z'] },
);

/** A date-time without zone, in the local time of the place. */
export const localeDateTime = matching(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
  'must be a date-time without zone such as 2026-11-20T12:00:00',
  { description: 'Local date-time without zone', examples: ['2026-11-20T12:00:00'] },
);

/** A string with the form of a currency code (ISO 4217). Membership in the list is not checked, because the list changes. */
export const currency = matching(CURRENCY, 'must be a currency code such as EUR', {
  description: 'A currency code (ISO 4217)',
  examples: ['EUR'],
});

/** A currency code of ISO 4217 that is in use. */
export const knownCurrency = checked('pattern', 'must be the code of a known currency such as EUR', (value) =>
  currencies.has(value),
).meta({ pattern: CURRENCY.source, description: 'A known currency (ISO 4217)', examples: ['EUR'] });

/** A non-negative integer. */
export const count = z.int().refine(isNotNegative, fault('range', NOT_NEGATIVE)).meta({ minimum: 0 });

/** A non-negative number. */
export const quantity = z.number().refine(isNotNegative, fault('range', NOT_NEGATIVE)).meta({ minimum: 0 });

/** A string out of a closed list. */
export function oneOf(values: readonly string[]) {
  return checked('enum', `must be one of ${values.join(', ')}`, (value) => values.includes(value)).meta({
    enum: [...values],
  });
}

/** Any JSON value without nulls, for parts that the specification leaves open. */
export const anything = z.unknown().refine((value) => !hasNull(value), fault('type', 'has the wrong type'));

function hasNull(value: unknown): boolean {
  if (typeof value !== 'object') return value === undefined;
  return value === null || Object.values(value).some(hasNull);
}

/** A string that must pass a test; otherwise the fault has the given code and message. */
export function checked(code: string, message: string, test: (value: string) => boolean) {
  return z.string().refine(test, fault(code, message));
}

/** A string that must match a pattern, which the OpenAPI document shows. */
function matching(pattern: RegExp, message: string, meta: Record<string, unknown>) {
  const isMatch = (value: string) => pattern.test(value);
  return checked('pattern', message, isMatch).meta({ ...meta, pattern: pattern.source });
}

function fault(code: string, error: string) {
  return { error, params: { code }, abort: true };
}

function isNotNegative(value: number): boolean {
  return value >= 0;
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  // `Date` reads 30 February as 1 March, so the result must equal the input.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/** The assigned two-letter codes of ISO 3166-1, and the provisional XK of Kosovo. */
const countries = isoCountries.getAlpha2Codes();

function isCountry(code: string): boolean {
  return Object.hasOwn(countries, code);
}

/**
 * The codes of the currencies in use (ISO 4217, list one, without metals and test codes). The list of the JavaScript
 * runtime is not used, because it differs between versions.
 */
export const currencies: ReadonlySet<string> = new Set([
  ...'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV'.split(' '),
  ...'BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK'.split(' '),
  ...'DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL'.split(' '),
  ...'HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT'.split(' '),
  ...'LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR'.split(' '),
  ...'MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF'.split(' '),
  ...'SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP'.split(' '),
  ...'TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG'.split(' '),
  ...'XOF XPF YER ZAR ZMW ZWG'.split(' '),
]);

/** An amount of money. "Responses may carry only `currency` and `total`." */
export const amount = z
  .strictObject({
    base: z.number().optional(),
    currency,
    tax: z.number().optional(),
    taxRate: z.number().optional(),
    total: z.number(),
  })
  .meta({ id: 'Amount' });

/** An amount of money as stored and returned. */
export type Amount = z.infer<typeof amount>;

/** A geographic place. `type` is an open list; `airport`, `address` and `hotel` occur. */
export const place = z
  .strictObject({
    airport: z.strictObject({ iataCode: text }).optional(),
    country: z.strictObject({ code: country, name: text.optional() }).optional(),
    geoloc: z.strictObject({ lat: z.number(), lng: z.number() }).optional(),
    name: text,
    type: text,
  })
  .meta({ id: 'Place' });

/** A geographic place as stored and returned. */
export type Place = z.infer<typeof place>;
