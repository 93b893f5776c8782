/** The kind of a personal text. A `text` is replaced word by word, and a `phone` number by its digits. */
export type PersonalKind = 'text' | 'phone';

/** A part of a personal text. Only `kept` parts (separators, country codes, top-level domains) stay as they are. */
export interface Token {
  type: 'kept' | 'word' | 'guid' | 'date' | 'digits';
  text: string;
  /** Of the last word of a domain before its top-level domain: that one, as `corp.com` and `corp.fr` are two names. */
  topLevel?: string;
}

/** Divides a personal text into its parts. Their texts joined are the text itself. */
export function tokenize(text: string, kind: PersonalKind = 'text'): Token[] {
  return kind === 'phone' ? phoneTokens(text) : textTokens(text);
}

const notBefore = '(?<![\\p{L}\\p{M}\\p{Nd}])';
const notAfter = '(?![\\p{L}\\p{M}\\p{Nd}])';
const host = '[\\p{L}\\p{M}\\p{Nd}-]+(?:\\.[\\p{L}\\p{M}\\p{Nd}-]+)*';
const timeOfDay = 'T\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?:Z|[+-]\\d\\d:?\\d\\d)?';
const patterns = [
  `${notBefore}(?<guid>[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12})${notAfter}`,
  `(?<local>[^\\s@<>()",;:\\\\]+)@(?<mailHost>${host})`,
  `(?<scheme>https?://)(?<urlHost>${host})`,
  `${notBefore}(?<yearFirst>\\d{4}(?<dash>[-/.])\\d\\d\\k<dash>\\d\\d)(?<time>${timeOfDay})?${notAfter}`,
  `${notBefore}(?<yearLast>\\d\\d(?<slash>[-/.])\\d\\d\\k<slash>\\d{4})${notAfter}`,
  '(?<phone>\\+\\d[\\d ().-]{6,}\\d)',
  '(?<word>[\\p{L}\\p{M}\\p{Nd}]+)',
];
const personal = new RegExp(patterns.join('|'), 'giu');

function textTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(personal)) {
    if (match.index > end) tokens.push(kept(text.slice(end, match.index)));
    tokens.push(...matchTokens(match));
    end = match.index + match[0].length;
  }
  if (end < text.length) tokens.push(kept(text.slice(end)));
  return tokens;
}

function matchTokens({ 0: all, groups = {} }: RegExpExecArray): Token[] {
  const { guid, local, mailHost, scheme, urlHost, time = '' } = groups;
  if (guid !== undefined) return [{ type: 'guid', text: guid }];
  if (local !== undefined) return [...textTokens(local), kept('@'), ...domainTokens(mailHost ?? '')];
  if (scheme !== undefined) return [kept(scheme), ...domainTokens(urlHost ?? '')];
  const date = groups.yearFirst ?? groups.yearLast;
  if (date !== undefined) {
    const whole: Token[] = parseDate(date) ? [{ type: 'date', text: date }] : wordTokens(date);
    return time === '' ? whole : [...whole, kept(time)];
  }
  return groups.phone === undefined ? [{ type: 'word', text: all }] : numberTokens(groups.phone);
}

/** Divides a text into words, and the separators between them. */
function wordTokens(text: string): Token[] {
  return text
    .split(/([\p{L}\p{M}\p{Nd}]+)/u)
    .map((part, index): Token => (index % 2 === 0 ? kept(part) : { type: 'word', text: part }));
}

/** Top-level domains that never reach anybody (RFC 2606, RFC 6761). They stay; every other becomes `example`. */
const reservedDomains = ['example', 'test', 'invalid', 'localhost'];

function domainTokens(domain: string): Token[] {
  const dot = domain.lastIndexOf('.');
  const topLevel = domain.slice(dot + 1);
  const isReserved = reservedDomains.includes(topLevel.toLowerCase());
  if (dot < 0) return isReserved ? [kept(topLevel)] : wordTokens(domain);
  const tokens = wordTokens(domain.slice(0, dot));
  const last = tokens.findLast(({ type }) => type === 'word');
  if (last) last.topLevel = topLevel.toLowerCase();
  return [...tokens, kept('.'), kept(isReserved ? topLevel : 'example')];
}

/** The digits that are replaced at the end of a number of nine digits or more: what precedes them is country and area. */
const SUBSCRIBER_DIGITS = 7;

/** A number with words or other signs in it is replaced word by word, except for its extension. */
function phoneTokens(text: string): Token[] {
  const [, scheme = '', number = '', label = '', extension = ''] =
    /^(tel:)?([\d\s+()./-]*)(?:(;?\s*(?:ext|x|#)[.=:]?\s*)(\w*))?$/i.exec(text) ?? [];
  if (number === '') return textTokens(text);
  return [kept(scheme), ...numberTokens(number), kept(label), ...wordTokens(extension)];
}

/** Country and area codes stay, so that a valid number stays valid. */
function numberTokens(number: string): Token[] {
  const digits = [...number.matchAll(/\d/g)];
  if (digits.length < 5) return wordTokens(number);
  const replaced =
    digits.length >= 9 ? SUBSCRIBER_DIGITS : digits.length >= 7 ? digits.length - 2 : digits.length;
  const start = digits.at(-replaced)?.index ?? 0;
  return [kept(number.slice(0, start)), { type: 'digits', text: number.slice(start) }];
}

function kept(text: string): Token {
  return { type: 'kept', text };
}

/** The parts of a date, and a function that formats another date in the same way. */
export interface ParsedDate {
  /** YYYY-MM-DD. */
  iso: string;
  format(year: string, month: string, day: string): string;
}

/** Parses YYYY-MM-DD, DD/MM/YYYY and MM/DD/YYYY with any separator; the day comes first where both could. */
export function parseDate(text: string): ParsedDate | undefined {
  const [one = '', two = '', three = ''] = text.split(/[-/.]/);
  const separator = /[-/.]/.exec(text)?.[0] ?? '';
  const orders: [string, string, string, ParsedDate['format']][] =
    one.length === 4
      ? [[one, two, three, (year, month, day) => [year, month, day].join(separator)]]
      : [
          [three, two, one, (year, month, day) => [day, month, year].join(separator)],
          [three, one, two, (year, month, day) => [month, day, year].join(separator)],
        ];
  for (const [year, month, day, format] of orders) {
    const iso = `${year}-${month}-${day}`;
    const time = Date.parse(`${iso}T00:00:00Z`);
    if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(iso)) return { iso, format };
  }
  return undefined;
}
