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

/** Parses JSON from outside. Returns undefined for a text that is none, or that is nested too deep. */
export function parseJson(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return isNestedTooDeep(json) ? undefined : json;
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
