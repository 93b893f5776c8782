import type { Faker } from '@faker-js/faker';

/** The size of the company, its seed, and the end of the simulated time. */
export interface SimulationOptions {
  users: number;
  trips: number;
  seed: number;
  /** The simulation ends here, in epoch milliseconds. */
  now: number;
  /** Another number gives all resources and events other ids. Events of a company that was removed still have theirs. */
  idSeed?: number;
}

/** What happens to a person, a trip or an invoice: it yields the times, in epoch milliseconds, at which it goes on. */
export type Story = AsyncGenerator<number, void, void>;

/** An hour, in milliseconds. */
export const HOUR = 3_600_000;
/** A day, in milliseconds. */
export const DAY = 24 * HOUR;
/** The simulated time, in milliseconds: twelve months of trips, and some weeks before them to set the account up. */
export const LENGTH = 395 * DAY;

/** Random generators that return the same values for the same seed. */
export interface Generators {
  /** A generator of its own for each purpose. */
  forPurpose(purpose: number): Faker;
  /** The generator of names and streets in the language of a country. */
  forCountry(country: string): Faker;
}

/** The number of the generators of names, to derive their seed; generators for other purposes are numbered from 1. */
const NAMES = 0;

/** Loads Faker by a dynamic import, because its lists of names are large and no other command needs them. */
export async function loadGenerators(seed: number): Promise<Generators> {
  const { Faker, base, de, en, en_GB, es, fr, it, sv } = await import('@faker-js/faker');
  const locales = { DE: de, ES: es, FR: fr, GB: en_GB, IT: it, SE: sv };
  const byCountry = new Map(
    Object.entries(locales).map(([country, locale], position) => {
      const faker = new Faker({ locale: [locale, en, base] });
      faker.seed([seed, NAMES, position]);
      return [country, faker];
    }),
  );
  return {
    forPurpose: (purpose) => {
      const faker = new Faker({ locale: [en, base] });
      faker.seed([seed, purpose]);
      return faker;
    },
    forCountry: (country) => {
      const faker = byCountry.get(country);
      if (!faker) throw new Error(`there are no names for ${country}`);
      return faker;
    },
  };
}

/**
 * Creates ids that begin with the simulated time (form A: 24 hexadecimal characters, form B: a UUID of version 7). Resources
 * that are created together then stand together in every index, so that inserts stay as fast at a million resources as at a
 * thousand.
 */
export function idGenerator(random: Faker, now: () => number): (form: 'A' | 'B') => string {
  return (form) => {
    if (form === 'B') return random.string.uuid({ version: 7, refDate: now() });
    const seconds = Math.floor(now() / 1000)
      .toString(16)
      .padStart(8, '0');
    return seconds + random.string.hexadecimal({ length: 16, casing: 'lower', prefix: '' });
  };
}

/** A random time from one time to another, both included, in epoch milliseconds. */
export function randomTime(random: Faker, from: number, to: number): number {
  return random.date.between({ from, to }).getTime();
}

/** Work in order of time. */
export class Schedule<T> {
  /** The latest first, so that the earliest is taken from the end. */
  readonly #entries: { time: number; work: T }[] = [];
  readonly #end: number;

  /** Work at `end` or later is never returned. */
  constructor(end: number) {
    this.#end = end;
  }

  /** Adds work for a time in epoch milliseconds. Of several with the same time, the one that was added first comes first. */
  add(time: number, work: T): void {
    if (time >= this.#end) return;
    const index = this.#entries.findLastIndex((later) => later.time > time) + 1;
    this.#entries.splice(index, 0, { time, work });
  }

  /** Removes and returns the earliest work; undefined when the schedule is empty. */
  next(): { time: number; work: T } | undefined {
    return this.#entries.pop();
  }
}
