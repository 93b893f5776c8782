import { createRecorder, type Recorder } from './changes.ts';
import { formatTimestamp, type RecorderDeps, readAllPages } from './collection.ts';
import { isJsonObject, type Json, type JsonObject, stringMember } from './json.ts';
import { readResource, type StoredResource, type TravelStore } from './ports.ts';
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
export interface ErasureDeps extends RecorderDeps {
  store: TravelStore;
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

/** Counts what an erasure would change; undefined if the traveler does not exist. */
export async function planErasure(deps: ErasureDeps, id: string): Promise<TravelerErasurePlan | undefined> {
  const { store } = deps;
  const traveler = await readResource(store, user.type, id);
  if (!traveler) return undefined;
  const operations = await findAll(store, billingOperation, (doc) => isBilled(doc, id));
  const approving = [
    ...(await findAll(store, travelPolicy, ({ defaultApproverId }) => defaultApproverId === id)),
    ...(await findAll(store, projectCode, ({ approverId }) => approverId === id)),
  ];
  const named: StoredResource[] = [];
  for (const resource of [billingProfile, invoice, webhook])
    named.push(...(await findAll(store, resource, (doc) => !areEqual(doc, deps.redact(doc, true)))));
  return {
    isActive: traveler.doc['archived'] !== true,
    isAdmin: isAdmin(traveler.doc),
    trips: (await findAll(store, tripProject, (doc) => isOnTrip(doc, id))).length,
    operations: operations.length,
    invoices: new Set(operations.flatMap(({ doc }) => stringMember(doc, 'invoiceId') ?? [])).size,
    managed: (await findAll(store, user, ({ managerId }) => managerId === id)).length,
    approves: approving.map(nameOf),
    leftTo: named.map(nameOf),
    events: await countEvents(deps, id),
  };
}

function nameOf({ type, id, doc }: StoredResource): string {
  return `${type} ${stringMember(doc, 'name') ?? stringMember(doc, 'code') ?? id}`;
}

/** Counts the events that an erasure would redact. The traveler may already be deleted. */
export async function countEvents(deps: ErasureDeps, id: string): Promise<number> {
  const redacted = redactEvent(deps, { id, isGone: true });
  return (await findAll(deps.store, event, (doc) => !areEqual(doc, redacted(doc)))).length;
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
  const isStaying = await removeFromTrips(deps, id);
  for (const [resource, field] of references)
    await changeAll(deps, resource, (doc) => (doc[field] === id ? withoutMember(doc, field) : doc));
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
  return changeAll(deps, event, redactEvent(deps, { id, isGone }));
}

function redactEvent(
  { redact, namesPerson }: ErasureDeps,
  { id, isGone }: { id: string; isGone: boolean },
): (doc: JsonObject) => JsonObject {
  return (doc) => {
    const reduced = redactEventData(doc, { id, namesPerson });
    // An event about the traveler keeps only the id, which every event must have.
    return isAboutTraveler(doc, id) ? reduced : redact(reduced, isGone);
  };
}

/** Two documents are equal if they have the same JSON text: redaction keeps the order of members. */
function areEqual(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Removes the person from their trips and billing operations. Returns true if there are any. */
async function removeFromTrips(deps: ErasureDeps, id: string): Promise<boolean> {
  const person = { id, namesPerson: deps.namesPerson };
  let isReferredTo = false;
  for (const [resource, concerns] of concerned) {
    await changeAll(deps, resource, (doc) =>
      concerns(doc, id) ? deps.redact(redactTraveler(resource.type, doc, person), false) : doc,
    );
    isReferredTo ||= (await findAll(deps.store, resource, (doc) => concerns(doc, id))).length > 0;
  }
  return isReferredTo;
}

const concerned = [
  [tripProject, isOnTrip],
  [billingOperation, isBilled],
] as const;

/** The resources that refer to a traveler, and the member that does. They are changed with an event. */
const references: [Resource, string][] = [
  [user, 'managerId'],
  [travelPolicy, 'defaultApproverId'],
  [projectCode, 'approverId'],
];

function withoutMember(doc: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(doc).filter(([name]) => name !== field));
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
  const emitsEvents = references.some(([one]) => one.type === resource.type);
  let count = 0;
  for await (const resources of readAllPages(deps.store, resource.type)) {
    const changing = resources.filter(({ doc }) => !areEqual(doc, after(doc)));
    if (changing.length === 0) continue;
    count += await inTransaction(deps, [resource.type], async (record) => {
      // The store may run this more than once, so that each run counts from zero.
      let changes = 0;
      for (const before of await record.transaction.lock(changing)) {
        const changed = { ...before, doc: after(before.doc) };
        if (areEqual(before.doc, changed.doc)) continue;
        // Trips, billing operations and events are changed without an event, because the event would contain the
        // removed data again.
        if (emitsEvents) await record.replace(resource, before, changed.doc);
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
  for await (const resources of readAllPages(store, resource.type))
    found.push(...resources.filter(({ doc }) => isMeant(doc)));
  return found;
}

/** The person to remove from documents. */
interface ErasedPerson {
  /** The travel id of the person. It is not removed where other resources refer to it. */
  id: string;
  namesPerson(value: string): boolean;
}

/** Replaces the email and name where a document must have them. */
const ERASED_PERSON = { email: 'erased@jetbridge.invalid', fullName: 'Erased traveler' };

/** Returns a trip or billing operation without the traveler's name, email and custom texts. */
function redactTraveler(type: string, doc: JsonObject, person: ErasedPerson): JsonObject {
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
function redactEventData(doc: JsonObject, person: ErasedPerson): JsonObject {
  const { data, kind = '' } = doc;
  if (!isJsonObject(data)) return doc;
  const { id = '', type = '', createdAt = '' } = data;
  if (isAboutTraveler(doc, person.id)) return { data: { id, type, createdAt }, kind };
  const isConcerned = JSON.stringify(data).includes(JSON.stringify(person.id));
  if (!isConcerned || (type !== 'tripProject' && type !== 'billingOperation')) return doc;
  const { previousAttributes } = doc;
  return {
    data: redactTraveler(type, data, person),
    kind,
    ...(isJsonObject(previousAttributes)
      ? { previousAttributes: changesWithoutPeople(previousAttributes) }
      : {}),
  };
}

/** Reports whether the event's subject is the traveler, and not e.g. a trip of theirs. */
function isAboutTraveler({ data }: JsonObject, travelId: string): boolean {
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

/** The ids and addresses of travelers in the stored events. */
interface TravelersInEvents {
  /** The ids of deleted travelers who had one of the addresses. */
  deleted: string[];
  /** All addresses that the travelers have had. */
  addresses: string[];
}

/** Finds the deleted travelers who had one of the addresses, and the addresses that they and the travelers with these ids have had. */
export async function findInEvents(
  store: TravelStore,
  ids: readonly string[],
  isAddress: (email: string) => boolean,
): Promise<TravelersInEvents> {
  const addressesOf = new Map<string, string[]>();
  for await (const events of readAllPages(store, event.type))
    for (const { doc } of events) {
      const { data, previousAttributes } = doc;
      if (!isJsonObject(data) || data['type'] !== user.type || typeof data['id'] !== 'string') continue;
      const emails = [data, previousAttributes].map((one) => isJsonObject(one) && stringMember(one, 'email'));
      const known = addressesOf.get(data['id']) ?? [];
      addressesOf.set(data['id'], [...known, ...emails.filter((email) => typeof email === 'string')]);
    }
  const named = [...addressesOf].filter(([, emails]) => emails.some(isAddress)).map(([id]) => id);
  const existing = await store.read(named.map((id) => ({ type: user.type, id })));
  const deleted = named.filter((id) => existing.every((one) => one.id !== id));
  const own = [...ids, ...deleted].flatMap((id) => addressesOf.get(id) ?? []);
  return { deleted, addresses: [...new Set(own)] };
}
