import type { Addresses } from './addresses.ts';
import type { Agenda } from './agenda.ts';
import type { Company } from './company.ts';
import type { Dice } from './dice.ts';
import type { Names } from './names.ts';
import type { Happening, Wish } from './scene.ts';
import type { Travelers } from './travelers.ts';

/** A part of the story. It has dice of its own, so that more of one part leaves the others as they are. */
export interface Chapter {
  dice: Dice;
  wish: Wish;
  names: Names;
  company: Company;
  addresses: Addresses;
  travelers: Travelers;
  agenda: Agenda<Happening>;
  /** The time in the story, in epoch milliseconds. */
  now(): number;
  /** Told with every person who comes, and every trip that is looked for. */
  progress(): void;
  /** Refunds that wait until their invoice is paid, by its id. */
  delayed: Map<string, string[]>;
  examples: Examples;
}

/** What is of interest afterwards. */
export interface Examples {
  tripProjectId?: string;
  invoiceId?: string;
}
