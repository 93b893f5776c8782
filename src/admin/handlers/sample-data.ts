import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { companyIdentity } from '../../sample-data/company.ts';
import { removeSampleData } from '../../sample-data/removal.ts';
import {
  createSampleData,
  endOfSimulation,
  isCompanyPresent,
  SAMPLE_COMPANY,
  SampleDataRefused,
} from '../../sample-data/sample-data.ts';
import type { TravelDeps } from '../../travel/collection.ts';
import type { Handlers } from '../contract/operation.ts';
import type { travelDataContract } from '../contract/travel-data.ts';
import { AdminError } from '../errors.ts';
import type { AdminContext } from '../router.ts';

/** The writes of one transaction: few, because other requests wait for it on SQLite. */
const WRITES = 50;

const MAX_ID_SEED = 2 ** 31;

/**
 * Handles the company that the command `sample-data` creates without options. It is either created or removed at a time in this
 * process; of two replicas that create it at once, one is refused by the store.
 */
export function sampleDataHandlers(travel: () => TravelDeps) {
  let isRunning = false;
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isRunning)
      throw new AdminError('conflict', `${company} is being created or removed. Wait until that ends.`);
    isRunning = true;
    try {
      return await work();
    } finally {
      isRunning = false;
    }
  };
  return {
    describeSampleData: async () => ({
      ...{ company, domain, users, trips },
      isPresent: await isCompanyPresent(travel().store, seed),
    }),
    createSampleData: async (_request, { note }) => {
      const created = await alone(() => createCompany(travel()));
      note({ company, created });
      return { company, created };
    },
    removeSampleData: async (_request, { note }) => {
      const removal = await alone(() => removeCompany(travel()));
      note({ company, ...removal });
      return { company, ...removal };
    },
  } satisfies Partial<Handlers<typeof travelDataContract, AdminContext>>;
}

const { users, trips, seed } = SAMPLE_COMPANY;
const { name: company, domain } = companyIdentity(seed);

/** Returns the number of created resources by type. */
async function createCompany({ store, now, onChange }: TravelDeps): Promise<Record<string, number>> {
  if (await isCompanyPresent(store, seed))
    throw new AdminError('conflict', `${company} is in the travel service already.`);
  const pause = async () => {
    await setImmediate();
    return WRITES;
  };
  const options = { users, trips, seed, now: endOfSimulation(now()), idSeed: randomInt(MAX_ID_SEED) };
  const { counts } = await createSampleData({ store, pause, progress: () => {} }, options).catch(
    throwRefusal,
  );
  for (const type of counts.keys()) onChange(type, '');
  return Object.fromEntries(counts);
}

function throwRefusal(error: unknown): never {
  throw error instanceof SampleDataRefused ? new AdminError('conflict', error.message) : error;
}

/** Returns the numbers of removed resources, and of those to which others refer, by type. */
async function removeCompany({ store, now, newId, onChange }: TravelDeps) {
  const { removed, kept } = await removeSampleData({ store, now, newId, pause: () => setImmediate() }, seed);
  if (removed.size + kept.size === 0)
    throw new AdminError('notFound', `${company} is not in the travel service.`);
  for (const type of removed.keys()) onChange(type, '');
  return { removed: Object.fromEntries(removed), kept: Object.fromEntries(kept) };
}
