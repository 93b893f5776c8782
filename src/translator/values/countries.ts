import { countryToAlpha2 } from 'country-to-iso';
import countries from 'i18n-iso-countries/index.js';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import french from 'i18n-iso-countries/langs/fr.json' with { type: 'json' };
import type { Json } from '../../schema/resource.ts';
import { type Reading, toText, unusable } from './values.ts';

/**
 * English and French names that no library here lists. Names with "Republic of", "Kingdom of" and the like need no entry
 * (`formsOfState`), and the order of words does not matter (`bagOfWords`).
 */
const otherNames: Record<string, readonly string[]> = {
  AE: ['Emirates', 'Emirats', 'EAU', 'U.A.E.', 'E.A.U.'],
  AX: ['Aaland', 'Iles Aland', 'Ahvenanmaa'],
  BA: ['Bosnie Herzegovine', 'Bosnia', 'Bosnie'],
  BD: ['Republique populaire du Bengladesh', 'Bengladesh'],
  BF: ['Burkina'],
  BN: ['Brunei', 'Nation of Brunei, Abode of Peace'],
  BQ: ['Caribbean Netherlands', 'Pays-Bas caribeens', 'BES islands', 'Bonaire'],
  BT: ['Bouthan'],
  CC: ['Iles Cocos (Keeling)'],
  CD: [
    'Congo-Kinshasa',
    'Congo (Rep. dem.)',
    'Rep. dem. du Congo',
    'RDC',
    'DRC',
    'D.R. Congo',
    'Congo (DRC)',
    'Congo (RDC)',
    'Zaire',
  ],
  CG: ['Congo-Brazzaville'],
  CH: ['Confederation suisse', 'Confederation helvetique'],
  CN: ['Republique populaire de Chine', 'RPC', 'PRC', "People's Rep. of China"],
  CV: ['Iles du Cap-Vert', 'Cabo Verde'],
  CZ: ['Czechia', 'Tchequie'],
  DM: ['Commonwealth de la Dominique', 'Commonwealth of Dominica'],
  DZ: ['Republique algerienne democratique et populaire'],
  EH: ['Republique arabe sahraouie democratique', 'Sahrawi Arab Democratic Republic'],
  FK: ['Falkland Islands', 'Iles Falkland', 'Iles Malouines (Falkland)'],
  FR: ['Republique francaise', 'France metropolitaine', 'Metropolitan France'],
  GA: ['Republique gabonaise'],
  GB: [
    'England',
    'Angleterre',
    'Scotland',
    'Ecosse',
    'Wales',
    'Pays de Galles',
    'Northern Ireland',
    'Irlande du Nord',
    'Britain',
    'Grande-Bretagne',
    'U.K.',
    'United Kingdom of Great Britain and Northern Ireland',
    "Royaume-Uni de Grande-Bretagne et d'Irlande du Nord",
  ],
  GR: ['Republique hellenique', 'Republique grecque'],
  HK: [
    'Hong Kong SAR',
    'Hong-Kong',
    'Region administrative speciale de Hong Kong de la Republique populaire de Chine',
    'Hong Kong Special Administrative Region of China',
    'Region speciale administrative chinoise de Hong-Kong',
  ],
  IT: ['Republique italienne'],
  KG: ['Republique kirghize', 'Kirghizstan'],
  KN: ['Saint Kitts', 'Saint Christopher and Nevis', 'Saint-Kitts-et-Nevis'],
  KP: [
    'Republique populaire democratique de Coree',
    'Republique democratique populaire de Coree',
    'Coree (Republique populaire democratique de)',
    'DPRK',
    'RPDC',
  ],
  KR: ['Republique de Coree'],
  LA: ['Laos', 'Republique democratique populaire lao', 'Lao, Republique democratique populaire', 'Lao'],
  LB: ['Republique libanaise'],
  LY: ['Jamahiriya arabe libyenne', 'Libyan Arab Jamahiriya'],
  MD: ['Moldova'],
  MF: ['Saint Martin'],
  MK: ['Macedonia', 'Macedoine', 'FYROM', 'ARYM', 'Ex-Republique yougoslave de Macedoine'],
  MM: ['Burma', 'Birmanie'],
  MO: [
    'Macau',
    'Macao SAR',
    'Region administrative speciale de Macao de la Republique populaire de Chine',
    'Macao Special Administrative Region of China',
    'Region speciale administrative chinoise de Macao',
  ],
  MU: ['Ile Maurice'],
  MX: ['Etats-Unis du Mexique', 'Etats-Unis mexicains'],
  NL: ['Holland', 'Hollande', 'Royaume des Pays-Bas'],
  NU: ['Nioue'],
  PN: ["Groupe d'iles Pitcairn", 'Pitcairn Group of Islands'],
  PS: [
    'Palestinian Territories',
    'Territoires palestiniens',
    'Territoire palestinien occupe',
    'Occupied Palestinian Territory',
  ],
  PT: ['Republique portugaise'],
  PW: ['Palau', 'Palaos (Palau)'],
  RE: ['Ile de la Reunion', 'Reunion Island'],
  RW: ['Republique rwandaise', 'Rwandese Republic'],
  SA: ['Saudi'],
  SH: ['Sainte-Helene, Ascension et Tristan da Cunha', 'Saint Helena, Ascension and Tristan da Cunha'],
  SK: ['Republique slovaque'],
  SM: ['Republique de San Marin', 'San Marin'],
  SR: ['Surinam'],
  SV: ['Salvador'],
  SX: ['Sint Maarten', 'Saint-Martin (partie neerlandaise)'],
  SY: ['Republique arabe syrienne', 'Syrienne, Republique arabe', 'Syria'],
  SZ: ['Swaziland', 'Swasiland'],
  TF: ['Terres australes et antarctiques francaises', 'TAAF', 'French Southern and Antarctic Lands'],
  TG: ['Republique togolaise'],
  TK: ['Iles Tokelau'],
  TL: ['Timor oriental', 'Timor', 'East Timor'],
  TN: ['Republique tunisienne', 'Tunisian Republic'],
  TR: ['Turkiye', 'Turkey'],
  TW: [
    'Taiwan, province de Chine',
    'Republique de Chine (Taiwan)',
    'Republic of China (Taiwan)',
    'Chinese Taipei',
  ],
  UM: ['U.S. Minor Outlying Islands'],
  US: ['Etats-Unis', 'U.S.A.', 'America', 'Amerique'],
  UY: ['Eastern Republic of Uruguay', 'Oriental Republic of Uruguay', "Republique orientale de l'Uruguay"],
  VA: [
    'Vatican',
    'Vatican City',
    'Cite du Vatican',
    'Saint-Siege (Etat de la Cite du Vatican)',
    'Saint-Siege',
  ],
  VG: ['Iles Vierges (britanniques)', 'B.V.I.'],
  VI: [
    'U.S. Virgin Islands',
    'United States Virgin Islands',
    'Virgin Islands of the United States',
    'Iles Vierges (E.U.)',
    "Iles Vierges des Etats-Unis d'Amerique",
    'Iles Vierges des Etats-Unis',
  ],
  VN: ['Viet Nam'],
  WF: ['Wallis and Futuna Islands', 'Iles Wallis et Futuna'],
};

