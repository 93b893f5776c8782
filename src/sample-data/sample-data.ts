import { foldCase } from '../schema/case-fold.ts';
import { ensureFirstAdmin } from '../travel/api-keys.ts';
import { createBookingService } from '../travel/booking/booking-service.ts';
import { BOOKING_TYPES } from '../travel/booking/context.ts';
import { createRecorder } from '../travel/changes.ts';
import { stringMember } from '../travel/json.ts';
import type { TravelReader, TravelStore, TravelTransaction } from '../travel/ports.ts';
import { MANDATORY_INDEX } from '../travel/resources/custom-field.ts';
import { scheduleBilling } from './billing.ts';
import { companyIdentity, createCompany } from './company.ts';
import { EmailAddresses, type Examples, type SimulationContext, TravelerSample } from './context.ts';
import { schedulePeople } from './people.ts';
import {
  DAY,
  idGenerator,
  LENGTH,
  loadGenerators,
  Schedule,
  type ScheduledAction,
  type SimulationOptions,
  type Transaction,
} from './simulation.ts';
import { scheduleTrips } from './trips.ts';

/** The company that is created unless another one is asked for. */
export const SAMPLE_COMPANY = { users: 200, trips: 500, seed: 1 };

/** The end of the simulated time unless another one is asked for: the beginning of the day, UTC. Times are in epoch milliseconds. */
export function endOfSimulation(now: number): number {
  return Math.floor(now / DAY) * DAY;
}

/** The store that receives the sample data, and the callbacks while it is written. */
export interface SampleDataDeps {
  store: TravelStore;
  /**
   * Called before each transaction; it can wait, so that a server can write. It returns the number of writes for the
   * next transaction.
   */
  pause(): Promise<number>;
  /** Called once for each person who is hired and each trip that is searched. */
  progress(): void;
}

/** A company that was created, and examples of its resources. */
export interface SampleCompany extends Examples {
  company: string;
  domain: string;
  /** The number of resources of each type. */
  counts: Map<string, number>;
}

/** Thrown if sample data cannot be created in this account. The message tells the operator why. */
export class SampleDataRefused extends Error {}

/** The types that a transaction locks: everything that the simulation writes. */
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
 * Creates a company that has used the travel service for thirteen months. All events happen in order of time, through the same
 * booking code as in the service. The same options create the same data, ids included. Throws a `SampleDataRefused` if the
 * company exists already or a custom field is mandatory.
 */
export async function createSampleData(
  deps: SampleDataDeps,
  options: SimulationOptions,
): Promise<SampleCompany> {
  const { store, pause, progress } = deps;
  await refuseUnsuitableAccount(store, options);
  const generators = await loadGenerators(options.seed);
  const clock = { time: options.now - LENGTH };
  const now = () => clock.time;
  const time = { now, newId: idGenerator(generators.forPurpose(options.idSeed ?? 1), now) };
  await ensureFirstAdmin({ store, ...time });
  const writes: WriteCount = { created: new Map(), total: 0 };
  const inTransaction = <T>(work: (transaction: Transaction) => Promise<T>) =>
    store.write(
      TYPES,
      simulateOnce(writes, (within) => {
        const recorder = createRecorder(within, time);
        return work({ recorder, booking: createBookingService(recorder, time) });
      }),
    );
  const company = await inTransaction((transaction) => createCompany(transaction, options));
  const { examples, schedule } = scheduleAll({ options, generators, company, now, progress });
  for (let isRunning = true; isRunning; ) {
    const limit = await pause();
    isRunning = await inTransaction(async (transaction) => {
      for (const end = writes.total + limit; writes.total < end; ) {
        const next = schedule.next();
        if (!next) return false;
        clock.time = next.time;
        await next.work(transaction);
      }
      return true;
    });
  }
  return { ...examples, company: company.name, domain: company.domain, counts: writes.created };
}

type CommonContext = Pick<SimulationContext, 'options' | 'generators' | 'company' | 'now' | 'progress'>;

/** Schedules people, trips and billing, each with a random generator of its own, on one schedule. */
function scheduleAll(common: CommonContext): Pick<SimulationContext, 'examples' | 'schedule'> {
  const { forPurpose } = common.generators;
  const context = {
    ...common,
    addresses: new EmailAddresses(),
    delayedRefunds: new Map<string, string[]>(),
    examples: {},
    schedule: new Schedule<ScheduledAction>(common.options.now),
    travelers: new TravelerSample(forPurpose(2)),
  };
  schedulePeople({ ...context, random: forPurpose(3) });
  scheduleTrips({ ...context, random: forPurpose(4) });
  scheduleBilling({ ...context, random: forPurpose(5) });
  return context;
}

/**
 * Throws if the company already exists in the account or a custom field is mandatory: existing resources must not
 * change, and the simulation has no values for such a field.
 */
async function refuseUnsuitableAccount(store: TravelStore, { seed }: SimulationOptions): Promise<void> {
  const { domain, name } = companyIdentity(seed);
  if (await isCompanyPresent(store, seed)) {
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

/** Returns true if the account has the company of a seed, perhaps of a run that was ended early. */
export async function isCompanyPresent(store: TravelReader, seed: number): Promise<boolean> {
  const values = [foldCase(`${companyIdentity(seed).name} France`)];
  return (await store.find({ type: 'billingProfile', limit: 1, name: 'name', values })).length > 0;
}

/**
 * The store runs a work again if another transaction of the same commit fails, but the simulation cannot go back: its clock, its
 * random generators and its schedule have moved on. The second run therefore repeats the writes of the first.
 */
function simulateOnce<T>(
  count: WriteCount,
  work: (within: TravelTransaction) => Promise<T>,
): (within: TravelTransaction) => Promise<T> {
  const writes: RepeatedWrite[] = [];
  let run: { result?: T; isComplete: boolean } | undefined;
  return async (within) => {
    if (!run) {
      run = { isComplete: false };
      const result = await work(recordWrites(within, writes, count));
      run = { result, isComplete: true };
      return result;
    }
    for (const write of run.isComplete ? writes : []) if (await write(within)) run.isComplete = false;
    // Another transaction has taken the number or the name of one of these writes.
    if (!run.isComplete)
      throw new SampleDataRefused(
        'The travel service was changed at the same time. Remove the sample data, then create it again.',
      );
    return run.result as T; // The work is complete, so that its result is there.
  };
}

interface WriteCount {
  /** The number of resources and events that were created, by type. */
  created: Map<string, number>;
  /** The number of all writes, changes included. */
  total: number;
}

/** Returns true, or the name of a value that is taken, if the write is not possible any more. */
type RepeatedWrite = (within: TravelTransaction) => Promise<unknown>;

/** Wraps a transaction so that it remembers and counts its writes. */
function recordWrites(
  within: TravelTransaction,
  writes: RepeatedWrite[],
  count: WriteCount,
): TravelTransaction {
  const record = <T>(write: (transaction: TravelTransaction) => Promise<T>, created?: string): Promise<T> => {
    count.total += 1;
    if (created !== undefined) count.created.set(created, (count.created.get(created) ?? 0) + 1);
    writes.push(write);
    return write(within);
  };
  return {
    ...within,
    insert: (resource, keys) => record((transaction) => transaction.insert(resource, keys), resource.type),
    replace: (resource, keys, before) => record((transaction) => transaction.replace(resource, keys, before)),
    remove: (resource, keys) => record((transaction) => transaction.remove(resource, keys)),
    append: (resource, topic) => {
      void record(async (transaction) => transaction.append(resource, topic), resource.type);
    },
  };
}
