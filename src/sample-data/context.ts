import type { BookingService } from '../travel/booking/booking-service.ts';
import type { Recorder } from '../travel/changes.ts';
import type { JsonObject } from '../travel/json.ts';
import type { Resource } from '../travel/resource.ts';
import { parseDocument } from '../travel/validation.ts';

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
  stories: BookingService;
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
  const stored = { type, id: newId(idForm), parentId, createdAt: now(), doc: parseDocument(resource, doc) };
  await recorder.insert(resource, stored);
  return stored.id;
}

/** Chance that can be repeated: who throws the same dice in the same order sees the same. */
export interface Dice {
  /** From 0 up to, and not, 1. */
  next(): number;
  /** A whole number of these, both included. */
  between(least: number, most: number): number;
  /** True so often, of one. */
  chance(part: number): boolean;
  /** One of a list that is not empty. */
  of<T>(list: readonly T[]): T;
  /** One of them, the heavier the more often. */
  weighted<T extends { weight: number }>(list: readonly T[]): T;
}

/** Dice that are thrown by a source of numbers from 0 up to 1. */
export function diceOf({ next }: { next(): number }): Dice {
  const at = <T>(list: readonly T[], position: number): T => {
    const found = list[position];
    if (found === undefined) throw new Error('there is nothing to choose from');
    return found;
  };
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (part) => next() < part,
    of: (list) => at(list, Math.floor(next() * list.length)),
    weighted: (list) => {
      let left = next() * list.reduce((sum, { weight }) => sum + weight, 0);
      const found = list.findIndex(({ weight }) => {
        left -= weight;
        return left < 0;
      });
      return at(list, found < 0 ? list.length - 1 : found);
    },
  };
}

/**
 * Ids that come from dice and the time of the story. They begin with the time, as those of many services do (UUID version
 * 7 is one): what is made together stands together in every index, so that a million are made as fast as a thousand.
 */
export function identifiers(dice: Dice, now: () => number): (form: 'A' | 'B') => string {
  const digits = (count: number) =>
    Array.from({ length: count / 4 }, () => hex(dice.between(0, 0xffff), 4)).join('');
  return (form) => {
    if (form === 'A') return `${hex(Math.floor(now() / 1000), 8)}${digits(16)}`;
    const time = hex(now(), 12);
    const [a, b] = [digits(4).slice(1), digits(4).slice(1)];
    return `${time.slice(0, 8)}-${time.slice(8)}-7${a}-${dice.of(['8', '9', 'a', 'b'])}${b}-${digits(12)}`;
  };
}

function hex(number: number, length: number): string {
  return number.toString(16).padStart(length, '0');
}