/**
 * Reads a country to ISO 3166-1 alpha-2: from its two- or three-letter code in any case, or an English or French name. UK
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
  return fromThree ?? findByName(text);
}

/** Codes by folded names, and by bags of their words. */
interface CountryNames {
  byName: ReadonlyMap<string, string>;
  byWords: ReadonlyMap<string, string>;
}

let allNames: CountryNames | undefined;

/**
 * Finds a country by its name in any order of words: "Korea, Republic of" is the Republic of Korea. If the name is not
 * known, it is searched without its form of state: the Republic of Austria is Austria.
 */
function findByName(text: string): string | undefined {
  allNames ??= compileNames();
  const { byName, byWords } = allNames;
  const words = wordsOf(text);
  const known = byName.get(foldName(text)) ?? byWords.get(bagOfWords(words)) ?? countryToAlpha2(text);
  if (known) return known;
  const others = words.filter((word) => !formsOfState.has(word));
  if (others.length === words.length) return undefined;
  const withoutForm = byWords.get(bagOfWords(others));
  return withoutForm !== undefined && !divided.includes(withoutForm) ? withoutForm : undefined;
}

/** Compiled at first use, because it takes some milliseconds. */
function compileNames(): CountryNames {
  for (const language of [english, french]) countries.registerLocale(language);
  const own = Object.entries(otherNames).map(([code, names]) => [code, names] as const);
  // In a Map, a later entry replaces an earlier one. So our own names take precedence, then English names, then French
  // ones; of several names in the library, the first.
  const lists = [
    ...[namesOfCldr('fr'), namesOfCldr('en'), namesInLibrary('fr').reverse(), namesInLibrary('en').reverse()],
    own,
  ];
  const named = lists.flat().flatMap(([code, names]) => names.map((name) => [name, code] as const));
  return {
    byName: new Map(named.map(([name, code]) => [foldName(name), code])),
    byWords: new Map(named.map(([name, code]) => [bagOfWords(wordsOf(name)), code])),
  };
}

type NamesOfCountry = readonly [code: string, names: readonly string[]];

function namesInLibrary(language: string): NamesOfCountry[] {
  return Object.entries(countries.getNames(language, { select: 'all' })).map(([code, names]) => [
    code,
    [names].flat().toReversed(),
  ]);
}

/** The names of the Unicode CLDR that Node.js contains, such as "Congo - Kinshasa" and "Hong Kong SAR China". */
function namesOfCldr(language: string): NamesOfCountry[] {
  const codes = Object.keys(countries.getAlpha2Codes());
  const styles = (['short', 'long'] as const).map(
    (style) => new Intl.DisplayNames([language], { type: 'region', style, fallback: 'none' }),
  );
  return codes.map((code) => [
    code,
    styles.map((style) => style.of(code)).filter((name) => name !== undefined),
  ]);
}

/** Removes case, accents and punctuation; `&` and `St.` are written out. */
function foldName(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('&', ' and ');
  return plain
    .replaceAll('œ', 'oe')
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()
    .replace(/\bst(e?)\b/g, 'saint$1');
}

/** Words that the forms of a name have or do not have. */
const articles = new Set('the of and le la les l de du des d et'.split(' '));

function wordsOf(text: string): string[] {
  return foldName(text)
    .split(' ')
    .filter((word) => !articles.has(word));
}

function bagOfWords(words: readonly string[]): string {
  return words.toSorted().join(' ');
}

/** Words of official names that say what kind of state a country is. */
const formsOfState = new Set(
  [
    'republic republique kingdom royaume state states etat etats principality principaute commonwealth sultanate sultanat',
    'federation confederation union emirate emirat grand duchy duche nation country pays territory territoire',
    'collectivity collectivite federal federale federative federated federes democratic democratique people s',
    'populaire islamic islamique socialist socialiste cooperative independent independant sovereign arab arabe',
    'bolivarian bolivarienne plurinational hashemite hachemite most serene bailiwick bailliage department departement co operative',
  ].flatMap((words) => words.split(' ')),
);

/** Countries whose name belongs to two states or more, so that the form of state distinguishes them. */
const divided = ['CD', 'CG', 'CN', 'DM', 'DO', 'KP', 'KR', 'TW'];
