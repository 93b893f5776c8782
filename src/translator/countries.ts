import countries from 'i18n-iso-countries';
import type { Json } from '../schema/resource.ts';
import { type Reading, unusable } from './reading.ts';
import { textOf } from './values.ts';

/** Everyday English and French names that the library does not list, as `folded` makes them. */
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
 * A country as ISO 3166-1 alpha-2: from its two- or three-letter code in any case, or its English or French name.
 * UK counts as the United Kingdom, though ISO has GB.
 */
export function readCountry(raw: Json): Reading {
  const code = countryCode(textOf(raw) ?? '');
  if (code) return { value: code };
  return unusable(
    'countryUnknown',
    'This is neither an ISO 3166-1 country code nor an English or French name of a country.',
    'Correct the country in the identity provider, e.g. FR.',
  );
}

function countryCode(text: string): string | undefined {
  const code = text.toUpperCase();
  if (code.length === 2 && countries.isValid(code)) return code;
  const fromThree = code.length === 3 ? countries.alpha3ToAlpha2(code) : undefined;
  if (fromThree) return fromThree;
  return everydayNames.get(folded(text)) ?? named(text.replaceAll('’', "'"));
}

function named(text: string): string | undefined {
  const spelledOut = text.replaceAll('&', 'and').replace(/\bst\b\.?/i, 'Saint');
  for (const name of new Set([text, spelledOut])) {
    for (const language of ['en', 'fr']) {
      const code = countries.getSimpleAlpha2Code(name, language);
      if (code) return code;
    }
  }
  return undefined;
}

/** Without case, accents or punctuation. */
function folded(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^\p{L}]+/gu, ' ').trim();
}
