import { createRecorder } from '../changes.ts';
import { formatTimestamp, type RecorderDeps, readAllPages } from '../collection.ts';
import { indexKeys, type Resource } from '../declaration/resource.ts';
import { isJsonObject, type Json, type JsonObject, stringMember } from '../json.ts';
import type { StoredResource, TravelStore } from '../ports.ts';
import { parseDocument } from '../requests/validation.ts';
import { billingOperation } from '../resources/billing.ts';
import { customFieldsOf } from '../resources/custom-field-values.ts';
import { event } from '../resources/event.ts';
import { type BookingSnapshot, tripProject } from '../resources/trip-project.ts';
import { user } from '../resources/user.ts';

/** The travelers of a person, and what names the person in other documents. */
export interface ErasedTravelers {
  ids: readonly string[];
  /** Returns true if a value is one of the person's addresses or full names. */
  isName(value: string): boolean;
  /** Returns a copy of the document in which every text with an address of the person is replaced. */
  redact(doc: JsonObject): JsonObject;
}

/** The resources that may name a traveler, each with the function that returns the document without the travelers. */
const changes: readonly [Resource, (doc: JsonObject, travelers: ErasedTravelers) => JsonObject][] = [
  [tripProject, redactTrip],
  [billingOperation, redactOperation],
  [event, redactEvent],
];

/** Finds the resources of others that an erasure changes. */
export async function findErasable(
  store: TravelStore,
  travelers: ErasedTravelers,
): Promise<StoredResource[]> {
  const found: StoredResource[] = [];
  for (const [{ type }, change] of changes)
    for await (const page of readAllPages(store, type))
      found.push(...page.filter(({ doc }) => JSON.stringify(doc) !== JSON.stringify(change(doc, travelers))));
  return found;
}

/**
 * Makes the travelers anonymous, as others may refer to them, and removes the person from the resources that were found. An event about
 * one of these would contain the removed data again; one without personal data announces the change of each traveler. The new addresses of
 * the travelers are in this domain.
 */
export function eraseTravelers(
  { store, now, newId, domain }: RecorderDeps & { store: TravelStore; domain: string },
  travelers: ErasedTravelers,
  found: readonly StoredResource[],
): Promise<void> {
  return store.write([user.type], async (transaction) => {
    const replace = (resource: Resource, before: StoredResource, doc: JsonObject) =>
      transaction.replace(
        { ...before, doc },
        indexKeys(resource, { ...before, doc }),
        indexKeys(resource, before),
      );
    for (const [resource, change] of changes)
      for (const before of await transaction.lock(found.filter(({ type }) => type === resource.type)))
        await replace(resource, before, change(before.doc, travelers));
    await transaction.forgetAnswers((data) => isAbout(data, travelers));
    const { appendEvent } = createRecorder(transaction, { now, newId });
    for (const traveler of await transaction.lock(travelers.ids.map((id) => ({ type: user.type, id })))) {
      const { type, id, createdAt } = traveler;
      const anonymous = { archived: true, email: `erased-${newId('A')}@${domain}` };
      await replace(user, traveler, parseDocument(user, anonymous));
      appendEvent('user.updated', { id, type, createdAt: formatTimestamp(createdAt) });
    }
  });
}

/** True if the data of an answer name the person: the answer is then forgotten. */
function isAbout(data: JsonObject, travelers: ErasedTravelers): boolean {
  return concerns(data, travelers.ids) || JSON.stringify(travelers.redact(data)) !== JSON.stringify(data);
}

/** True for a trip, a billing operation, or an event about one, with one of the travelers. */
function concerns(doc: JsonObject, ids: readonly string[]): boolean {
  const text = JSON.stringify(doc);
  return ids.some((id) => text.includes(JSON.stringify(id)));
}

/** Replaces the email and name where a document must have them. */
const ERASED_PERSON = { email: 'erased@jetbridge.invalid', fullName: 'Erased traveler' };

function redactTrip(doc: JsonObject, { ids, isName, redact }: ErasedTravelers): JsonObject {
  if (!concerns(doc, ids)) return doc;
  const { carRentals, travelerIds } = doc;
  const isAlone = Array.isArray(travelerIds) && travelerIds.every((one) => ids.includes(String(one)));
  const anonymous = (rental: Json): Json => {
    const renterName = isJsonObject(rental) ? rental['renterName'] : undefined;
    const isOwn = typeof renterName === 'string' && (isAlone || isName(renterName));
    return isOwn ? { ...Object(rental), renterName: ERASED_PERSON.fullName } : rental;
  };
  const renamed = Array.isArray(carRentals) ? { ...doc, carRentals: carRentals.map(anonymous) } : doc;
  return redact(isAlone ? removeCustomTexts(renamed) : renamed);
}

function redactOperation(doc: JsonObject, { ids, redact }: ErasedTravelers): JsonObject {
  // The schema accepted this document when it was written, so its shape is known.
  const snapshot = doc['bookingSnapshot'] as BookingSnapshot | undefined;
  if (!snapshot || !concerns(doc, ids)) return doc;
  const anonymous = (person: BookingSnapshot['booker']) =>
    ids.includes(person.id) ? { ...person, ...ERASED_PERSON } : person;
  const { booker, traveler } = snapshot;
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
    travelers.ids.includes(String(id)) || emails.some((email) => email && travelers.isName(email));
  if (type === user.type && isOwn) return { data: { id, type, createdAt }, kind };
  const redactData =
    type === tripProject.type ? redactTrip : type === billingOperation.type ? redactOperation : undefined;
  if (!redactData || !concerns(doc, travelers.ids)) return travelers.redact(doc);
  return travelers.redact({ data: redactData(data, travelers), kind });
}
