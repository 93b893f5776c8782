import { z } from 'zod';
import { ruleOrigins, ruleOutcomes } from '../model/translation.ts';

const timeText = z.iso.datetime();
// Documents describe a time as the text that clients see.
const { $schema: _dialect, ...describedText } = z.toJSONSchema(timeText);

/** A time, e.g. `2026-11-22T16:00:00.000Z`. Handlers get and return epoch milliseconds. */
export const time = z
  .codec(timeText, z.number().meta(describedText), { decode: (text) => Date.parse(text), encode: toTime })
  .describe('UTC, with milliseconds');

/** Converts epoch milliseconds to the form of the API. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

export const role = z.enum(['viewer', 'admin']).describe('A viewer sees everything and changes nothing');

/** A name that an admin chooses: for an account, a token or a client. */
export const name = z.string().trim().min(1, 'must not be empty').max(200, 'has at most 200 characters');

/** Members that can be absent; each says when. */
export const optionalText = z.string().optional();
export const optionalInteger = z.int().optional();
export const optionalTime = time.optional();

export const count = z.int().min(0);

/** The id of an object in a path. */
export const id = z.string().min(1).max(200);

/** The number of items of a page. A client gives a number, which the query contains as text. */
export const limit = z.coerce.number<number>().int().min(1).max(200).default(50);

/** The `after` of the page that follows; absent on the last one. */
export const next = z.string().optional();

/** A value that is not set on the traveler, and why. */
export const findingMembers = {
  field: z.string(),
  code: z.string(),
  value: z.unknown().optional(),
  reason: z.string(),
  remedy: z.string(),
  mappingPath: optionalText,
};

/** The effect of one rule on one field. */
export const ruleMembers = {
  origin: z.enum(ruleOrigins),
  rule: z.string().describe('The input of the rule, with its transforms'),
  when: optionalText,
  group: optionalText.describe('The group of the user that the condition has found'),
  read: optionalText.describe('The SCIM path that was read, if there are several'),
  outcome: z.enum(ruleOutcomes),
  before: z.unknown().optional(),
  transformed: z.unknown().optional(),
  after: z.unknown().optional(),
  reason: optionalText,
  mappingPath: optionalText,
};
