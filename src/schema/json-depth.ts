/**
 * The deepest nesting of objects and arrays in JSON from outside. Everything that the bridge understands is shallower by far, and
 * recursive code has room for it.
 */
export const MAX_JSON_DEPTH = 64;

/** Tells the sender of JSON that is refused for its depth what is wrong with it. */
export function nestedTooDeepText(levels = MAX_JSON_DEPTH): string {
  return `is nested deeper than ${levels} levels`;
}

/** True if objects and arrays in parsed JSON are nested deeper than 64 levels, or than the given number. */
export function isNestedTooDeep(json: unknown, levels = MAX_JSON_DEPTH): boolean {
  return someInner(json, (value, depth) => depth > levels && isContainer(value));
}

/**
 * True if a JSON text opens more than 64 objects and arrays at once. A few megabytes of brackets take more than a second to parse, and
 * this stops at the 65th. A text that is no JSON has no meaningful depth.
 */
export function isTextNestedTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBracket || code === openBrace) depth += 1;
    else if (code === closeBracket || code === closeBrace) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

// Character codes: a comparison of one-character texts takes several times as long.
const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];

/** Returns the position of the quotation mark that closes a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

/** Parses JSON from outside. Returns undefined for a text that is none, or that is nested too deep. */
export function parseJson(text: string): unknown {
  try {
    return isTextNestedTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True if a text in parsed JSON contains NUL, which PostgreSQL cannot store. */
export function hasNul(json: unknown): boolean {
  return someInner(json, (value) => typeof value === 'string' && value.includes('\0'));
}

/**
 * True if the test holds for the value or one inside of it; `depth` is 1 for the outermost. It is iterative: recursion would overflow
 * the stack for a body of 20 KB. Of each container on the way only the position is kept, because one may have millions of values.
 */
function someInner(json: unknown, test: (value: unknown, depth: number) => boolean): boolean {
  const open: Iterator<unknown>[] = [[json].values()];
  for (let last = open.at(-1); last; last = open.at(-1)) {
    const { done, value } = last.next();
    if (done) open.pop();
    else if (test(value, open.length)) return true;
    else if (isContainer(value)) open.push((Array.isArray(value) ? value : Object.values(value)).values());
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
