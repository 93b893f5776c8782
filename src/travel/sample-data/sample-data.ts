import { foldCase } from '../../schema/fold.ts';
import { storiesWithin } from '../back-office/back-office.ts';
import { OFFICE_TYPES } from '../back-office/desk.ts';
import { ensureFirstAdmin } from '../first-admin.ts';
import { textOf } from '../json.ts';
import type { TravelStore } from '../ports.ts';
import { recorder } from '../record.ts';
import { MANDATORY } from '../resources/custom-field.ts';
import { Addresses } from './addresses.ts';
import { Agenda } from './agenda.ts';
import { planBilling } from './billing.ts';
import { found } from './company.ts';
import { type Dice, diceOf } from './dice.ts';
import { identifiers } from './identifiers.ts';
import { identityOf } from './identity.ts';
import { loadNames } from './names.ts';
import { planPeople } from './people.ts';
import { type Happening, LENGTH, type Scene, type Wish } from './scene.ts';
import type { Chapter, Examples } from './story.ts';
import { counting, remembering, type Tally } from './tally.ts';
import { Travelers } from './travelers.ts';
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
  ...OFFICE_TYPES,
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
  const transaction = <T>(work: (scene: Scene) => Promise<T>) =>
    store.write(TYPES, (within) => {
      const recording = recorder(remembering(counting(within, tally)), time);
      return work({ recorder: recording, stories: storiesWithin(recording, time), ...time });
    });
  const company = await transaction((scene) => found(scene, wish));
  const story = plan({ wish, names, company, now: time.now, progress: ground.progress }, dice);
  for (let more = true; more; ) {
    const writes = await pause();
    more = await transaction(async (scene) => {
      for (const end = tally.total + writes; tally.total < end; ) {
        const next = story.agenda.next();
        if (!next) return false;
        clock.time = next.time;
        await next.work(scene);
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
    ...{ type: 'customField', name: MANDATORY },
    ...{ values: ['user', 'tripProject'], limit: 1 },
  });
  if (!field) return;
  throw new SampleDataRefused(
    `The custom field "${textOf(field.doc, 'name')}" is mandatory, and sample data has nothing for it.`,
  );
}
