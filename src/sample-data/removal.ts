import { createRecorder } from '../travel/changes.ts';
import { type RecorderDeps, readAllPages } from '../travel/collection.ts';
import { isJsonObject, type JsonObject, stringMember } from '../travel/json.ts';
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

/** Finds everything that belongs to the company, the newest of each type first. What others bought on its billing profiles does not. */
async function findResources(deps: RemovalDeps, seed: number): Promise<ResourceRef[]> {
  const identity = companyIdentity(seed);
  const found: ResourceRef[] = [];
  const owned = ownResources(identity.domain);
  const collect = async (resource: Resource, isMeant: (stored: StoredResource) => boolean) => {
    const refs = await findAll(deps, resource, { isMeant });
    found.push(...refs);
    owned.add(resource, refs);
  };
  for (const resource of [user, projectCode, costCenter, billingProfile, travelPolicy, customField])
    await collect(resource, (stored) => isOfCompany(identity, stored));
  await collect(tripProject, ({ doc: { travelerIds } }) =>
    Array.isArray(travelerIds) ? travelerIds.every((id) => owned.has(user, String(id))) : false,
  );
  const operations = await findOperations(deps, owned);
  const othersInvoices = new Set(operations.map(({ buyer, invoiceId }) => buyer === 'others' && invoiceId));
  await collect(invoice, (stored) => owned.isPaidBy(stored) && !othersInvoices.has(stored.id));
  for (const resource of [dispute, refund])
    await collect(resource, ({ doc }) => owned.has(invoice, stringMember(doc, 'invoiceId')));
  const isOwn = ({ buyer, disputeId, invoiceId }: FoundOperation) => {
    if (buyer !== 'unknown') return buyer === 'company';
    return disputeId === undefined ? !othersInvoices.has(invoiceId ?? '') : owned.has(dispute, disputeId);
  };
  found.push(...operations.filter(isOwn).map(({ ref }) => ref));
  for (const parentId of owned.idsOf(customField))
    found.push(...(await findAll(deps, customFieldOption, { parentId, isMeant: () => true })));
  return found;
}

/** The resources that are known to belong to the company. */
interface OwnResources {
  add(resource: Resource, refs: ResourceRef[]): void;
  has(resource: Resource, id: string | undefined): boolean;
  idsOf(resource: Resource): string[];
  /** True for what a billing profile of the company pays. */
  isPaidBy(stored: StoredResource): boolean;
  /** True for the traveler of a booking, also one who was deleted since. */
  hasTraveler(traveler: JsonObject): boolean;
}

function ownResources(domain: string): OwnResources {
  const ids = new Map<string, Set<string>>();
  const has = ({ type }: Resource, id: string | undefined) =>
    id !== undefined && ids.get(type)?.has(id) === true;
  return {
    add: ({ type }, refs) => ids.set(type, new Set(refs.map(({ id }) => id))),
    has,
    idsOf: ({ type }) => [...(ids.get(type) ?? [])],
    isPaidBy: ({ doc }) => has(billingProfile, stringMember(doc, 'billingProfileId')),
    hasTraveler: (traveler) =>
      has(user, stringMember(traveler, 'id')) ||
      (stringMember(traveler, 'email') ?? '').toLowerCase().endsWith(`@${domain}`),
  };
}

/** A billing operation that concerns the company. */
interface FoundOperation {
  ref: ResourceRef;
  invoiceId: string | undefined;
  disputeId: string | undefined;
  buyer: 'company' | 'others' | 'unknown';
}

/** Finds the billing operations of the company, and those of others that its billing profiles pay. */
async function findOperations(deps: RemovalDeps, owned: OwnResources): Promise<FoundOperation[]> {
  const operations: FoundOperation[] = [];
  for await (const stored of readAll(deps, billingOperation)) {
    const buyer = buyerOf(stored, owned);
    if (buyer !== 'company' && !owned.isPaidBy(stored)) continue;
    const { doc } = stored;
    const [invoiceId, disputeId] = [stringMember(doc, 'invoiceId'), stringMember(doc, 'disputeId')];
    operations.push({ ref: refOf(stored), buyer, invoiceId, disputeId });
  }
  return operations;
}

/** Returns the buyer of the trip or booking of a resource. Subscriptions and disputes have neither. */
function buyerOf({ doc }: StoredResource, owned: OwnResources): FoundOperation['buyer'] {
  const tripId = stringMember(doc, 'tripProjectId');
  if (tripId !== undefined) return owned.has(tripProject, tripId) ? 'company' : 'others';
  const { bookingSnapshot } = doc;
  const traveler = isJsonObject(bookingSnapshot) ? bookingSnapshot['traveler'] : undefined;
  if (!isJsonObject(traveler)) return 'unknown';
  return owned.hasTraveler(traveler) ? 'company' : 'others';
}

async function findAll(
  deps: RemovalDeps,
  resource: Resource,
  { parentId = '', isMeant }: { parentId?: string; isMeant(stored: StoredResource): boolean },
): Promise<ResourceRef[]> {
  const found: ResourceRef[] = [];
  for await (const stored of readAll(deps, resource, parentId))
    if (isMeant(stored)) found.push(refOf(stored));
  return found;
}

/** Yields all resources of a type, the newest first. */
async function* readAll(
  { store, pause }: RemovalDeps,
  { type }: Resource,
  parentId = '',
): AsyncGenerator<StoredResource> {
  await pause();
  for await (const page of readAllPages(store, type, { parentId, order: 'desc' })) {
    yield* page;
    await pause();
  }
}

function refOf({ type, id }: StoredResource): ResourceRef {
  return { type, id };
}
