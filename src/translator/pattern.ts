import { RE2JS } from 're2js';

/** Compiles an admin's regular expression (RE2 syntax, which matches in linear time); a text says what is wrong with it. */
export function compilePattern(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message : 'not a regular expression';
  }
}

/** The number of a group that a replacement names and the pattern does not have; the whole match is `$&` and not `$0`, a dollar `$$`. */
export function missingGroup(pattern: RE2JS, replacement: string): number | undefined {
  const named = [...replacement.matchAll(/\$(?:\$|(\d))/g)].flatMap(([, digit]) => digit ?? []).map(Number);
  return named.find((group) => group === 0 || group > pattern.groupCount());
}
