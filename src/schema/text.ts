import { SchemaFault } from './fault.ts';

/** Longer than any value of use, shorter than what would burden every read. */
const MAX_LENGTH = 65_536;

/** A string that can be kept: databases take neither NUL characters nor halves of surrogate pairs. */
export function checkedText(text: string, where: string): string {
  if (text.length > MAX_LENGTH) throw new SchemaFault('value', `The value of ${where} is too long.`);
  if (text.includes('\0')) throw new SchemaFault('value', `The value of ${where} has a NUL character.`);
  if (/\p{Surrogate}/u.test(text))
    throw new SchemaFault('value', `The value of ${where} is no Unicode text.`);
  return text;
}
