import { readFileSync } from 'node:fs';
import countries from 'i18n-iso-countries';
import type { Country } from 'world-countries';
import { readCountry } from '../../src/translator/values/countries.ts';

test('a text longer than the name of any country is no country, and is not normalized', () => {
  const normalize = jest.spyOn(String.prototype, 'normalize');
  // Normalizing so many combining marks takes seconds.
  expect(readCountry(`France${'\u0301'.repeat(4_000)}${'\u0316'.repeat(4_000)}`)).toMatchObject({
    fault: { code: 'countryUnknown' },
  });
  for (const text of normalize.mock.contexts) expect(String(text).length).toBeLessThanOrEqual(200);
  normalize.mockRestore();
});

/** A name of a country, and its code. */
type NamedCountry = [name: string, code: string];

const languages = ['en', 'fr'] as const;

/** The names in i18n-iso-countries. */
const isoNames: NamedCountry[] = languages.flatMap((language) =>
  Object.entries(countries.getNames(language, { select: 'all' })).flatMap(([code, names]) =>
    [names].flat().map((name): NamedCountry => [name, code]),
  ),
);

/** The names in Unicode CLDR, such as "Congo - Kinshasa". */
const cldrNames: NamedCountry[] = languages.flatMap((language) =>
  (['long', 'short'] as const).flatMap((style) => {
    const names = new Intl.DisplayNames([language], { type: 'region', style });
    return Object.keys(countries.getAlpha2Codes()).map((code): NamedCountry => [names.of(code) ?? '', code]);
  }),
);

const worldCountries: Country[] = JSON.parse(
  readFileSync(require.resolve('world-countries/countries.json'), 'utf8'),
);

/** The official and common names in world-countries. */
const officialNames: NamedCountry[] = worldCountries.flatMap(({ cca2, name, translations: { fra } }) =>
  [name.official, name.common, fra?.official, fra?.common].map((one): NamedCountry => [one ?? '', cca2]),
);

/** Names that belong to several countries, or that the table has in another language. */
const notUnique = [
  'Congo',
  // Of the Dutch part; the French part has the same name.
  'Saint-Martin',
  // Of the British Virgin Islands; those of the United States have the same name.
  'Virgin Islands',
  'îles Vierges',
  // Former names.
  'Grande République arabe libyenne populaire et socialiste',
];

const names = new Map(
  [...isoNames, ...cldrNames, ...officialNames].filter(([name]) => name !== '' && !notUnique.includes(name)),
);

/** Returns the names that are not read as their country when they are changed. */
function misread(change: (name: string) => string | undefined): NamedCountry[] {
  return [...names].filter(([name, code]) => {
    const changed = change(name);
    return changed !== undefined && !isReadAs(changed, code);
  });
}

function isReadAs(name: string, code: string): boolean {
  const reading = readCountry(name);
  return 'value' in reading && reading.value === code;
}

const plain = (name: string) => name.normalize('NFD').replace(/\p{M}/gu, '');

test('there are names of every country', () => {
  expect(new Set(names.values()).size).toBe(250);
  expect(names.size).toBeGreaterThan(900);
});

test.each<[string, (name: string) => string | undefined]>([
  ['as they are', (name) => name],
  ['in capitals', (name) => name.toUpperCase()],
  ['in lower case', (name) => name.toLowerCase()],
  ['without accents', plain],
  ['in capitals without accents', (name) => plain(name).toUpperCase()],
  ['decomposed', (name) => name.normalize('NFD')],
  ['with other apostrophes', (name) => name.replaceAll("'", '’')],
  ['with the word and written as a sign', (name) => name.replaceAll(' and ', ' & ')],
  ['without hyphens', (name) => name.replaceAll('-', ' ')],
  ['with Saint abbreviated', (name) => name.replace(/\bSaint\b/, 'St.').replace(/\bSainte\b/, 'Ste')],
  ['with "the" in front', (name) => (/^the /i.test(name) ? name : `The ${name}`)],
  ['with "(the)" at the end', (name) => (/\(/.test(name) ? undefined : `${name} (the)`)],
  ['inverted at "of"', (name) => inverted(name, / of (?:the )?/)],
  ['inverted at "de"', (name) => inverted(name, / (?:de la |de l'|de |du |d')/)],
  ['inverted with brackets', (name) => inverted(name, / of (?:the )?/)?.replace(/, (.*)$/, ' ($1 of)')],
  ['with blanks and invisible characters', (name) => `\u200e ${name.replace(' ', '\u00a0')}\u200b\t`],
])('the names of the libraries are read %s', (_, change) => {
  expect(misread(change)).toEqual([]);
});

/** "Republic of Austria" becomes "Austria, Republic of". */
function inverted(name: string, at: RegExp): string | undefined {
  const found = at.exec(name);
  if (!found || /[,(]/.test(name)) return undefined;
  return `${name.slice(found.index + found[0].length)}, ${name.slice(0, found.index)}${found[0].trimEnd()}`;
}

test.each([
  ['Bahamas (the)', 'BS'],
  ['Bolivia (Plurinational State of)', 'BO'],
  ['Bolivie (État plurinational de)', 'BO'],
  ["Iran (République islamique d')", 'IR'],
  ["Korea (the Democratic People's Republic of)", 'KP'],
  ['Korea, Republic of', 'KR'],
  ['Congo (the Democratic Republic of the)', 'CD'],
  ['Congo, Republic of the', 'CG'],
  ['Congo', 'CG'],
  ['Niger (le)', 'NE'],
  ['Federal Republic of Nigeria', 'NG'],
  ['Virgin Islands (U.S.)', 'VI'],
  ['U.A.E.', 'AE'],
  ['Macedonia', 'MK'],
  ['Republic of Ireland', 'IE'],
  ['Pays de Galles', 'GB'],
  ['TÜRKİYE', 'TR'],
])('%s is %s', (name, code) => {
  expect(readCountry(name)).toEqual({ value: code });
});

test.each([
  'Virgin Islands',
  'Korea',
  'Republic',
  'State of Mind',
  'Northern Territory',
  'Soviet Union',
  'Europe',
  'XX',
  'n/a',
])('%s is no country', (name) => {
  expect(readCountry(name)).toMatchObject({ fault: { code: 'countryUnknown' } });
});
