/** Writes a name with capital letters as in a document: `Jean-Pierre`, `McDonald`, `van der Berg`, `Henry VIII`. */
export function titlecase(text: string): string {
  const words = [...text.matchAll(/[^\s\-'’]+/gu)];
  const cased = words.map(({ 0: word, index }, at) => {
    const before = words[at - 1]?.[0].toLowerCase() ?? '';
    const isLast = at === words.length - 1;
    const mark = index === 0 ? '' : text[index - 1];
    return {
      index,
      word,
      cased: titlecaseWord(word, { before, isLast, isAfterMark: mark === "'" || mark === '’' }),
    };
  });
  const parts = cased.map(({ index, word, cased: now }, at) => {
    const end = words[at + 1]?.index ?? text.length;
    return `${now}${text.slice(index + word.length, end)}`;
  });
  return `${text.slice(0, words[0]?.index)}${parts.join('')}`;
}

/** Words of family names in small letters, as in `van Gogh`: prepositions, and the articles that follow them. */
const particles = ['van', 'von', 'de', 'del', 'di', 'da', 'do', 'dos', 'das', 'du', 'zu', 'af', 'av'];
const articles = ['la', 'las', 'le', 'les', 'lo', 'los', 'der', 'den', 'dem', 'des', 'het', 'ten', 'ter'];

/** Roman numerals behind a name or a rank. Xi, Li, Di and Mi are names, and V and X are capitals anyway. */
const numeral = /^(i{2,3}|iv|vi{1,3}|ix|xi{2,3}|xiv|xv|xvi{1,3})$/;

interface WordPlace {
  /** The word before, in lower case. */
  before: string;
  isLast: boolean;
  /** True behind an apostrophe. */
  isAfterMark: boolean;
}

function titlecaseWord(word: string, { before, isLast, isAfterMark }: WordPlace): string {
  const lower = lowercase(word);
  const isAfterParticle = particles.includes(before) || articles.includes(before);
  if (!isLast && (particles.includes(lower) || (isAfterParticle && articles.includes(lower)))) return lower;
  if (before !== '' && numeral.test(lower)) return lower.toUpperCase();
  if (isAfterMark && before.length > 1 && lower === 's') return lower;
  const [first = ''] = word;
  if (!/\p{L}/u.test(first)) return lower;
  const [, rest] = /^mc(\p{L}.+)$/u.exec(lower) ?? [];
  if (rest !== undefined) return `Mc${titlecaseWord(rest, { before: '', isLast: true, isAfterMark: false })}`;
  // A capital that begins the word is not lower-cased first, so that İ keeps its dot there.
  return `${first.toUpperCase()}${lowercase(word.slice(first.length))}`;
}

/** The lower case of İ is i with a combining dot above, which mail systems and the travel service do not expect: i is used. */
export function lowercase(text: string): string {
  return text.replace(/\u0130|I\u0307/g, 'i').toLowerCase();
}
