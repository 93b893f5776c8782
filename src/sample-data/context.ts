import type { Faker } from '@faker-js/faker';
import type { StoredResource } from '../travel/ports.ts';
import type { Desk } from './bookings.ts';
import type { Company, PolicyTitle } from './company.ts';
import type { Generators, Schedule, SimulationOptions, Story } from './simulation.ts';

/**
 * The data and functions for one part of the simulation (people, trips, billing). Each part has its own random
 * generator: a change in the number of trips does not change the people.
 */
export interface SimulationContext extends Desk {
  random: Faker;
  options: SimulationOptions;
  generators: Generators;
  company: Company;
  addresses: EmailAddresses;
  travelers: Travelers;
  schedule: Schedule<Story>;
  /** Called once for each person who is hired and each trip that is searched. */
  progress(): void;
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
  user: StoredResource;
  /** The index of the branch in the company's list. */
  branch: number;
  city: string;
  policy: PolicyTitle;
  /** The time at which the person leaves the company, in epoch milliseconds; undefined if the person stays. */
  leavesAt: number | undefined;
}

/** The number of people who travel. It limits the memory that a company of a million people needs. */
const MAX_TRAVELERS = 4_000;
/** A person who leaves the company within this time, in milliseconds, begins no further trip. */
const NOTICE = 150 * 86_400_000;

/** The people who travel: the first who are hired. */
export class Travelers {
  readonly #all: Traveler[] = [];

  add(traveler: Traveler): void {
    if (this.#all.length < MAX_TRAVELERS) this.#all.push(traveler);
  }

  /** Draws 1 to `count` people who travel together: colleagues of one branch who stay with the company long enough, as its head does. */
  drawParty(random: Faker, time: number, count: number): [Traveler, ...Traveler[]] {
    const draw = () => random.helpers.arrayElement(this.#all);
    const isStaying = ({ leavesAt }: Traveler) => leavesAt === undefined || leavesAt > time + NOTICE;
    let first = draw();
    while (!isStaying(first)) first = draw();
    const others = new Set<Traveler>();
    for (let tries = 0; tries < 20 * count && others.size + 1 < count; tries += 1) {
      const candidate = draw();
      if (isStaying(candidate) && candidate.branch === first.branch && candidate !== first)
        others.add(candidate);
    }
    return [first, ...others];
  }
}
