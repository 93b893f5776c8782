import { createRecorder, type Recorder } from './changes.ts';
import { formatTimestamp, type RecorderDeps, readAllPages } from './collection.ts';
import { isJsonObject, type Json, type JsonObject, stringMember } from './json.ts';
import type { StoredResource, TravelStore } from './ports.ts';
import { indexKeys, type Resource } from './resource.ts';
import { billingOperation } from './resources/billing.ts';
import { customFieldsOf } from './resources/custom-field-values.ts';
import { event } from './resources/event.ts';
import { projectCode } from './resources/lookups.ts';
import { travelPolicy } from './resources/travel-policy.ts';
import { type BookingSnapshot, tripProject } from './resources/trip-project.ts';
import { isAdmin, user } from './resources/user.ts';
import { parseDocument } from './validation.ts';

/** Dependencies of an erasure. */
export interface ErasureDeps extends RecorderDeps {
  store: TravelStore;
  /** Returns true if a value is one of the person's addresses or full names. */
  namesPerson(value: string): boolean;
  /** Returns a copy of the document in which every text with an address of the person is replaced. */
  redact(doc: JsonObject): JsonObject;
  /** The domain of the replacement email of an anonymized traveler. */
  domain: string;
  /** Yields between two transactions, so that other requests can use the database. */
  pause(): Promise<void>;
}

/** What an erasure changes, by the type of the resource. */
export type ErasureCounts = Readonly<Record<string, number>>;

/** Counts what an erasure would change. */
export async function countErasure(deps: ErasureDeps, ids: readonly string[]): Promise<ErasureCounts> {
  const counts: Record<string, number> = {};
  for (const [resource, change] of changes) {
    let count = 0;
    for await (const resources of readAllPages(deps.store, resource.type))
      count += resources.filter(({ doc }) => !areEqual(doc, change(doc, { ...deps, ids }))).length;
    counts[resource.type] = count;
  }
  return counts;
}

/** Returns true if a user of the travel service is an active admin, who must not be erased. */
export function isActiveAdmin({ doc }: StoredResource): boolean {
  return isAdmin(doc);
}

/**
 * Deletes the travelers of a person, or anonymizes those to whom trips or billing operations refer. The name, email and custom texts are
 * removed from trips and billing operations; invoices stay unchanged. An interrupted erasure can be run again. One
 * event without personal data announces the change or deletion of each traveler.
 */
export async function eraseTravelers(deps: ErasureDeps, ids: readonly string[]): Promise<void> {
  for (const [resource, change] of changes)
    await changeAll(deps, resource, (doc) => change(doc, { ...deps, ids }));
  for (const id of ids) await eraseTraveler(deps, id);
  // The erasure has appended events of its own, also about the people whose manager the traveler was.
  await reduceEvents(deps, ids);
}

async function eraseTraveler(deps: ErasureDeps, id: string): Promise<void> {
  const isStaying = await isTraveled(deps, id);
  await inTransaction(deps, [user.type], async (record) => {
    const { transaction } = record;
    const [traveler] = await transaction.lock([{ type: user.type, id }]);
    if (!traveler) return;
    const isReferredTo = isStaying || (await transaction.isReferenced(traveler));
    await (isReferredTo
      ? anonymizeTraveler(deps, record, traveler)
      : transaction.remove(traveler, indexKeys(user, traveler)));
    const data = { id, type: user.type, createdAt: formatTimestamp(traveler.createdAt) };
    record.appendEvent(isReferredTo ? 'user.updated' : 'user.deleted', data);
  });
}

/**
 * Reduces the events about the travelers, and about deleted ones who had an address of the person, to their mandatory fields, and removes
 * the person from other events.
 */
export function reduceEvents(deps: ErasureDeps, ids: readonly string[]): Promise<void> {
  return changeAll(deps, event, (doc) => redactEvent(doc, { ...deps, ids }));
}

/** The travelers to remove from documents. */
interface ErasedTravelers extends Pick<ErasureDeps, 'namesPerson' | 'redact'> {
  /** Other resources may refer to them, so that an id stays where it is not a reference to a manager or approver. */
  ids: readonly string[];
}

/** The resources that may name a traveler, each with the function that returns the document without the travelers. */
const changes: readonly [Resource, (doc: JsonObject, travelers: ErasedTravelers) => JsonObject][] = [
  [tripProject, redactTrip],
  [billingOperation, redactOperation],
  [user, (doc, { ids }) => withoutReference(doc, 'managerId', ids)],
  [travelPolicy, (doc, { ids }) => withoutReference(doc, 'defaultApproverId', ids)],
  [projectCode, (doc, { ids }) => withoutReference(doc, 'approverId', ids)],
  [event, redactEvent],
];

/** These are changed with an event. One about a trip, a billing operation or an event would contain the removed data again. */
const changedWithEvent = [user, travelPolicy, projectCode].map(({ type }) => type);

