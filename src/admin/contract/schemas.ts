import { z } from 'zod';

/** A time, e.g. `2026-11-22T16:00:00.000Z`. */
export const time = z.iso.datetime().meta({ description: 'UTC, with milliseconds' });

/** Converts epoch milliseconds to the form of the API. */
export function toTime(ms: number): string;
export function toTime(ms: number | undefined): string | undefined;
export function toTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** Converts the named members of an object from epoch milliseconds to the form of the API. */
export function withTimes<T extends object, Name extends keyof T>(
  object: T,
  names: Name[],
): Omit<T, Name> & { [Member in Name]: T[Member] extends number ? string : string | undefined } {
  const converted = names.map((name) => [name, toTime(object[name] as number | undefined)]);
  return { ...object, ...Object.fromEntries(converted) };
}

export const role = z.enum(['viewer', 'admin']).meta({
  description: 'A viewer sees everything and changes nothing',
});

/** A name that an admin chooses: for an account, a token or a client. */
export const name = z.string().trim().min(1, 'must not be empty').max(200, 'has at most 200 characters');

/** The id of an object in a path. */
export const id = z.string().min(1).max(200);

/** The number of items of a page. A client gives a number, which the query contains as text. */
export const limit = z.coerce.number<number>().int().min(1).max(200).default(50);

/** The parameters and the end of a page of the travel service. */
export const travelPage = {
  after: z.string().max(1_000).optional().meta({ description: '`next` of the page before' }),
  limit: limit.pipe(z.int().max(100)),
};
export const next = z.string().optional();
