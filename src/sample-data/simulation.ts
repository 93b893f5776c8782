import type { Faker } from '@faker-js/faker';
import type { StoredResource } from '../travel/ports.ts';
import type { Ledger } from './ledger.ts';
import type { City } from './reference-data.ts';

/** The company, its ledger, and its random generators. */
export interface Simulation extends Ledger {
  random: Faker;
  /** Draws one of the names by their weights. */
  draw<Name extends string>(weights: Record<Name, number>): Name;
  /** Returns the generator of names and streets in the language of a country. */
  localNames(country: string): Faker;
  company: {
    name: string;
    domain: string;
    branches: City[];
    /** Returns the id of the policy, department, project, custom field or option of a title, or of a branch's billing profile. */
    idOf(title: string): string;
  };
  options: {
    users: number;
    trips: number;
    seed: number;
    /** The simulated time ends here, in epoch milliseconds. */
    now: number;
    /** Another number gives everything other ids, because the events of a company that was removed still have theirs. */
    idSeed?: number;
  };
  /** The people who can travel, with the titles of their policies. */
  travelers: { user: StoredResource; home: City; policy: string }[];
  start(process: Process): void;
  /** Called once for each person who is hired and each trip that is searched. */
  progress(): void;
  /** Ids of some resources. The command line uses them to print example requests. */
  examples: { tripProjectId?: string; invoiceId?: string };
}

/** A process of the simulation, of a person, a trip or an invoice: it yields the times, in epoch milliseconds, at which it goes on. */
export type Process = AsyncGenerator<number, void, void>;

/** An hour and a day, in milliseconds. */
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** The simulated time, in milliseconds: twelve months of trips, and some weeks before them to set the account up. */
export const LENGTH = 395 * DAY;

/** Runs processes in order of time. */
export class Schedule {
  /** The latest first, so that the earliest is taken from the end. */
  readonly #entries: { time: number; process: Process }[] = [];
  readonly #end: number;
  /** The simulated time. */
  now: number;

  constructor(end: number) {
    this.#end = end;
    this.now = end - LENGTH;
  }

  /** Adds a process that goes on at a time, by default now. One that would go on at the end or later is dropped. */
  add(process: Process, time = this.now): void {
    if (time >= this.#end) return;
    const index = this.#entries.findLastIndex((later) => later.time > time) + 1;
    this.#entries.splice(index, 0, { time, process });
  }

  /** Runs the earliest process until it yields. Returns false if there is none. */
  async runNext(): Promise<boolean> {
    const next = this.#entries.pop();
    if (!next) return false;
    this.now = next.time;
    const { value, done } = await next.process.next();
    if (!done) this.add(next.process, value);
    return true;
  }
}

/** Loads random generators, by a dynamic import: Faker's lists of names are large, and no other command needs them. */
export async function loadGenerators(seed: number, idSeed = 1) {
  const { Faker, base, de, en, en_GB, es, fr, it, sv } = await import('@faker-js/faker');
  const seeded = (purpose: number[], ...locales: (typeof en)[]) => {
    const faker = new Faker({ locale: [...locales, en, base] });
    faker.seed([seed, ...purpose]);
    return faker;
  };
  const random = seeded([1]);
  const byCountry = new Map<string, Faker>();
  for (const [country, locale] of Object.entries({ DE: de, ES: es, FR: fr, GB: en_GB, IT: it, SE: sv }))
    byCountry.set(country, seeded([0, byCountry.size], locale));
  return {
    ...{ random, ids: seeded([2, idSeed]) },
    draw: <Name extends string>(weights: Record<Name, number>) => {
      const names = Object.keys(weights) as Name[]; // A record has no other keys.
      return random.helpers.weightedArrayElement(names.map((value) => ({ value, weight: weights[value] })));
    },
    localNames: (country: string) => byCountry.get(country) ?? random,
  };
}

/**
 * Creates ids that begin with the simulated time (form A: 24 hexadecimal characters, form B: a UUID of version 7). What is
 * created together then stands together in every index, so that inserts stay fast.
 */
export function idGenerator(random: Faker, now: () => number): (form: 'A' | 'B') => string {
  return (form) => {
    if (form === 'B') return random.string.uuid({ version: 7, refDate: now() });
    const seconds = Math.floor(now() / 1000).toString(16);
    return seconds.padStart(8, '0') + random.string.hexadecimal({ length: 16, casing: 'lower', prefix: '' });
  };
}

/** Returns a random time after now, between two delays in milliseconds. */
export function later({ now, random }: Pick<Simulation, 'now' | 'random'>, from: number, to: number): number {
  return now() + random.number.int({ min: from, max: to });
}
