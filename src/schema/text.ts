import { SchemaFault } from './fault.ts';

/** Longer than any value of use, shorter than what would burden every read. */
const MAX_LENGTH = 65_536;

/** A string that can be kept; databases take no NUL characters. */
export function checkedText(text: string, where: string): string {
  if (text.length > MAX_LENGTH) throw new SchemaFault('value', `The value of ${where} is too long.`);
  if (text.includes('\0')) throw new SchemaFault('value', `The value of ${where} has a NUL character.`);
  return text;
}
