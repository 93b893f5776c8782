import { type Command, InvalidArgumentError } from 'commander';
import { nearest } from '../../schema/similar-words.ts';

/** Parses a base URL and removes slashes at its end. */
export function parseBaseUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be a URL, e.g. http://127.0.0.1:8080/scim/v2.');
  return text.replace(/\/+$/, '');
}

/** Parses a variable of the form `name=value` and adds it to the variables given before. */
export function parseVariable(text: string, others: Record<string, string>): Record<string, string> {
  const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('must be of the form name=value.');
  return { ...others, [name]: value };
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a duration such as `90s`, `15m`, `2h` or `7d` to milliseconds; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}

/** Parses a duration to milliseconds. */
export function parseDuration(text: string): number {
  const duration = durationMs(text);
  if (duration === undefined) throw new InvalidArgumentError('must be e.g. 90s, 10m, 2h or 7d.');
  return duration;
}

/** Parses a time, given as an age (`15m`, `2h`, `7d`) or as a date-time, to epoch milliseconds. */
export function parseTime(text: string): number {
  const age = durationMs(text);
  const time = age === undefined ? Date.parse(text) : Date.now() - age;
  if (Number.isNaN(time))
    throw new InvalidArgumentError('must be e.g. 90s, 15m, 2h, 7d, or a time such as 2026-11-20T08:00:00Z.');
  return time;
}

/** Returns a parser of whole numbers within these limits. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    return number;
  };
}

/** Parses a whole number of at most six digits. */
export const parseCount = wholeNumber(0, 999_999);

/** Creates a parser that accepts only these values. For any other text, it suggests the nearest value and lists all of them. */
export function choiceParser(values: readonly string[]): (text: string) => string {
  return (text) => {
    if (values.includes(text)) return text;
    const meant = nearest(text, [...values]);
    const suggestion = meant === undefined ? '' : `Did you mean ${meant}? `;
    throw new InvalidArgumentError(`${suggestion}Allowed choices are ${values.join(', ')}.`);
  };
}

/**
 * For a command with a default subcommand: without this, the first word that is no subcommand would be an argument of the default one.
 */
export function refuseUnknownCommands(parent: Command): void {
  parent.hook('preSubcommand', ({ args: [word = '-'], commands }) => {
    const names = commands.map((command) => command.name());
    if (word.startsWith('-') || names.includes(word)) return;
    const meant = nearest(word, names);
    const hint = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
    parent.error(`error: unknown command '${word}'${hint}`, { code: 'commander.unknownCommand' });
  });
}
