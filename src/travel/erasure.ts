import { createRecorder, type Recorder } from './changes.ts';
import { formatTimestamp } from './collection.ts';
import { isJsonObject, type Json, type JsonObject, stringMember } from './json.ts';
import { type Position, readResource, type StoredResource, type TravelStore } from './ports.ts';
import { indexKeys, type Resource } from './resource.ts';
import { billingOperation, invoice } from './resources/billing.ts';
import { customFieldsOf } from './resources/custom-field-values.ts';
import { event } from './resources/event.ts';
import { billingProfile, projectCode } from './resources/lookups.ts';
import { travelPolicy } from './resources/travel-policy.ts';
import { type BookingSnapshot, tripProject } from './resources/trip-project.ts';
import { isAdmin, user } from './resources/user.ts';
import { webhook } from './resources/webhook.ts';
import { parseDocument } from './validation.ts';

/** Dependencies of an erasure. */
export interface ErasureDeps {
  store: TravelStore;
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
  /** Returns true if a text contains the person's name, email or another identifier except the travel id. */
  namesPerson(value: string): boolean;
  /**
   * Returns a copy of the document in which every text that names the person is replaced; with `withId`, the travel id
   * too.
   */
  redact(doc: JsonObject, withId: boolean): JsonObject;
  /** The domain of the replacement email of an anonymized traveler. */
  domain: string;
  /** Yields between two transactions, so that other requests can use the database. */
  pause(): Promise<void>;
}

/** The data of the travel service about a traveler, in numbers and names, for the preview of an erasure. */
export interface TravelerErasurePlan {
  isActive: boolean;
  isAdmin: boolean;
  trips: number;
  operations: number;
  /** The number of invoices of these billing operations. Invoices are not changed. */
  invoices: number;
  /** The number of users whose manager the traveler is. */
  managed: number;
  /** The travel policies and project codes whose approver the traveler is, by type and name. */
  approves: string[];
  /** Resources that name the traveler and that an admin has to change by hand, by type and name. */
  leftTo: string[];
  events: number;
}

/** Resources read and changed in one transaction. */
const BATCH = 100;

/** Counts what an erasure would change; undefined if the traveler does not exist. */
export async function planErasure(deps: ErasureDeps, id: string): Promise<TravelerErasurePlan | undefined> {
  const { store } = deps;
  const traveler = await readResource(store, user.type, id);
  if (!traveler) return undefined;
  const trips = await findAll(store, tripProject, (doc) => isOnTrip(doc, id));
  const operations = await findAll(store, billingOperation, (doc) => isBilled(doc, id));
  const managed = await findAll(store, user, ({ managerId }) => managerId === id);
  const approving = await findApprovedBy(store, id);
  const leftTo: string[] = [];
  for (const resource of [billingProfile, invoice, webhook])
    for (const { id: other, doc } of await findAll(store, resource, (one) => isChanged(deps, one)))
      leftTo.push(`${resource.type} ${stringMember(doc, 'name') ?? other}`);
  return {
    isActive: traveler.doc['archived'] !== true,
    isAdmin: isAdmin(traveler.doc),
    trips: trips.length,
    operations: operations.length,
    invoices: new Set(operations.flatMap(({ doc }) => stringMember(doc, 'invoiceId') ?? [])).size,
    managed: managed.length,
    approves: approving.map(
      ({ type, doc, id: other }) =>
        `${type} ${stringMember(doc, 'name') ?? stringMember(doc, 'code') ?? other}`,
    ),
    leftTo,
    events: await countEvents(deps, id),
  };
}

/** Counts the events that an erasure would redact. The traveler may already be deleted. */
export async function countEvents(deps: ErasureDeps, id: string): Promise<number> {
  const found = await findAll(
    deps.store,
    event,
    (doc) => redactEvent(deps, { id, isGone: true }, doc) !== doc,
  );
  return found.length;
}

/**
 * Deletes a traveler, or anonymizes one to whom trips or billing operations refer. The name, email and custom texts are
 * removed from trips and billing operations; invoices stay unchanged. An interrupted erasure can be run again. One
 * event without personal data announces the change or deletion.
 */
