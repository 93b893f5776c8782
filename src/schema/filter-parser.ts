import { type NameParts, parseAttributeName, type QualifiedName } from './attribute-names.ts';

/** The comparison operators of RFC 7644 §3.4.2.2: all but `pr`, which has no value. */
export type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** The right-hand value of a comparison. */
export type Operand = string | number | boolean | null;

/**
 * A parsed filter (RFC 7644 §3.4.2.2). A value filter without an operator after it, such as `emails[type eq "work"]`,
 * is parsed as `pr`.
 */
export type Filter =
  | { op: 'and' | 'or'; operands: Filter[] }
  | { op: 'not'; operand: Filter }
  | { op: 'pr'; path: AttributePath }
  | { op: Comparison; path: AttributePath; value: Operand };

/** The part of a filter that tests one attribute: `attrExp` or `valuePath` in the grammar of RFC 7644 §3.4.2.2. */
export type AttributeExpression = Extract<Filter, { path: AttributePath }>;

/** Returns the attribute expressions of a filter in order, without those in brackets. */
export function attributeExpressionsIn(filter: Filter): AttributeExpression[] {
  if ('operands' in filter) return filter.operands.flatMap(attributeExpressionsIn);
  return 'operand' in filter ? attributeExpressionsIn(filter.operand) : [filter];
}

/** A parsed path `urn:attribute[filter].sub`, its names in the client's spelling (RFC 7644 §3.5.2, figure 7). */
export interface AttributePath extends NameParts {
  filter: Filter | undefined;
  /** All possible ways to split the name, if there are several (`QualifiedName`). */
  readings?: readonly NameParts[];
}

/** The fault of a path or filter that cannot be parsed, and the index of its first wrong character. */
export interface PathFault {
  fault: string;
  position: number;
}

/** The deepest nesting of parentheses and brackets. The limit bounds the recursion. */
const MAX_DEPTH = 50;

/** The longest filter, in characters. */
const MAX_FILTER_LENGTH = 65_536;

/** The longest path, in characters. */
const MAX_PATH_LENGTH = 4096;

/**
 * The maximum number of comparisons of a filter. Each one is evaluated on every candidate, and SQLite accepts no more
 * than 1,000 in a chain.
 */
const MAX_COMPARISONS = 500;

const comparisons: readonly string[] = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'];

/** The form in which the values of a filter may be written. */
interface ValueSyntax {
  /**
   * True if texts need no quotes, as some clients write them: words after `eq`, `sw`, `co` and `ew` (`userName eq
   * ada@corp.example`), numbers and dates after `gt`, `ge`, `lt` and `le` too (`meta.created gt 2026-01-31T08:00:00Z`). The
   * filters of a mapping file are strict, because there it is a mistake of an admin.
   */
  bareWords: boolean;
}

const strict: ValueSyntax = { bareWords: false };

/** Parses a filter (RFC 7644 §3.4.2.2), and the form `emails[type eq "work"].value eq "x"`, which Entra ID sends. */
export function parseFilter(text: string, syntax = strict): Filter | PathFault {
  return catchSyntaxFault(() => {
    const parser = new FilterParser(text, syntax);
    const filter = parser.disjunction();
    parser.end();
    return filter;
  });
}

/** Parses an attribute path (RFC 7644 §3.5.2, figure 7): `name.givenName`, `emails[type eq "work"].value`, `urn:…:User:department`. */
export function parsePath(text: string, syntax = strict): AttributePath | PathFault {
  return catchSyntaxFault(() => {
    if (text.length > MAX_PATH_LENGTH) throw new SyntaxFault('the path is too long', MAX_PATH_LENGTH);
    const parser = new FilterParser(text, syntax);
    const path = parser.path();
    parser.end();
    return path;
  });
}

/** A recursive-descent parser. `not` binds more than `and`, and `and` more than `or`. */
class FilterParser {
  #at = 0;
  #depth = 0;
  #brackets = 0;
  #comparisons = 0;
  readonly #tokens: Token[];
  readonly #length: number;
  readonly #syntax: ValueSyntax;

  constructor(text: string, syntax: ValueSyntax) {
    if (text.length > MAX_FILTER_LENGTH) throw new SyntaxFault('the filter is too long', MAX_FILTER_LENGTH);
    this.#tokens = tokenize(text);
    this.#length = text.length;
    this.#syntax = syntax;
  }

