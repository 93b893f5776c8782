import { SyntaxFault } from './syntax-fault.ts';

/** A piece of a filter or path. `glued`: nothing stands between it and the piece before. */
export type Token =
  | { kind: 'word'; text: string; at: number; glued: boolean }
  | { kind: 'string'; value: string; at: number; glued: boolean }
  | { kind: '(' | ')' | '[' | ']'; at: number; glued: boolean };

/** Cuts a filter into its pieces, in one pass. */
export function tokenize(text: string): Token[] {
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

function toToken(piece: string, at: number, glued: boolean): Token {
  if (piece === '(' || piece === ')' || piece === '[' || piece === ']') return { kind: piece, at, glued };
  if (!piece.startsWith('"')) return { kind: 'word', text: piece, at, glued };
  return { kind: 'string', value: readString(piece, at), at, glued };
}

/** Strings are JSON strings (RFC 7644 §3.4.2.2: compValue), escapes included. */
function readString(piece: string, at: number): string {
  try {
    return checked(String(JSON.parse(piece)), at);
  } catch (error) {
    if (error instanceof SyntaxFault) throw error;
    throw new SyntaxFault('a string is not a JSON string', at);
  }
}

/** Databases do not take it, not even to compare with. */
function checked(text: string, at: number): string {
  if (text.includes('\0')) throw new SyntaxFault('a string has a NUL character', at);
  return text;
}

function isBracket(character: string | undefined): boolean {
  return character === '(' || character === ')' || character === '[' || character === ']';
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
