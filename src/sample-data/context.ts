import type { Faker } from '@faker-js/faker';
import type { Company } from './company.ts';
import {
  DAY,
  type Generators,
  type Schedule,
  type ScheduledAction,
  type SimulationOptions,
} from './simulation.ts';

/**
 * The data and functions for one part of the simulation (people, trips, billing). Each part has its own random
 * generator: a change in the number of trips does not change the people.
 */
export interface SimulationContext {
  random: Faker;
  options: SimulationOptions;
  generators: Generators;
  company: Company;
  addresses: EmailAddresses;
  travelers: TravelerSample;
  schedule: Schedule<ScheduledAction>;
  /** The simulated time, in epoch milliseconds. */
  now(): number;
  /** Called once for each person who is hired and each trip that is searched. */
  progress(): void;
  /** Ids of the refunds that wait until their invoice is paid, by invoice id. */
  delayedRefunds: Map<string, string[]>;
  examples: Examples;
}

/** Ids of some resources. The command line uses them to print example requests. */
export interface Examples {
  tripProjectId?: string;
  invoiceId?: string;
}

/** Makes unique local parts of email addresses. */
export class EmailAddresses {
  readonly #taken = new Set<string>();

  /** Returns `first.last`, with the person's number (which must be unique) appended if the name is taken. */
  take(firstName: string, lastName: string, number: number): string {
    const name = [toAscii(firstName), toAscii(lastName)].filter(Boolean).join('.');
    if (name === '' || this.#taken.has(name)) return `${name}${number + 1}`;
    this.#taken.add(name);
    return name;
  }
}

/** Letters that are not written in ASCII by just removing the accent, with their usual spelling. */
const spellings = new Map(
  Object.entries({ æ: 'ae', ø: 'o', œ: 'oe', ß: 'ss', ł: 'l', đ: 'd', ä: 'ae', ö: 'oe', ü: 'ue' }),
);

/** A name in lower-case ASCII, which every mail server accepts; hyphens join its words. */
function toAscii(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFC')
    .replace(/./gu, (letter) => spellings.get(letter) ?? letter)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

/** A person who can travel, with the data that trips need. */
export interface Traveler {
  id: string;
  /** The index of the branch in the company's list. */
  branch: number;
  city: string;
  /** The time at which the person leaves the company, in epoch milliseconds; undefined if the person stays. */
  leavesAt: number | undefined;
}

/** Maximum number of people who travel. It limits the memory that a company of a million people needs. */
const SAMPLE_SIZE = 4_000;
/** A person who leaves the company within this time, in milliseconds, begins no further trip. */
const NOTICE = 150 * DAY;

/** A uniform random sample of the people, of limited size (reservoir sampling). */
export class TravelerSample {
  readonly #sample: Traveler[] = [];
  readonly #random: Faker;
  #added = 0;

  constructor(random: Faker) {
    this.#random = random;
  }

  /** Adds a person. Once the sample is full, the person replaces a random one, or is left out. */
  add(traveler: Traveler): void {
    this.#added += 1;
    const index =
      this.#added <= SAMPLE_SIZE
        ? this.#sample.length
        : this.#random.number.int({ min: 0, max: this.#added - 1 });
    if (index < SAMPLE_SIZE) this.#sample[index] = traveler;
  }

  /** Draws 1 to `count` people who travel together: colleagues of one branch who stay with the company long enough. */
  drawParty(random: Faker, time: number, count: number): Traveler[] {
    const party: Traveler[] = [];
    for (let tries = 0; tries < 20 * count && party.length < count; tries += 1) {
      const candidate = random.helpers.arrayElement(this.#sample);
      const [first = candidate] = party;
      const isStaying = candidate.leavesAt === undefined || candidate.leavesAt > time + NOTICE;
      if (isStaying && candidate.branch === first.branch && !party.includes(candidate)) party.push(candidate);
    }
    return party;
  }
}