  disjunction(): Filter {
    return this.#joinedBy('or', () => this.#joinedBy('and', () => this.#term()));
  }

  /** Parses a path: `attribute`, `attribute[filter]`, `attribute.sub` or `attribute[filter].sub`. */
  path(): AttributePath {
    const token = this.#next();
    if (token?.kind !== 'word') throw this.#unexpected(token, 'an attribute name');
    const name = parseAttributeName(token.text);
    if (!name) throw new SyntaxFault(`"${shorten(token.text)}" is no attribute name`, token.at);
    const bracket = this.#tokens[this.#at];
    if (bracket?.kind !== '[' || !bracket.glued) return { ...name, filter: undefined };
    const filtered = toFilterableName(name);
    if (!filtered || this.#brackets > 0) {
      throw new SyntaxFault('a value filter must follow an attribute', bracket.at);
    }
    this.#at += 1;
    const filter = this.#nested(bracket, ']');
    const sub = this.#subAttribute();
    const readings = filtered.readings?.map((reading) => ({ ...reading, sub }));
    return { ...filtered, filter, sub, ...(readings ? { readings } : {}) };
  }

  end(): void {
    const rest = this.#tokens[this.#at];
    if (rest) throw this.#unexpected(rest, 'the end');
  }

  #joinedBy(op: 'and' | 'or', operand: () => Filter): Filter {
    const first = operand();
    const operands = [first];
    while (this.#takeWord(op)) operands.push(operand());
    return operands.length === 1 ? first : { op, operands };
  }

  #term(): Filter {
    const token = this.#tokens[this.#at];
    const isNot = token?.kind === 'word' && token.text.toLowerCase() === 'not';
    const open = isNot ? this.#tokens[this.#at + 1] : token;
    if (open?.kind !== '(') return this.#comparison();
    this.#at += isNot ? 2 : 1;
    const operand = this.#nested(open, ')');
    return isNot ? { op: 'not', operand } : operand;
  }

  #nested(open: Token, close: ')' | ']'): Filter {
    if (this.#depth >= MAX_DEPTH) throw new SyntaxFault('the filter is nested too deeply', open.at);
    this.#depth += 1;
    this.#brackets += close === ']' ? 1 : 0;
    const filter = this.disjunction();
    const token = this.#next();
    if (token?.kind !== close) throw this.#unexpected(token, `"${close}"`);
    this.#depth -= 1;
    this.#brackets -= close === ']' ? 1 : 0;
    return filter;
  }

  #subAttribute(): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'word' || !token.glued) return undefined;
    const name = token.text.startsWith('.') ? parseAttributeName(token.text.slice(1)) : undefined;
    if (name?.attribute === undefined || name.urn !== undefined || name.sub !== undefined) {
      throw new SyntaxFault(`"${shorten(token.text)}" is no sub-attribute`, token.at);
    }
    this.#at += 1;
    return name.attribute;
  }

  #comparison(): Filter {
    const path = this.path();
    // A path with brackets does not count, because the comparisons inside of them are counted.
    if (!path.filter) this.#comparisons += 1;
    const token = this.#tokens[this.#at];
    if (this.#comparisons > MAX_COMPARISONS) {
      throw new SyntaxFault(`there are more than ${MAX_COMPARISONS} comparisons`, token?.at ?? this.#length);
    }
    const word = token?.kind === 'word' ? token.text.toLowerCase() : undefined;
    if (word === 'pr') {
      this.#at += 1;
      return { op: 'pr', path };
    }
    if (isComparison(word)) {
      this.#at += 1;
      return { op: word, path, value: this.#value(word) };
    }
    // A value filter without an operator after it is true if an element matches.
    if (path.filter && path.sub === undefined) return { op: 'pr', path };
    throw this.#unexpected(token, 'an operator');
  }

  #value(op: Comparison): Operand {
    const token = this.#next();
    if (token?.kind === 'string') return token.value;
    if (token?.kind !== 'word') throw this.#unexpected(token, 'a value');
    // Entra ID writes True and False.
    const word = token.text.toLowerCase();
    if (word === 'true' || word === 'false') return word === 'true';
    if (word === 'null') return null;
    if (jsonNumber.test(word)) return parseNumber(word, token.at);
    if (this.#syntax.bareWords && isBareText(op, token.text)) return token.text;
    throw new SyntaxFault(`"${shorten(token.text)}" is no value; strings need double quotes`, token.at);
  }

  #takeWord(word: string): boolean {
    const token = this.#tokens[this.#at];
    const isThere = token?.kind === 'word' && token.text.toLowerCase() === word;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #next(): Token | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  #unexpected(token: Token | undefined, wanted: string): SyntaxFault {
    return new SyntaxFault(`${wanted} was expected`, token?.at ?? this.#length);
  }
}

