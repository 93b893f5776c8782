import { createRecorder } from '../travel/changes.ts';
import { type RecorderDeps, readAllPages } from '../travel/collection.ts';
import type { ResourceRef, StoredResource, TravelStore } from '../travel/ports.ts';
import type { Resource } from '../travel/resource.ts';
import { billingOperation, dispute, invoice, refund } from '../travel/resources/billing.ts';
import { customField, customFieldOption } from '../travel/resources/custom-field.ts';
import { billingProfile, costCenter, projectCode } from '../travel/resources/lookups.ts';
import { travelPolicy } from '../travel/resources/travel-policy.ts';
import { tripProject } from '../travel/resources/trip-project.ts';
import { user } from '../travel/resources/user.ts';
import { companyIdentity, isOfCompany } from './company.ts';

/** The dependencies of the removal of sample data. */
export interface RemovalDeps extends RecorderDeps {
  store: TravelStore;
  /** Called before each transaction; it can wait, so that a server can write. */
  pause(): Promise<unknown>;
}

/** The numbers of resources by type. `kept` are those to which resources of others refer. */
export interface Removal {
  removed: Map<string, number>;
  kept: Map<string, number>;
}

/** Resources that are removed at a time. */
const BATCH = 100;

/** The types of the company's resources: each type comes before those to which it refers. */
const ORDER: Resource[] = [
  ...[billingOperation, dispute, refund, invoice, tripProject, user, projectCode, costCenter],
  ...[billingProfile, travelPolicy, customFieldOption, customField],
];

/**
 * Removes the company of a seed with its people, trips and invoices, also one whose creation was ended early. Removed people and
 * reference data are announced by events, like those that an admin deletes. A removal that was ended early can be run again.
 */
export async function removeSampleData(deps: RemovalDeps, seed: number): Promise<Removal> {
  const found = await findResources(deps, seed);
  const removal: Removal = { removed: new Map(), kept: new Map() };
  for (const resource of ORDER) {
    const refs = found.filter(({ type }) => type === resource.type);
    let removed = 0;
    for (let at = 0; at < refs.length; at += BATCH) {
      await deps.pause();
      removed += await removeUnreferenced(deps, resource, refs.slice(at, at + BATCH));
    }
    if (removed > 0) removal.removed.set(resource.type, removed);
    if (removed < refs.length) removal.kept.set(resource.type, refs.length - removed);
  }
  return removal;
}

/**
 * Removes those of the resources to which no other refers, and returns their number. The newest come first, because a
 * resource refers to older ones of its type, such as managers.
 */
function removeUnreferenced(deps: RemovalDeps, resource: Resource, refs: ResourceRef[]): Promise<number> {
  return deps.store.write([resource.type], async (within) => {
    const recorder = createRecorder(within, deps);
    let removed = 0;
    for (const ref of refs) {
      const [stored] = await within.lock([ref]);
      if (!stored || (await within.isReferenced(stored))) continue;
      await recorder.remove(resource, stored);
      removed += 1;
    }
    return removed;
  });
}

/** Finds everything that belongs to the company, the newest of each type first. */
async function findResources(deps: RemovalDeps, seed: number): Promise<ResourceRef[]> {
  const identity = companyIdentity(seed);
  const ids = new Map<string, Set<string>>(ORDER.map(({ type }) => [type, new Set()]));
  const isOwn = (type: string, id: unknown) => ids.get(type)?.has(String(id)) === true;
  const found: ResourceRef[] = [];
  const collect = async ({ type }: Resource, isMeant: (stored: StoredResource) => boolean, parentId = '') => {
    await deps.pause();
    for await (const page of readAllPages(deps.store, type, { parentId, order: 'desc' })) {
      for (const { id } of page.filter(isMeant)) {
        found.push({ type, id });
        ids.get(type)?.add(id);
      }
      await deps.pause();
    }
  };
  for (const resource of [user, projectCode, costCenter, billingProfile, travelPolicy, customField])
    await collect(resource, (stored) => isOfCompany(identity, stored));
  await collect(tripProject, ({ doc: { travelerIds } }) =>
    Array.isArray(travelerIds) ? travelerIds.some((id) => isOwn('user', id)) : false,
  );
  for (const resource of [billingOperation, invoice])
    await collect(resource, ({ doc }) => isOwn('billingProfile', doc['billingProfileId']));
  for (const resource of [dispute, refund])
    await collect(resource, ({ doc }) => isOwn('invoice', doc['invoiceId']));
  for (const id of ids.get('customField') ?? []) await collect(customFieldOption, () => true, id);
  return found;
}