export async function eraseTraveler(
  deps: ErasureDeps,
  id: string,
): Promise<'anonymized' | 'deleted' | 'gone'> {
  const { store } = deps;
  if (!(await readResource(store, user.type, id))) return 'gone';
  const isStaying =
    (await removeTraveler(deps, id, tripProject)) + (await removeTraveler(deps, id, billingOperation)) > 0;
  await clearReferences(deps, id);
  return inTransaction(deps, [user.type], async (record) => {
    const { transaction } = record;
    const [traveler] = await transaction.lock([{ type: user.type, id }]);
    if (!traveler) return 'gone';
    const isReferredTo = isStaying || (await transaction.isReferenced(traveler));
    await (isReferredTo
      ? anonymizeTraveler(deps, record, traveler)
      : transaction.remove(traveler, indexKeys(user, traveler)));
    const data = { id, type: user.type, createdAt: formatTimestamp(traveler.createdAt) };
    record.appendEvent(isReferredTo ? 'user.updated' : 'user.deleted', data);
    return isReferredTo ? 'anonymized' : 'deleted';
  });
}

/**
 * Reduces the traveler's own events to their mandatory fields and removes the traveler from other events. Returns the
 * number of changed events.
 */
export async function reduceEvents(deps: ErasureDeps, id: string): Promise<number> {
  const isGone = (await readResource(deps.store, user.type, id)) === undefined;
  return changeAll(deps, event, (doc) => redactEvent(deps, { id, isGone }, doc));
}

function redactEvent(
  { redact, namesPerson }: ErasureDeps,
  { id, isGone }: { id: string; isGone: boolean },
  doc: JsonObject,
): JsonObject {
  const reduced = redactEventData(doc, { id, namesPerson });
  // An event about the traveler keeps only the id, which every event must have.
  return isAboutTraveler(doc, id) ? reduced : keepIfEqual(doc, redact(reduced, isGone));
}

function isChanged({ redact }: ErasureDeps, doc: JsonObject): boolean {
  return keepIfEqual(doc, redact(doc, true)) !== doc;
}

/** Returns `doc` itself if `changed` is equal, so that callers can detect a change by `!==`. */
function keepIfEqual(doc: JsonObject, changed: JsonObject): JsonObject {
  return JSON.stringify(doc) === JSON.stringify(changed) ? doc : changed;
}

/** Removes the person from the trips or billing operations that concern them, and returns the number of these. */
async function removeTraveler(deps: ErasureDeps, id: string, resource: Resource): Promise<number> {
  const concerns = resource === tripProject ? isOnTrip : isBilled;
  const person = { id, namesPerson: deps.namesPerson };
  await changeAll(deps, resource, (doc) =>
    concerns(doc, id)
      ? keepIfEqual(doc, deps.redact(redactTraveler(resource.type, doc, person), false))
      : doc,
  );
  return (await findAll(deps.store, resource, (doc) => concerns(doc, id))).length;
}

async function clearReferences(deps: ErasureDeps, id: string): Promise<void> {
  const without = (field: string) => (doc: JsonObject) => {
    if (doc[field] !== id) return doc;
    const { [field]: _gone, ...others } = doc;
    return others;
  };
  await changeAll(deps, user, without('managerId'));
  await changeAll(deps, travelPolicy, without('defaultApproverId'));
  await changeAll(deps, projectCode, without('approverId'));
}

async function findApprovedBy(store: TravelStore, id: string): Promise<StoredResource[]> {
  return [
    ...(await findAll(store, travelPolicy, ({ defaultApproverId }) => defaultApproverId === id)),
    ...(await findAll(store, projectCode, ({ approverId }) => approverId === id)),
  ];
}

async function anonymizeTraveler(
  { newId, domain }: ErasureDeps,
  { transaction }: Recorder,
  traveler: StoredResource,
): Promise<void> {
  const doc = parseDocument(user, { archived: true, email: `erased-${newId('A')}@${domain}` });
  const after = { ...traveler, doc };
  await transaction.replace(after, indexKeys(user, after), indexKeys(user, traveler));
}

