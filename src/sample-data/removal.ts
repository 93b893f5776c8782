import { catalog } from '../travel/catalog.ts';
import { createRecorder } from '../travel/changes.ts';
import { type RecorderDeps, readAllPages } from '../travel/collection.ts';
import type { Resource } from '../travel/declaration/resource.ts';
import type { ResourceRef, TravelStore } from '../travel/ports.ts';
import { isOfCompany } from './company.ts';

/** The dependencies of the removal of sample data. */
export interface RemovalDeps extends RecorderDeps {
  store: TravelStore;
  /** Called before each transaction; it can wait, so that a server can write. */
  pause(): Promise<unknown>;
}

/** Resources that are removed at a time. */
const BATCH = 100;

/**
 * The types of the company's resources, each before those to which it refers, with the field that refers to the resource of
 * the company to which it belongs. Resources of the types without a field are known by their names and addresses.
 */
const owners: Record<string, string | undefined> = {
  ...{ billingOperation: 'billingProfileId', dispute: 'invoiceId', refund: 'invoiceId' },
  ...{ invoice: 'billingProfileId', tripProject: 'travelerIds', user: undefined, projectCode: undefined },
  ...{ costCenter: undefined, billingProfile: undefined, travelPolicy: undefined },
  ...{ customFieldOption: undefined, customField: undefined },
};

const resources = Object.keys(owners).flatMap((type) => catalog.filter((one) => one.type === type));

/**
 * Removes the company of a seed with its people, trips and invoices, also one whose creation was ended early. Removed people and
 * reference data are announced by events, like those that an admin deletes. A removal that was ended early can be run again.
 * Returns the numbers of resources by type; `kept` are those to which resources of others refer.
 */
export async function removeSampleData(deps: RemovalDeps, seed: number) {
  const found = await findResources(deps, seed);
  const [removed, kept] = [new Map<string, number>(), new Map<string, number>()];
  for (const resource of resources) {
    const { type } = resource;
    const refs = found.filter((ref) => ref.type === type);
    let count = 0;
    for (let at = 0; at < refs.length; at += BATCH) {
      await deps.pause();
      count += await removeUnreferenced(deps, resource, refs.slice(at, at + BATCH));
    }
    if (count > 0) removed.set(type, count);
    if (count < refs.length) kept.set(type, refs.length - count);
  }
  return { removed, kept };
}

/** Finds everything that belongs to the company, the newest of each type first. */
async function findResources({ store, pause }: RemovalDeps, seed: number): Promise<ResourceRef[]> {
  const found = new Map<string, ResourceRef>();
  for (const { type, parent } of resources.toReversed()) {
    const field = owners[type];
    const parents = [...found.values()].filter((ref) => ref.type === parent?.type).map(({ id }) => id);
    for (const parentId of parent ? parents : [''])
      for await (const page of readAllPages(store, type, { parentId, order: 'desc' })) {
        for (const { id, doc } of page) {
          const ids = field === undefined ? [parentId] : [doc[field]].flat().map(String);
          const isNamed = field === undefined && isOfCompany(seed, doc);
          if (isNamed || ids.some((owner) => found.has(owner))) found.set(id, { type, id });
        }
        await pause();
      }
  }
  return [...found.values()];
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
