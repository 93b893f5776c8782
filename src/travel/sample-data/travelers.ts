import type { Dice } from './dice.ts';
import { DAY } from './scene.ts';

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