function isOnTrip({ travelerIds }: JsonObject, id: string): boolean {
  return Array.isArray(travelerIds) && travelerIds.includes(id);
}

function isBilled({ bookingSnapshot }: JsonObject, id: string): boolean {
  return bookingSnapshot !== undefined && JSON.stringify(bookingSnapshot).includes(JSON.stringify(id));
}

/**
 * Changes the documents of a type in short transactions and returns how many changed. Changes of other people's
 * resources append events as usual.
 */
async function changeAll(
  deps: ErasureDeps,
  resource: Resource,
  after: (doc: JsonObject) => JsonObject,
): Promise<number> {
  let count = 0;
  for await (const resources of readPages(deps.store, resource)) {
    const concerned = resources.filter(({ doc }) => after(doc) !== doc);
    if (concerned.length === 0) continue;
    count += await inTransaction(deps, [resource.type], async (record) => {
      // The store may run this more than once, so that each run counts from zero.
      let changes = 0;
      for (const { doc, ...stored } of await record.transaction.lock(concerned)) {
        const next = after(doc);
        if (next === doc) continue;
        // Trips, billing operations and events are changed without an event, because the event would contain the
        // removed data again.
        const before = { ...stored, doc };
        const changed = { ...stored, doc: next };
        if (emitsEvents(resource)) await record.replace(resource, before, next);
        else
          await record.transaction.replace(
            changed,
            indexKeys(resource, changed),
            indexKeys(resource, before),
          );
        changes += 1;
      }
      return changes;
    });
    await deps.pause();
  }
  return count;
}

function emitsEvents({ type }: Resource): boolean {
  return type === user.type || type === travelPolicy.type || type === projectCode.type;
}

function inTransaction<T>(
  { store, now, newId }: ErasureDeps,
  types: string[],
  work: (record: Recorder) => Promise<T>,
): Promise<T> {
  return store.write(types, (transaction) => work(createRecorder(transaction, { now, newId })));
}

async function findAll(
  store: TravelStore,
  resource: Resource,
  isMeant: (doc: JsonObject) => boolean,
): Promise<StoredResource[]> {
  const found: StoredResource[] = [];
  for await (const resources of readPages(store, resource))
    found.push(...resources.filter(({ doc }) => isMeant(doc)));
  return found;
}

async function* readPages(store: TravelStore, { type }: Resource): AsyncGenerator<StoredResource[]> {
  let from: Position | undefined;
  do {
    const edge = from && { after: from };
    const page = await store.pageFrom({ type, parentId: '', order: 'asc', limit: BATCH }, edge);
    if (page.resources.length > 0) yield page.resources;
    from = page.next;
  } while (from);
}

/** The person to remove from documents. */
export interface ErasedPerson {
  /** The travel id of the person. It is not removed where other resources refer to it. */
  id: string;
  namesPerson(value: string): boolean;
}

/** Replaces the email and name where a document must have them. */
const ERASED_PERSON = { email: 'erased@jetbridge.invalid', fullName: 'Erased traveler' };

/** Returns a trip or billing operation without the traveler's name, email and custom texts. */
export function redactTraveler(type: string, doc: JsonObject, person: ErasedPerson): JsonObject {
  return type === 'tripProject' ? redactTrip(doc, person) : redactOperation(doc, person);
}

function redactTrip(doc: JsonObject, { id, namesPerson }: ErasedPerson): JsonObject {
  const { carRentals, travelerIds } = doc;
  const isAlone = Array.isArray(travelerIds) && travelerIds.every((one) => one === id);
  const rentals = Array.isArray(carRentals) ? carRentals : [];
  const anonymous = (rental: Json): Json => {
    if (!isJsonObject(rental)) return rental;
    const { renterName } = rental;
    const isOwn = typeof renterName === 'string' && (isAlone || namesPerson(renterName));
    return isOwn ? { ...rental, renterName: ERASED_PERSON.fullName } : rental;
  };
  const renamed = carRentals === undefined ? doc : { ...doc, carRentals: rentals.map(anonymous) };
  return isAlone ? removeCustomTexts(renamed) : renamed;
}

