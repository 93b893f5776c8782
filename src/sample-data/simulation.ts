import type { Company } from './company.ts';
import { DAY, type Dice, type Happening, type Wish } from './context.ts';
import type { Names } from './places.ts';

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

/** Something that happens at its time. */
interface Entry<T> {
  time: number;
  /** What was planned earlier happens earlier at the same time. */
  number: number;
  work: T;
}

/** What is planned, in order of time: a heap, as much is planned and the next is all that is asked for. */
export class Agenda<T> {
  readonly #heap: Entry<T>[] = [];
  readonly #end: number;
  #planned = 0;

  /** What would be at `end` or later never happens. */
  constructor(end: number) {
    this.#end = end;
  }

  /** Plans something for a time. */
  add(time: number, work: T): void {
    if (time >= this.#end) return;
    this.#planned += 1;
    this.#heap.push({ time, number: this.#planned, work });
    this.#rise(this.#heap.length - 1);
  }

  /** Takes what comes next off the agenda. */
  next(): { time: number; work: T } | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first && last && first !== last) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!this.#isBefore(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const least = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(least, at)) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (!a || !b) return a !== undefined;
    return a.time < b.time || (a.time === b.time && a.number < b.number);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a && b) [this.#heap[one], this.#heap[other]] = [b, a];
  }
}

/** Two million names tell one another apart by so many bits well enough, and these are all that is kept of them. */
const BITS = 1 << 24;

/** The local parts of a company's addresses, none twice, however many there are. */
export class Addresses {
  readonly #taken = new Uint8Array(BITS / 8);

  /** The address of somebody; their number, which is theirs alone, comes into it when another may have the name. */
  take(firstName: string, lastName: string, number: number): string {
    const name = [plain(firstName), plain(lastName)].filter(Boolean).join('.');
    return this.#claim(name) && name !== '' ? name : `${name}${number + 1}`;
  }

  #claim(name: string): boolean {
    let hash = 0x811c9dc5;
    // FNV-1a. A name that is free may seem to be taken, never the other way round.
    for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    const bit = (hash >>> 0) % BITS;
    const byte = this.#taken[bit >> 3] ?? 0;
    this.#taken[bit >> 3] = byte | (1 << (bit & 7));
    return (byte & (1 << (bit & 7))) === 0;
  }
}

/** Letters that are more than one with a sign on it. */
const spelled = new Map(
  Object.entries({ æ: 'ae', ø: 'o', œ: 'oe', ß: 'ss', ł: 'l', đ: 'd', ä: 'ae', ö: 'oe', ü: 'ue' }),
);

/** A name in the letters that every mail server takes; words are joined by hyphens. */
function plain(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFC')
    .replace(/./gu, (letter) => spelled.get(letter) ?? letter)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

/** Somebody who travels, as far as their trips need it. */
export interface Traveler {
  id: string;
  /** The place of their country in the company's list. */
  branch: number;
  city: string;
  /** When they leave the company, in epoch milliseconds; undefined: they stay. */
  leavesAt: number | undefined;
}

/** Of a million people not all are remembered: so many travel. */
const REMEMBERED = 4_000;
/** Who leaves within this time does not begin a trip any more. */
const NOTICE = 150 * DAY;

/** A fair choice of the people of a company, in little memory. */
export class Travelers {
  readonly #all: Traveler[] = [];
  readonly #dice: Dice;
  #came = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** Somebody comes, and takes another's place where there are too many. */
  add(traveler: Traveler): void {
    this.#came += 1;
    const place = this.#came <= REMEMBERED ? this.#all.length : this.#dice.between(0, this.#came - 1);
    if (place < REMEMBERED) this.#all[place] = traveler;
  }

  /** One to `count` people who travel together at a time: colleagues of one country, who stay long enough. */
  party(dice: Dice, time: number, count: number): Traveler[] {
    const party: Traveler[] = [];
    for (let tries = 0; tries < 20 * count && party.length < count; tries += 1) {
      const candidate = dice.of(this.#all);
      const [first = candidate] = party;
      const isFree = candidate.leavesAt === undefined || candidate.leavesAt > time + NOTICE;
      if (isFree && candidate.branch === first.branch && !party.includes(candidate)) party.push(candidate);
    }
    return party;
  }
}
