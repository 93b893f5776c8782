import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
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
import { requireEmbedded } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type Operations, serviceOperation } from '../operation.ts';

/** The writes of one transaction: few, because other requests wait for it on SQLite. */
const WRITES = 50;

const MAX_ID_SEED = 2 ** 31;

const { users, trips, seed } = SAMPLE_COMPANY;
const { name: company, domain } = companyIdentity(seed);

const counts = z.record(z.string(), z.int()).describe('The number of resources by type');

/** The sample company, which the command `sample-data` creates without options. Of two replicas that create it at once, one is refused by the store. */
export const sampleDataOperations = {
  describeSampleData: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/sample-data', tag: 'Travel service', access: 'viewer' },
      summary: 'Tell whether the sample company is in the travel service',
      result: z.object({
        company: z.string(),
        domain: z.string().describe('The domain of the email addresses of its people'),
        isPresent: z.boolean(),
        users: z.int().describe('The number of people that are created'),
        trips: z.int().describe('The number of trips that are created'),
      }),
      errors: ['notFound'],
    },
    async (_input, deps) => ({
      ...{ company, domain, users, trips },
      isPresent: await isCompanyPresent(requireEmbedded(deps).travel.store, seed),
    }),
  ),
  createSampleData: serviceOperation(
    {
      ...{ method: 'post', path: '/travel/sample-data', tag: 'Travel service', access: 'admin' },
      summary: 'Create the sample company with people, trips and invoices',
      result: z.object({ company: z.string(), created: counts }),
      errors: ['notFound', 'conflict'],
    },
    async (_input, deps, { note }) => {
      const { travel } = requireEmbedded(deps);
      const created = await deps.withSampleCompany(() => createCompany(travel));
      note({ company, created });
      return { company, created };
    },
  ),
  removeSampleData: serviceOperation(
    {
      ...{ method: 'delete', path: '/travel/sample-data', tag: 'Travel service', access: 'admin' },
      summary: 'Remove everything that belongs to the sample company',
      result: z.object({
        company: z.string(),
        removed: counts,
        kept: counts.describe('Resources to which others refer, by type'),
      }),
      errors: ['notFound', 'conflict'],
    },
    async (_input, deps, { note }) => {
      const { travel } = requireEmbedded(deps);
      const removal = await deps.withSampleCompany(() => removeCompany(travel));
      note({ company, ...removal });
      return { company, ...removal };
    },
  ),
} satisfies Operations;

/** Returns the number of created resources by type. */
async function createCompany({ store, now, onChange }: TravelDeps): Promise<Record<string, number>> {
  if (await isCompanyPresent(store, seed))
    throw new OperationError('conflict', `${company} is in the travel service already.`);
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
  throw error instanceof SampleDataRefused ? new OperationError('conflict', error.message) : error;
}

/** Returns the numbers of removed resources, and of those to which others refer, by type. */
async function removeCompany({ store, now, newId, onChange }: TravelDeps) {
  const { removed, kept } = await removeSampleData({ store, now, newId, pause: () => setImmediate() }, seed);
  if (removed.size + kept.size === 0)
    throw new OperationError('notFound', `${company} is not in the travel service.`);
  for (const type of removed.keys()) onChange(type, '');
  return { removed: Object.fromEntries(removed), kept: Object.fromEntries(kept) };
}

/** Returns a function that runs work on the sample company, one at a time in this process. It throws 409 while other work runs. */
export function sampleCompanyLock(): <T>(work: () => Promise<T>) => Promise<T> {
  let isRunning = false;
  return async (work) => {
    if (isRunning)
      throw new OperationError('conflict', `${company} is being created or removed. Wait until that ends.`);
    isRunning = true;
    try {
      return await work();
    } finally {
      isRunning = false;
    }
  };
}
