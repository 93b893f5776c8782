import { caseFoldedKey, exactKey } from '../search-keys.ts';

/** The spelling of a value in a column that is searched without case. */
export function folded(value: string | number | boolean): string {
  return caseFoldedKey(String(value));
}

/** The spelling of a value in a column that is searched exactly. */
export function exactly(value: string | number | boolean): string {
  return exactKey(String(value));
}
