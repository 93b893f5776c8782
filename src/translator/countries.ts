import countries from 'i18n-iso-countries';
import type { Json } from '../schema/resource.ts';
import { type Reading, toText, unusable } from './values.ts';

/** Common English and French names that the library does not list, as `foldName` returns them. */
const everydayNames = new Map(
  Object.entries({
    'bosnie herzegovine': 'BA',
    britain: 'GB',
    brunei: 'BN',
    'caribbean netherlands': 'BQ',
    'congo brazzaville': 'CG',
    'congo kinshasa': 'CD',
    'cote d ivoire': 'CI',
    czechia: 'CZ',
    tchequie: 'CZ',
    salvador: 'SV',
    angleterre: 'GB',
    england: 'GB',
    ecosse: 'GB',
    scotland: 'GB',
    wales: 'GB',
    'northern ireland': 'GB',
    'grande bretagne': 'GB',
    uk: 'GB',
    'u k': 'GB',
    'etats unis': 'US',
    usa: 'US',
    'u s a': 'US',
    'u s': 'US',
    eswatini: 'SZ',
    'falkland islands': 'FK',
    'hong kong': 'HK',
    'hong kong sar': 'HK',
    'ivory coast': 'CI',
    kirghizstan: 'KG',
    'la reunion': 'RE',
    laos: 'LA',
    macao: 'MO',
    macau: 'MO',
    'macao sar': 'MO',
    micronesia: 'FM',
    moldavie: 'MD',
    moldova: 'MD',
    birmanie: 'MM',
    burma: 'MM',
    'palestinian territories': 'PS',
    'territoires palestiniens': 'PS',
    'republic of ireland': 'IE',
    'saint martin': 'MF',
    'sint maarten': 'SX',
    syria: 'SY',
    tanzanie: 'TZ',
    tanzania: 'TZ',
    'the netherlands': 'NL',
    holland: 'NL',
    hollande: 'NL',
    'timor oriental': 'TL',
    turkiye: 'TR',
    'u s virgin islands': 'VI',
    'british virgin islands': 'VG',
    vatican: 'VA',
    'vatican city': 'VA',
    'viet nam': 'VN',
    'iles aland': 'AX',
  }),
);

/**
 * Reads a country to ISO 3166-1 alpha-2: from its two- or three-letter code in any case, or its English or French name. UK
 * means the United Kingdom, though its ISO code is GB.
 */
export function readCountry(raw: Json): Reading {
  const code = countryCode(toText(raw) ?? '');
  if (code) return { value: code };
  return unusable(
    'countryUnknown',
    'This is neither an ISO 3166-1 country code nor an English or French name of a country.',
    'Correct the country in the identity provider, e.g. FR.',
  );
}

/**
 * Longer text, in characters, is not a country. Without the limit, normalizing a text of combining marks takes
 * quadratic time.
 */
const MAX_LENGTH = 200;

function countryCode(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const code = text.toUpperCase();
  if (code.length === 2 && countries.isValid(code)) return code;
  const fromThree = code.length === 3 ? countries.alpha3ToAlpha2(code) : undefined;
  return fromThree ?? countryNames().get(foldName(text));
}

let allNames: Map<string, string> | undefined;

/**
 * Maps all names, as `foldName` returns them, to codes. Built at first use, because searching the library's list for
 * each address is too slow.
 */
function countryNames(): Map<string, string> {
  // In a Map, a later entry replaces an earlier one. So common names take precedence, then English names, then French
  // ones.
  allNames ??= new Map([...namesIn('fr').reverse(), ...namesIn('en').reverse(), ...everydayNames]);
  return allNames;
}

function namesIn(language: string): [string, string][] {
  return Object.entries(countries.getNames(language, { select: 'all' })).flatMap(([code, names]) =>
    [names].flat().map((name): [string, string] => [foldName(name), code]),
  );
}

/** Removes case, accents and punctuation; `&` and `St.` are written out. */
function foldName(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('&', ' and ');
  return plain
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()
    .replace(/\bst(e?)\b/, 'saint$1');
}
