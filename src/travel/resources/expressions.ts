import { RE2JS } from 're2js';

/** True: the whole value matches the expression; without one every value does that is not too long. */
export type Matcher = (data: string, expression: string | undefined) => boolean;

/** The longest text value, in characters. */
const TEXT = 1000;

/** The longest expression, in characters. */
const EXPRESSION = 1000;

/** The largest compiled expression, in instructions: repetitions inside of repetitions multiply. */
const PROGRAM = 3000;

/**
 * The work of one request, in steps of a match: RE2 takes characters times instructions at most, about three million a
 * second. Compiling takes about a hundred steps for each character and each instruction.
 */
const STEPS = 4_000_000;
const COMPILING = 100;

/** True for an RE2 expression that is neither too long nor too large. */
export function isExpression(source: string): boolean {
  return compiled(source) !== undefined;
}

/**
 * Matches the values of one request. Each expression is compiled once, and each value matched once with it; when the work
 * of the request is used up, nothing matches any more.
 */
export function matcher(): Matcher {
  const expressions = new Map<string, RE2JS | undefined>();
  const results = new Map<string, boolean>();
  let steps = STEPS;
  const match = (data: string, source: string): boolean => {
    if (steps < 0) return false;
    if (!expressions.has(source)) {
      const made = compiled(source);
      expressions.set(source, made);
      steps -= COMPILING * (source.length + (made?.programSize() ?? 0));
    }
    const expression = expressions.get(source);
    if (expression === undefined) return false;
    steps -= data.length * expression.programSize();
    return steps >= 0 && expression.matches(data);
  };
  return (data, source) => {
    if (data.length > TEXT) return false;
    if (source === undefined) return true;
    const key = JSON.stringify([source, data]);
    const result = results.get(key) ?? match(data, source);
    results.set(key, result);
    return result;
  };
}

function compiled(source: string): RE2JS | undefined {
  if (source.length > EXPRESSION) return undefined;
  try {
    const expression = RE2JS.compile(source);
    return expression.programSize() <= PROGRAM ? expression : undefined;
  } catch {
    return undefined;
  }
}
