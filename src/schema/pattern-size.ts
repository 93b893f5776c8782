/** The weight of a Unicode class such as `\p{L}`, whose hundreds of ranges take as long to compile as twenty characters. */
const CLASS_WEIGHT = 20;

/** The size of a group without its content. */
const GROUP_SIZE = 3;

/** The parts of a group that has not ended yet. */
interface Group {
  /** The size of what precedes the last part. */
  before: number;
  /** The size of the last part, which a repetition multiplies. */
  last: number;
}

/**
 * Returns an upper bound of the size of a regular expression in RE2 syntax when it is compiled: each character or class counts one, and
 * a repetition `{n,m}` counts its part m times. The expression is not compiled, because expanding nested repetitions may take seconds.
 */
export function patternSize(pattern: string): number {
  const open: Group[] = [{ before: 3, last: 0 }];
  for (let at = 0; at < pattern.length; ) {
    const group = open.at(-1) ?? { before: 0, last: 0 };
    const [text, kind] = tokenAt(pattern, at);
    at += text.length;
    if (kind === 'begin') open.push({ before: 0, last: 0 });
    else if (kind === 'end' && open.length > 1) {
      open.pop();
      addPart(open.at(-1), GROUP_SIZE + group.before + group.last);
    } else if (kind === 'repeat') group.last = repeatedSize(group.last, text);
    else if (kind !== 'flags') addPart(group, partSize(kind, text));
  }
  // Groups that are never closed are a syntax error, and count nevertheless.
  return open.reduce((sum, { before, last }) => sum + before + last, 0);
}

function addPart(group: Group | undefined, size: number): void {
  if (!group) return;
  group.before += group.last;
  group.last = size;
}

/** The kinds of tokens with the text that each matches at a position; the first that matches is used. */
const tokens = [
  ['quote', /\\Q(?:(?!\\E)[\s\S])*(?:\\E)?/y],
  ['part', /\\(?:[pPx]\{[^}]*\}|[pP]?[\s\S]?)/y],
  ['part', /\[\^?\]?(?:\[:\^?\w*:\]|\\[pP]\{[^}]*\}|\\[\s\S]|[^\]\\])*\]?/y],
  // A repetition after flags is one of the part before them.
  ['flags', /\(\?[\w-]*\)/y],
  ['begin', /\((?:\?[^:>=!)]*[:>=!]?)?/y],
  ['end', /\)/y],
  ['repeat', /[*+?]|\{\d+(?:,\d*)?\}/y],
  ['alternative', /\|/y],
  ['part', /[\s\S]/y],
] as const;

type Kind = (typeof tokens)[number][0];

function tokenAt(pattern: string, at: number): [text: string, kind: Kind] {
  for (const [kind, expression] of tokens) {
    expression.lastIndex = at;
    const text = expression.exec(pattern)?.[0];
    if (text !== undefined) return [text, kind];
  }
  return [pattern.slice(at, at + 1), 'part'];
}

/** Each optional copy needs an instruction of its own, and so does the choice to go on. */
function repeatedSize(size: number, repetition: string): number {
  const [from, to = from] = (repetition.match(/\d+/g) ?? []).map(Number);
  if (from === undefined || to === undefined) return size + 2;
  const copies = Math.max(1, from, to) + (repetition.endsWith(',}') ? 1 : 0);
  return copies * (size + 1) + 1;
}

/** An alternative counts two, as it may be empty. */
function partSize(kind: Kind, text: string): number {
  if (kind === 'quote') return text.length;
  if (kind === 'alternative') return 2;
  return 1 + CLASS_WEIGHT * (text.match(/\\[pP]/g)?.length ?? 0);
}
