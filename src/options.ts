import { InvalidArgumentError } from 'commander';
import { isSafeUrl } from './safe-url.ts';

/** A base URL, without a slash at the end. */
export function baseUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be a URL, e.g. http://127.0.0.1:8080/scim/v2.');
  return text.replace(/\/+$/, '');
}

/** Where public keys are. */
export function keysUrl(text: string): string {
  if (!isSafeUrl(text))
    throw new InvalidArgumentError('must be an https URL, e.g. https://idp.example.com/keys.');
  return text;
}

/** One more variable, given as `name=value`. */
export function variable(text: string, others: Record<string, string>): Record<string, string> {
  const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('must be of the form name=value.');
  return { ...others, [name]: value };
}

/** A number of days. */
export function wholeDays(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1)
    throw new InvalidArgumentError('must be a whole number of days, 1 or more.');
  return days;
}

/** A number of things, perhaps none. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number, 0 or more.');
  return Number(text);
}
