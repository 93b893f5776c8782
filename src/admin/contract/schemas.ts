import { z } from 'zod';

/** A time, e.g. `2026-11-22T16:00:00.000Z`. */
export const time = z.iso.datetime().meta({ description: 'UTC, with milliseconds' });

/** Converts epoch milliseconds to the form of the API. */
export function toTime(ms: number): string;
export function toTime(ms: number | undefined): string | undefined;
export function toTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
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
