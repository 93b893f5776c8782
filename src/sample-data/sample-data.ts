import { foldCase } from '../schema/case-fold.ts';
import { ensureFirstAdmin } from '../travel/api-keys.ts';
import { createBookingService } from '../travel/booking/booking-service.ts';
import { BOOKING_TYPES } from '../travel/booking/context.ts';
import { createRecorder } from '../travel/changes.ts';
import { stringMember } from '../travel/json.ts';
import type { ResourceRef, StoredResource, TravelStore, TravelTransaction } from '../travel/ports.ts';
import { MANDATORY_INDEX } from '../travel/resources/custom-field.ts';
import { planBilling } from './billing.ts';
import { found, identityOf } from './company.ts';
import {
  type Context,
  type Dice,
  diceOf,
  type Happening,
  identifiers,
  LENGTH,
  type Wish,
} from './context.ts';
import { planPeople } from './people.ts';
import { loadNames } from './places.ts';
import { Addresses, Agenda, type Chapter, type Examples, Travelers } from './simulation.ts';
import { planTrips } from './trips.ts';

/** What the sample data is made in. */
export interface Ground {
  store: TravelStore;
  /** Lets others write, and answers how many resources and events may be written before they are let again. */
  pause(): Promise<number>;
  /** Told with every person who comes, and every trip that is looked for. */
  progress(): void;
}

/** What came of it. */
export interface Made extends Examples {
  company: string;
  domain: string;
  /** How many resources there are of each type. */
  counts: Map<string, number>;
}

/** Sample data cannot be made here; the message tells an operator why. */
export class SampleDataRefused extends Error {}

const TYPES = [
  ...[
    'billingProfile',
    'costCenter',
    'customField',
    'customFieldOption',
    'projectCode',
    'travelPolicy',
    'user',
  ],
  ...BOOKING_TYPES,
];

/**
 * Makes a company that has used the travel service for thirteen months: all that happened in it, in order of time, by the
 * back office and with every event. The same wish makes the same company, to the last id.
 */
export async function makeSampleData(ground: Ground, wish: Wish): Promise<Made> {
  const { store, pause } = ground;
  await refuseUnfit(store, wish);
  const names = await loadNames(wish.seed);
  const dice = (purpose: number) => diceOf(names.source(purpose));
  const clock = { time: wish.now - LENGTH };
  const time = { now: () => clock.time, newId: identifiers(dice(1), () => clock.time) };
  await ensureFirstAdmin({ store, ...time });
  const tally: Tally = { counts: new Map(), total: 0 };
  const transaction = <T>(work: (context: Context) => Promise<T>) =>
    store.write(TYPES, (within) => {
      const recording = createRecorder(remembering(counting(within, tally)), time);
      return work({ recorder: recording, stories: createBookingService(recording, time), ...time });
    });
  const company = await transaction((context) => found(context, wish));
  const story = plan({ wish, names, company, now: time.now, progress: ground.progress }, dice);
  for (let more = true; more; ) {
    const writes = await pause();
    more = await transaction(async (context) => {
      for (const end = tally.total + writes; tally.total < end; ) {
        const next = story.agenda.next();
        if (!next) return false;
        clock.time = next.time;
        await next.work(context);
      }
      return true;
    });
  }
  return { ...story.examples, company: company.name, domain: company.domain, counts: tally.counts };
}

type Beginning = Pick<Chapter, 'wish' | 'names' | 'company' | 'now' | 'progress'>;

/** The chapters of the story, each with dice of its own, on one agenda. */
function plan(beginning: Beginning, dice: (purpose: number) => Dice) {
  const examples: Examples = {};
  const telling = {
    ...beginning,
    addresses: new Addresses(),
    agenda: new Agenda<Happening>(beginning.wish.now),
    delayed: new Map<string, string[]>(),
    examples,
    travelers: new Travelers(dice(2)),
  };
  planPeople({ ...telling, dice: dice(3) });
  planTrips({ ...telling, dice: dice(4) });
  planBilling({ ...telling, dice: dice(5) });
  return telling;
}

/** What exists stays as it is, and what an admin demands of people and trips is not known here. */
async function refuseUnfit(store: TravelStore, { seed }: Wish): Promise<void> {
  const { domain, name } = identityOf(seed);
  const match = { type: 'billingProfile', limit: 1, name: 'name', values: [foldCase(`${name} France`)] };
  if ((await store.find(match)).length > 0) {
    throw new SampleDataRefused(
      `${name} (${domain}) is here already, perhaps of a run that was ended early: choose another --seed.`,
    );
  }
  const [field] = await store.find({
    ...{ type: 'customField', name: MANDATORY_INDEX },
    ...{ values: ['user', 'tripProject'], limit: 1 },
  });
  if (!field) return;
  throw new SampleDataRefused(
    `The custom field "${stringMember(field.doc, 'name')}" is mandatory, and sample data has nothing for it.`,
  );
}

/** How much was written. */
export interface Tally {
  /** How many resources were made, of each type. */
  counts: Map<string, number>;
  /** Changes count, too. */
  total: number;
}

/** The same, with every resource counted that comes, and every change. */
export function counting(within: TravelTransaction, tally: Tally): TravelTransaction {
  const made = (type: string) => {
    tally.counts.set(type, (tally.counts.get(type) ?? 0) + 1);
    tally.total += 1;
  };
  return {
    ...within,
    insert: (resource, keys) => {
      made(resource.type);
      return within.insert(resource, keys);
    },
    append: (resource, topic) => {
      made(resource.type);
      return within.append(resource, topic);
    },
    replace: (resource, keys) => {
      tally.total += 1;
      return within.replace(resource, keys);
    },
  };
}

/** The furniture of the account, which is read for every event, and which no story changes. */
const FURNITURE = ['customField', 'customFieldOption'];

/** The same, reading the furniture once. It must not outlive its transaction, which has the turns of these types. */
export function remembering(within: TravelTransaction): TravelTransaction {
  const known = new Map<string, StoredResource>();
  const key = ({ type, id }: ResourceRef) => `${type} ${id}`;
  return {
    ...within,
    read: async (refs) => {
      const names = new Set(refs.map(key));
      const unknown = refs.filter((ref) => !known.has(key(ref)));
      const found = unknown.length === 0 ? [] : await within.read(unknown);
      const remembered = [...names].flatMap((name) => known.get(name) ?? []);
      for (const one of found) if (FURNITURE.includes(one.type)) known.set(key(one), one);
      return [...remembered, ...found];
    },
  };
}
