/**
 * The letters that machine-readable travel documents do not write by their base letter (ICAO Doc 9303 part 3, section 6 A, by capitals). Of
 * several recommended spellings it is the first: AE, OE and UE for Ä, Ö and Ü, N for Ñ.
 */
const spellings: Readonly<Record<string, string>> = {
  ...{ Ä: 'AE', Å: 'AA', Æ: 'AE', Ö: 'OE', Ø: 'OE', Œ: 'OE', Ü: 'UE', Þ: 'TH', ẞ: 'SS', Ĳ: 'IJ' },
  ...{ Đ: 'D', Ð: 'D', Ħ: 'H', Ł: 'L', Ŀ: 'L', Ŋ: 'N', Ŧ: 'T' },
};

/** The punctuation that word processors write in place of that of ASCII. */
const punctuation: Readonly<Record<string, string>> = {
  ...{ '‘': "'", '’': "'", ʼ: "'", '´': "'", '“': '"', '”': '"', '„': '"' },
  ...{ '‐': '-', '‑': '-', '–': '-', '—': '-', '…': '...' },
};

/**
 * Writes a text in the capital letters of machine-readable travel documents. Accents are removed; other characters of ASCII stay.
 * `unknown` is the first character that has no spelling.
 */
export function toTravelDocumentText(text: string): { ascii: string; unknown?: string } {
  let ascii = '';
  // The capital of ß is SS, and that of ı is I.
  for (const character of text.normalize('NFC').toUpperCase().normalize('NFC')) {
    const spelled = spellings[character] ?? punctuation[character] ?? withoutAccents(character);
    if (!isAscii.test(spelled)) return { ascii, unknown: character };
    ascii += spelled;
  }
  return { ascii };
}

const isAscii = /^[\t-\r -~]*$/;

/** The base letters of a character with accents. Compatibility forms, such as full-width letters and ligatures, become plain ones. */
function withoutAccents(character: string): string {
  return character.normalize('NFKD').replace(/\p{M}/gu, '');
}
