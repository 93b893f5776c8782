import type { Stories } from '../travel/booking/booking.ts';
import type { JsonObject } from '../travel/json.ts';
import type { Recorder } from '../travel/record.ts';
import type { Resource } from '../travel/resource.ts';
import { validated } from '../travel/validation.ts';

/** How much there is to be, from which seed, up to which time. */
export interface Wish {
  users: number;
  trips: number;
  seed: number;
  /** The story ends here, in epoch milliseconds. */
  now: number;
}

/** The open transaction in which something happens, and its time. */
export interface Context {
  recorder: Recorder;
  stories: Stories;
  /** The time in the story, in epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
}

/** Something that happens at its time. */
export type Happening = (context: Context) => Promise<void>;

/** An hour, in milliseconds. */
export const HOUR = 3_600_000;
/** A day, in milliseconds. */
export const DAY = 24 * HOUR;
/** How long before its end the story begins: the twelve months of trips, and some weeks to furnish the account. */
export const LENGTH = 395 * DAY;

/** Keeps a new resource, which its schema must accept; answers its id. */
export async function add(
  { recorder, now, newId }: Context,
  { resource, doc, parentId = '' }: { resource: Resource; doc: JsonObject; parentId?: string },
): Promise<string> {
  const { type, idForm } = resource;
  const stored = { type, id: newId(idForm), parentId, createdAt: now(), doc: validated(resource, doc) };
  await recorder.insert(resource, stored);
  return stored.id;
}
