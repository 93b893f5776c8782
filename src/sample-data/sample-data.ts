import { foldCase } from '../schema/case-fold.ts';
import { ensureFirstAdmin } from '../travel/api-keys.ts';
import { createRecorder } from '../travel/changes.ts';
import { stringMember } from '../travel/json.ts';
import type { TravelReader, TravelStore } from '../travel/ports.ts';
import { MANDATORY_INDEX } from '../travel/resources/custom-field.ts';
import { DEFAULT_POLICY_INDEX } from '../travel/resources/travel-policy.ts';
import { Batch, SampleDataRefused } from './batch.ts';
import { billBranches } from './billing.ts';
import { companyIdentity, createCompany } from './company.ts';
import { EmailAddresses, type Examples, type SimulationContext, Travelers } from './context.ts';
import { Ledger } from './ledger.ts';
import { hirePeople } from './people.ts';
import {
  DAY,
  idGenerator,
  LENGTH,
  loadGenerators,
  Schedule,
  type SimulationOptions,
  type Story,
} from './simulation.ts';
import { startTrips } from './trips.ts';

export { SampleDataRefused } from './batch.ts';

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

/**
 * Creates a company that has used the travel service for thirteen months. All events happen in order of time, by the rules of
 * the service's billing. The same options create the same data, ids included. Throws a `SampleDataRefused` if the company
 * exists already or a custom field is mandatory.
 */
export async function createSampleData(
  { store, pause, progress }: SampleDataDeps,
  options: SimulationOptions,
): Promise<SampleCompany> {
  await refuseUnsuitableAccount(store, options);
  const generators = await loadGenerators(options.seed);
  const clock = { time: options.now - LENGTH };
  const now = () => clock.time;
  const time = { now, newId: idGenerator(generators.forPurpose(options.idSeed ?? 1), now) };
  await ensureFirstAdmin({ store, ...time });
  const batch = new Batch(store);
  const recorder = createRecorder(batch.transaction, time);
  const policies = await store.find({ type: 'travelPolicy', ...defaultPolicy, limit: 1 });
  const company = await createCompany(recorder, { ...options, hasDefaultPolicy: policies.length > 0 });
  const desk = { ...time, recorder, ledger: new Ledger({ ...time, recorder }) };
  const { examples, schedule } = startStories({ ...desk, options, generators, company, progress });
  for (let limit = await pause(); ; ) {
    const next = schedule.next();
    if (!next || batch.size >= limit) {
      await batch.store();
      // Nobody is notified of each of the changes: their list would only grow.
      recorder.changed.length = 0;
      limit = await pause();
    }
    if (!next) return { ...examples, company: company.name, domain: company.domain, counts: batch.created };
    clock.time = next.time;
    const { value, done } = await next.work.next();
    if (!done) schedule.add(value, next.work);
  }
}

const defaultPolicy = { name: DEFAULT_POLICY_INDEX.name, values: [DEFAULT_POLICY_INDEX.value] };

type CommonContext = Omit<SimulationContext, 'addresses' | 'examples' | 'random' | 'schedule' | 'travelers'>;

/** Begins with people, trips and billing, each with a random generator of its own, on one schedule. */
function startStories(common: CommonContext): Pick<SimulationContext, 'examples' | 'schedule'> {
  const { generators, now, options } = common;
  const schedule = new Schedule<Story>(options.now);
  const context = {
    ...common,
    addresses: new EmailAddresses(),
    examples: {},
    schedule,
    travelers: new Travelers(),
  };
  for (const [position, begin] of [hirePeople, startTrips, billBranches].entries())
    schedule.add(now(), begin({ ...context, random: generators.forPurpose(3 + position) }));
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
