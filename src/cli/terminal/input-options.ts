import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { CliCommand } from '../command.ts';
import { choiceParser, parseTime, wholeNumber } from './arguments.ts';

/** The part of a member's JSON Schema from which its option follows. */
interface Member {
  type?: string;
  enum?: string[];
  format?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

/** Differences of an option from the member of the input. */
interface OptionChange {
  /** By default the member's name in the form `--last-change <text>`. */
  flags?: string;
  description?: string;
  parse?: (text: string) => unknown;
  isRequired?: true;
}

/**
 * Adds an option for each of these members of an operation's input. Its values and its description are those of the schema. The flags that
 * the command gets can be passed on to the operation.
 */
export function addInputOptions(
  command: CliCommand,
  schema: z.ZodObject,
  members: Record<string, OptionChange>,
): CliCommand {
  const described = Object(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).properties);
  for (const [name, change] of Object.entries(members)) {
    const member: Member = described[name] ?? {};
    const option = new Option(
      change.flags ?? flagsOf(name, member),
      change.description ?? toFragment(member.description),
    );
    if (change.parse) option.argParser(change.parse);
    else if (isSwitch(member)) member.enum && option.preset('true');
    else if (member.enum) option.choices(member.enum).argParser(choiceParser(member.enum));
    else if (member.type === 'integer')
      option.argParser(wholeNumber(member.minimum ?? 0, member.maximum ?? 999_999_999));
    else if (member.format === 'date-time') option.argParser(parseIsoTime);
    else option.argParser(memberParser(schema.shape[name]));
    if (member.default !== undefined) option.default(member.default);
    command.addOption(change.isRequired ? option.makeOptionMandatory() : option);
  }
  return command;
}

/** Help begins descriptions of options with a small letter. */
function toFragment(description = ''): string {
  return description.replace(/^[A-Z](?=[a-z. ])/, (letter) => letter.toLowerCase());
}

/** Refuses a value with the message of the schema. */
function memberParser(member: z.ZodType | undefined): (text: string) => string {
  return (text) => {
    const fault = member?.safeParse(text).error?.issues[0];
    if (fault) throw new InvalidArgumentError(`${fault.message}.`);
    return text;
  };
}

/** True for a member that is either given or not: a boolean, or a parameter of a URL whose only value is `true`. */
function isSwitch(member: Member): boolean {
  return member.type === 'boolean' || (member.enum?.length === 1 && member.enum[0] === 'true');
}

function flagsOf(name: string, member: Member): string {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (isSwitch(member)) return flag;
  const value = member.type === 'integer' ? 'number' : member.format === 'date-time' ? 'time' : name;
  return `${flag} <${value}>`;
}

/** Parses an age or a time to the form of the API. */
function parseIsoTime(text: string): string {
  return new Date(parseTime(text)).toISOString();
}
