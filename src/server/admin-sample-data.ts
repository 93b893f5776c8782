import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { AdminError } from '../admin/errors.ts';
import type { TravelData } from '../admin/handlers/travel-data.ts';
import { companyIdentity } from '../sample-data/company.ts';
import { removeSampleData } from '../sample-data/removal.ts';
import {
  createSampleData,
  endOfSimulation,
  isCompanyPresent,
  SAMPLE_COMPANY,
  SampleDataRefused,
} from '../sample-data/sample-data.ts';
import { withAdminErrors } from './admin-travel.ts';
import type { EmbeddedTravel } from './embedded.ts';

/** The writes of one transaction: few, because other requests wait for it on SQLite. */
const WRITES = 50;

const MAX_ID_SEED = 2 ** 31;

/**
 * Creates and removes the company that the command `sample-data` creates without options. Only one of both runs at a time in
 * this process; of two replicas that create it at once, one is refused by the store.
 */
export function sampleDataParts({
  store,
  now,
  newId,
  onChange,
}: EmbeddedTravel['travel']): TravelData['sampleData'] {
  const { users, trips, seed } = SAMPLE_COMPANY;
  const { name: company, domain } = companyIdentity(seed);
  let isRunning = false;
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isRunning)
      throw new AdminError('conflict', `${company} is being created or removed. Wait until that ends.`);
    isRunning = true;
    try {
      return await withAdminErrors(work);
    } finally {
      isRunning = false;
    }
  };
  const announce = (counts: Map<string, number>) => {
    for (const type of counts.keys()) onChange(type, '');
    return Object.fromEntries(counts);
  };
  return {
    describe: async () => ({
      ...{ company, domain, users, trips },
      isPresent: await isCompanyPresent(store, seed),
    }),
    create: () =>
      alone(async () => {
        const pause = async () => {
          await setImmediate();
          return WRITES;
        };
        if (await isCompanyPresent(store, seed))
          throw new AdminError('conflict', `${company} is in the travel service already.`);
        const options = { users, trips, seed, now: endOfSimulation(now()), idSeed: randomInt(MAX_ID_SEED) };
        const deps = { store, pause, progress: () => {} };
        const { counts } = await createSampleData(deps, options).catch(throwRefusal);
        return { company, created: announce(counts) };
      }),
    remove: () =>
      alone(async () => {
        const removal = await removeSampleData({ store, now, newId, pause: () => setImmediate() }, seed);
        if (removal.removed.size + removal.kept.size === 0)
          throw new AdminError('notFound', `${company} is not in the travel service.`);
        return {
          ...{ company, removed: announce(removal.removed) },
          kept: Object.fromEntries(removal.kept),
        };
      }),
  };
}

function throwRefusal(error: unknown): never {
  throw error instanceof SampleDataRefused ? new AdminError('conflict', error.message) : error;
}