/** Tells whether a word can be a text without quotes after an operator. Another operator in its place means that the value is missing. */
function isBareText(op: Comparison, word: string): boolean {
  const isWord = /^[\w.@+-]+$/.test(word) && !['and', 'or', 'not'].includes(word.toLowerCase());
  if (isWord && wordOperators.includes(op)) return true;
  return op !== 'ne' && (/^[+-]?\d+(\.\d+)?$/.test(word) || dateOrTime.test(word));
}

const wordOperators: readonly Comparison[] = ['eq', 'sw', 'co', 'ew'];

const dateOrTime = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/i;

/** A number in the syntax of JSON (RFC 7644 §3.4.2.2, compValue; RFC 8259 §6). */
const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Throws for a number that JavaScript would round: it would match resources with a number that the client did not mean.
 */
function parseNumber(word: string, at: number): number {
  const number = Number(word);
  if (Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))) return number;
  throw new SyntaxFault(`"${shorten(word)}" is beyond what numbers hold; send it as a string`, at);
}

/**
 * Splits the name in front of a value filter so that it has an attribute but no sub-attribute; undefined if that is
 * impossible.
 */
function toFilterableName(name: QualifiedName): QualifiedName | undefined {
  const isAttribute = ({ attribute, sub }: NameParts) => attribute !== undefined && sub === undefined;
  const readings = name.readings?.filter(isAttribute);
  if (isAttribute(name)) return { ...name, ...(readings ? { readings } : {}) };
  const [first] = readings ?? [];
  return first && { ...first, ...(readings ? { readings } : {}) };
}

function isComparison(word: string | undefined): word is Comparison {
  return word !== undefined && comparisons.includes(word);
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** A token of a filter or path. `glued` is true if no space separates it from the previous token. */
type Token =
  | { kind: 'word'; text: string; at: number; glued: boolean }
  | { kind: 'string'; value: string; at: number; glued: boolean }
  | { kind: '(' | ')' | '[' | ']'; at: number; glued: boolean };

/** Splits a filter into tokens, in one pass. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let end = -1;
  while (at < text.length) {
    if (isSpace(text[at])) {
      at += 1;
      continue;
    }
    const next = endOfToken(text, at);
    tokens.push(toToken(text.slice(at, next), at, at === end));
    at = next;
    end = next;
  }
  return tokens;
}

function endOfToken(text: string, start: number): number {
  const first = text[start];
  if (isBracket(first)) return start + 1;
  if (first === '"') return endOfString(text, start);
  let at = start;
  while (at < text.length && !isSpace(text[at]) && !isBracket(text[at]) && text[at] !== '"') at += 1;
  return at;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  throw new SyntaxFault('a string is not closed', start);
}

function toToken(text: string, at: number, glued: boolean): Token {
  if (text === '(' || text === ')' || text === '[' || text === ']') return { kind: text, at, glued };
  if (!text.startsWith('"')) return { kind: 'word', text, at, glued };
  return { kind: 'string', value: parseString(text, at), at, glued };
}

/** Strings have the syntax of JSON, escapes included (RFC 7644 §3.4.2.2, compValue). */
function parseString(text: string, at: number): string {
  try {
    return rejectNul(String(JSON.parse(text)), at);
  } catch (error) {
    if (error instanceof SyntaxFault) throw error;
    throw new SyntaxFault('a string is not a JSON string', at);
  }
}

/** Throws for the NUL character, which databases refuse even in comparisons. */
function rejectNul(text: string, at: number): string {
  if (text.includes('\0')) throw new SyntaxFault('a string has a NUL character', at);
  return text;
}

function isBracket(character: string | undefined): boolean {
  return character === '(' || character === ')' || character === '[' || character === ']';
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Thrown inside this file for a filter or path that cannot be parsed; callers receive a PathFault. */
class SyntaxFault extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'SyntaxFault';
    this.position = position;
  }
}

/** Calls a parser and returns its result; a SyntaxFault that it throws is returned as a value. */
function catchSyntaxFault<T>(read: () => T): T | PathFault {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxFault) return { fault: error.message, position: error.position };
    throw error;
  }
}
