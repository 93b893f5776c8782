import { foldCase } from '../schema/case-fold.ts';
import { ensureFirstAdmin } from '../travel/authentication/api-keys.ts';
import { createRecorder } from '../travel/changes.ts';
import { stringMember } from '../travel/json.ts';
import type * as ports from '../travel/ports.ts';
import { MANDATORY_INDEX } from '../travel/resources/custom-field.ts';
import { DEFAULT_POLICY_INDEX } from '../travel/resources/travel-policy.ts';
import { billBranches } from './billing.ts';
import { companyIdentity, createCompany, hirePeople } from './company.ts';
import { DAY, idGenerator, loadGenerators, Schedule, type Simulation } from './simulation.ts';
import { startTrips } from './trips.ts';

/** The company that is created unless another one is asked for. */
export const SAMPLE_COMPANY = { users: 200, trips: 500, seed: 1 };

/** The end of the simulated time unless another one is asked for: the beginning of the day, UTC. Times are in epoch milliseconds. */
export function endOfSimulation(now: number): number {
  return Math.floor(now / DAY) * DAY;
}

/** The store that receives the sample data, and the callbacks while it is written. */
export interface SampleDataDeps extends Pick<Simulation, 'progress'> {
  store: ports.TravelStore;
  /** Called before each transaction; it can wait, so that a server can write. Returns the number of writes for the next one. */
  pause(): Promise<number>;
}

/** A company that was created, with the number of its resources by type, and the ids of some to look at first. */
export type SampleCompany = Simulation['examples'] &
  Record<'company' | 'domain', string> & { counts: Map<string, number> };

/**
 * Creates a company that has used the travel service for thirteen months. All events happen in order of time, by the rules of
 * the service's billing. The same options create the same data, ids included. Throws a `SampleDataRefused` if the company
 * exists already or a custom field is mandatory.
 */
export async function createSampleData(
  { store, pause, progress }: SampleDataDeps,
  options: Simulation['options'],
): Promise<SampleCompany> {
  await refuseUnsuitableAccount(store, options.seed);
  const generators = await loadGenerators(options.seed, options.idSeed);
  const schedule = new Schedule(options.now);
  const now = () => schedule.now;
  const time = { now, newId: idGenerator(generators.ids, now) };
  await ensureFirstAdmin({ store, ...time });
  const batch = new Batch(store);
  const recorder = createRecorder(batch.transaction, time);
  const { name, value } = DEFAULT_POLICY_INDEX;
  const policies = await store.find({ type: 'travelPolicy', name, values: [value], limit: 1 });
  const company = await createCompany(recorder, { ...options, hasDefaultPolicy: policies.length > 0 });
  const simulation: Simulation = {
    ...{ ...time, ...generators, company, options, progress, recorder },
    ...{ examples: {}, travelers: [], uninvoiced: new Set(), start: (process) => schedule.add(process) },
  };
  for (const begin of [hirePeople, startTrips, billBranches]) schedule.add(begin(simulation));
  for (let isOver = false; !isOver; ) {
    const limit = await pause();
    while (!isOver && batch.size < limit) isOver = !(await schedule.runNext());
    await batch.store();
    // Nobody is notified of each of the changes: their list would only grow.
    recorder.changed.length = 0;
  }
  return { ...simulation.examples, company: company.name, domain: company.domain, counts: batch.created };
}

/** Throws if the company is there: existing resources must not change. Mandatory fields have no values in sample data. */
async function refuseUnsuitableAccount(store: ports.TravelStore, seed: number): Promise<void> {
  const { domain, name } = companyIdentity(seed);
  if (await isCompanyPresent(store, seed)) {
    throw new SampleDataRefused(
      `${name} (${domain}) is here already, perhaps of a run that was ended early: choose another --seed.`,
    );
  }
  const mandatory = { type: 'customField', name: MANDATORY_INDEX, values: ['user', 'tripProject'], limit: 1 };
  for (const { doc } of await store.find(mandatory))
    throw new SampleDataRefused(
      `The custom field "${stringMember(doc, 'name')}" is mandatory, and sample data has nothing for it.`,
    );
}

/** Returns true if the account has the company of a seed, perhaps of a run that was ended early. */
export async function isCompanyPresent(store: ports.TravelReader, seed: number): Promise<boolean> {
  const values = [foldCase(`${companyIdentity(seed).name} Paris`)];
  return (await store.find({ type: 'billingProfile', limit: 1, name: 'name', values })).length > 0;
}

/** The types from which the responses of other resources are derived. They are few, and stay in memory. */
const READ_TYPES = ['customField', 'customFieldOption', 'invoice', 'refund', 'dispute'];

/** Thrown if sample data cannot be created in this account. The message tells the operator why. */
export class SampleDataRefused extends Error {}

type Write = (within: ports.TravelTransaction) => Promise<{ taken: string } | undefined>;

/** Collects writes and stores them in few transactions. The store may run one again, because the writes are data. */
class Batch {
  readonly #store: ports.TravelStore;
  readonly #known = new Map<string, ports.StoredResource>();
  readonly #writes: { type: string; write: Write }[] = [];
  /** The number of resources and events that were created, by type. */
  readonly created = new Map<string, number>();

  constructor(store: ports.TravelStore) {
    this.#store = store;
  }

  get size(): number {
    return this.#writes.length;
  }

  /** The transaction into which a recorder writes. It finds only what the responses of the company's resources need. */
  readonly transaction: ports.TravelTransaction = {
    read: async (refs) => refs.flatMap((ref) => this.#known.get(keyOf(ref)) ?? []),
    insert: async (resource, keys) => this.#add(resource, (within) => within.insert(resource, keys), 1),
    replace: async (resource, keys, before) =>
      this.#add(resource, (within) => within.replace(resource, keys, before), 0),
    append: (event, topic) =>
      this.#add(event, (within) => Promise.resolve(void within.append(event, topic)), 1),
    ...{ find: unsupported, lock: unsupported, remove: unsupported },
    ...{
      saveSecret: unsupported,
      isReferenced: unsupported,
      keepAnswer: unsupported,
      forgetAnswers: unsupported,
    },
  };

  /** Stores everything in one transaction. Throws a `SampleDataRefused` if a name of the company is taken. */
  async store(): Promise<void> {
    const writes = this.#writes.splice(0);
    await this.#store.write([], async (within) => {
      for (const { type, write } of writes) {
        const clash = await write(within);
        if (clash) throw new SampleDataRefused(`There is a ${type} with this ${clash.taken} already.`);
      }
    });
  }

  #add(resource: ports.StoredResource, write: Write, created: 0 | 1): undefined {
    const { type, id, parentId, createdAt, doc } = resource;
    this.#writes.push({ type, write });
    this.created.set(type, (this.created.get(type) ?? 0) + created);
    // A copy without other members: the ledger's entries refer to further resources, which would stay in memory too.
    if (READ_TYPES.includes(type)) this.#known.set(keyOf(resource), { type, id, parentId, createdAt, doc });
  }
}

function keyOf({ type, id }: ports.ResourceRef): string {
  return `${type} ${id}`;
}

function unsupported(): Promise<never> {
  return Promise.reject(new Error('the generator only inserts, changes and appends'));
}