/** Changes the documents of a type in short transactions. Changes of other people's resources append events as usual. */
async function changeAll(
  deps: ErasureDeps,
  resource: Resource,
  after: (doc: JsonObject) => JsonObject,
): Promise<void> {
  for await (const resources of readAllPages(deps.store, resource.type)) {
    const changing = resources.filter(({ doc }) => !areEqual(doc, after(doc)));
    if (changing.length === 0) continue;
    await inTransaction(deps, [resource.type], async (record) => {
      for (const before of await record.transaction.lock(changing)) {
        const changed = { ...before, doc: after(before.doc) };
        if (changedWithEvent.includes(resource.type)) await record.replace(resource, before, changed.doc);
        else
          await record.transaction.replace(
            changed,
            indexKeys(resource, changed),
            indexKeys(resource, before),
          );
      }
    });
    await deps.pause();
  }
}

/** Two documents are equal if they have the same JSON text: redaction keeps the order of members. */
function areEqual(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function inTransaction<T>(
  { store, now, newId }: ErasureDeps,
  types: string[],
  work: (record: Recorder) => Promise<T>,
): Promise<T> {
  return store.write(types, (transaction) => work(createRecorder(transaction, { now, newId })));
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

/** Returns true if a trip or a billing operation refers to the traveler. */
async function isTraveled({ store }: ErasureDeps, id: string): Promise<boolean> {
  for (const { type } of [tripProject, billingOperation])
    for await (const resources of readAllPages(store, type))
      if (resources.some(({ doc }) => concerns(doc, [id]))) return true;
  return false;
}

/** True for a trip or billing operation with one of the travelers. */
function concerns(doc: JsonObject, ids: readonly string[]): boolean {
  const text = JSON.stringify(doc);
  return ids.some((id) => text.includes(JSON.stringify(id)));
}

function withoutReference(doc: JsonObject, field: string, ids: readonly string[]): JsonObject {
  if (!ids.includes(stringMember(doc, field) ?? '')) return doc;
  return Object.fromEntries(Object.entries(doc).filter(([name]) => name !== field));
}

/** Replaces the email and name where a document must have them. */
const ERASED_PERSON = { email: 'erased@jetbridge.invalid', fullName: 'Erased traveler' };

function redactTrip(doc: JsonObject, { ids, namesPerson, redact }: ErasedTravelers): JsonObject {
  if (!concerns(doc, ids)) return doc;
  const { carRentals, travelerIds } = doc;
  const isAlone = Array.isArray(travelerIds) && travelerIds.every((one) => ids.includes(String(one)));
  const anonymous = (rental: Json): Json => {
    const renterName = isJsonObject(rental) ? rental['renterName'] : undefined;
    const isOwn = typeof renterName === 'string' && (isAlone || namesPerson(renterName));
    return isOwn ? { ...Object(rental), renterName: ERASED_PERSON.fullName } : rental;
  };
  const renamed = Array.isArray(carRentals) ? { ...doc, carRentals: carRentals.map(anonymous) } : doc;
  return redact(isAlone ? removeCustomTexts(renamed) : renamed);
}

function redactOperation(doc: JsonObject, { ids, redact }: ErasedTravelers): JsonObject {
  // The schema accepted this document when it was written, so its shape is known.
  const snapshot = doc['bookingSnapshot'] as BookingSnapshot | undefined;
  if (!snapshot || !concerns(doc, ids)) return doc;
  const { booker, traveler } = snapshot;
  const anonymous = (person: BookingSnapshot['booker']) =>
    ids.includes(person.id) ? { ...person, ...ERASED_PERSON } : person;
  const bookingSnapshot = { ...snapshot, booker: anonymous(booker), traveler: anonymous(traveler) };
  const renamed = { ...doc, bookingSnapshot: bookingSnapshot as unknown as Json }; // The cast is safe: the schema admits only JSON.
  return redact(ids.includes(traveler.id) ? removeCustomTexts(renamed) : renamed);
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
 * Returns an event without the travelers. One about a traveler, or about a deleted one who had the person's address, keeps only its
 * mandatory fields. One about a trip or billing operation loses its previous attributes. In others, texts with an address are replaced.
 */
function redactEvent(doc: JsonObject, travelers: ErasedTravelers): JsonObject {
  const { data, kind = '', previousAttributes } = doc;
  if (!isJsonObject(data)) return doc;
  const { id = '', type = '', createdAt = '' } = data;
  const emails = [data, previousAttributes].map((one) => isJsonObject(one) && stringMember(one, 'email'));
  const isOwn =
    travelers.ids.includes(String(id)) || emails.some((email) => email && travelers.namesPerson(email));
  if (type === user.type && isOwn) return { data: { id, type, createdAt }, kind };
  const redactData = new Map([
    [tripProject.type, redactTrip],
    [billingOperation.type, redactOperation],
  ]).get(String(type));
  if (!redactData || !concerns(doc, travelers.ids)) return travelers.redact(doc);
  return travelers.redact({ data: redactData(data, travelers), kind });
}