function redactOperation(doc: JsonObject, { id }: ErasedPerson): JsonObject {
  // The schema accepted this document when it was written, so its shape is known.
  const snapshot = doc['bookingSnapshot'] as BookingSnapshot | undefined;
  if (!snapshot) return doc;
  const { booker, traveler } = snapshot;
  const anonymous = (person: BookingSnapshot['booker']) =>
    person.id === id ? { ...person, ...ERASED_PERSON } : person;
  const bookingSnapshot = { ...snapshot, booker: anonymous(booker), traveler: anonymous(traveler) };
  const renamed = { ...doc, bookingSnapshot: bookingSnapshot as unknown as Json }; // The cast is safe: the schema admits only JSON.
  return traveler.id === id ? removeCustomTexts(renamed) : renamed;
}

/** Free texts of custom fields can be personal; the options belong to the company. */
function removeCustomTexts(doc: JsonObject): JsonObject {
  const { customFields, ...others } = doc;
  if (customFields === undefined) return doc;
  const kept = customFieldsOf(doc).flatMap((field) => {
    const values = field.values.filter(({ customFieldOptionId }) => customFieldOptionId !== undefined);
    return values.length === 0 ? [] : [{ ...field, values }];
  });
  return kept.length === 0 ? others : { ...others, customFields: kept as unknown as Json }; // The cast is safe: the schema admits only JSON.
}

/**
 * Returns an event without the person. An event about the traveler keeps only its mandatory fields; in one about a trip
 * or billing operation the person is removed. Any other event is returned unchanged.
 */
export function redactEventData(doc: JsonObject, person: ErasedPerson): JsonObject {
  const { data, kind = '' } = doc;
  if (!isJsonObject(data)) return doc;
  const { id = '', type = '', createdAt = '' } = data;
  if (isAboutTraveler(doc, person.id)) {
    const isReduced = Object.keys(data).length === 3 && doc['previousAttributes'] === undefined;
    return isReduced ? doc : { data: { id, type, createdAt }, kind };
  }
  const isConcerned = JSON.stringify(data).includes(JSON.stringify(person.id));
  if (!isConcerned || (type !== 'tripProject' && type !== 'billingOperation')) return doc;
  const after = redactTraveler(type, data, person);
  const { previousAttributes } = doc;
  const reduced = {
    data: after,
    kind,
    ...(isJsonObject(previousAttributes)
      ? { previousAttributes: changesWithoutPeople(previousAttributes) }
      : {}),
  };
  return JSON.stringify(reduced) === JSON.stringify(doc) ? doc : reduced;
}

/** Reports whether the event's subject is the traveler, and not e.g. a trip of theirs. */
export function isAboutTraveler({ data }: JsonObject, travelId: string): boolean {
  return isJsonObject(data) && data['type'] === 'user' && data['id'] === travelId;
}

/** Returns the previous attributes of an event without those that can name travelers. */
function changesWithoutPeople({
  bookingSnapshot: _s,
  carRentals: _c,
  customFields: _f,
  ...others
}: JsonObject): JsonObject {
  return others;
}

/** The number of events read at a time. */
const EVENT_PAGE = 100;

/** Finds the ids of deleted travelers who had one of the addresses, in the events that are still stored. */
export async function findDeletedTravelers(
  store: TravelStore,
  isAddress: (email: string) => boolean,
): Promise<string[]> {
  const named = new Set<string>();
  let from: Position | undefined;
  do {
    const edge = from && { after: from };
    const page = await store.pageFrom(
      { type: event.type, parentId: '', order: 'asc', limit: EVENT_PAGE },
      edge,
    );
    for (const { doc } of page.resources) {
      const { data } = doc;
      if (!isJsonObject(data) || data['type'] !== user.type) continue;
      const { id, email } = data;
      if (typeof id === 'string' && typeof email === 'string' && isAddress(email)) named.add(id);
    }
    from = page.next;
  } while (from);
  const existing = await store.read([...named].map((id) => ({ type: user.type, id })));
  for (const { id } of existing) named.delete(id);
  return [...named];
}
