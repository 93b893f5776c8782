/**
 * The deepest nesting of objects and arrays in JSON from outside. Everything that the bridge understands is shallower by far, and
 * recursive code has room for it.
 */
const MAX_JSON_DEPTH = 64;

/** Tells the sender of JSON that is refused for its depth what is wrong with it. */
export const nestedTooDeepText = `is nested deeper than ${MAX_JSON_DEPTH} levels`;

/** True if objects and arrays in parsed JSON are nested deeper than 64 levels. */
export function isNestedTooDeep(json: unknown): boolean {
  return someInner(json, (value, depth) => depth > MAX_JSON_DEPTH && isContainer(value));
}

/** True if a text in parsed JSON contains NUL, which PostgreSQL cannot store. */
export function hasNul(json: unknown): boolean {
  return someInner(json, (value) => typeof value === 'string' && value.includes('\0'));
}

/**
 * True if the test holds for the value or one inside of it; `depth` is 1 for the outermost. It is iterative: recursion would overflow
 * the stack for a body of 20 KB.
 */
function someInner(json: unknown, test: (value: unknown, depth: number) => boolean): boolean {
  const open = [{ value: json, depth: 1 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (test(value, depth)) return true;
    if (!isContainer(value)) continue;
    for (const inner of Object.values(value)) open.push({ value: inner, depth: depth + 1 });
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
