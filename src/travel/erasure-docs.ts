import { isObject, type Json, type JsonObject } from './json.ts';
import type { BookingSnapshot } from './resources/booking-snapshot.ts';
import { valuesOf } from './resources/custom-field-values.ts';

/** Whom a document is to tell nothing of any more. */
export interface ErasedPerson {
  /** The travel id, which stays where something refers to it. */
  id: string;
  isNamed(value: string): boolean;
}

/** In the place of a name and an address that a document must have. */
const NOBODY = { email: 'erased@jetbridge.invalid', fullName: 'Erased traveler' };

/** A trip or billing operation without the name, the address and the custom texts of a traveler. */
export function withoutTraveler(type: string, doc: JsonObject, person: ErasedPerson): JsonObject {
  return type === 'tripProject' ? withoutRenter(doc, person) : withoutBooker(doc, person);
}

function withoutRenter(doc: JsonObject, { id, isNamed }: ErasedPerson): JsonObject {
  const { carRentals, travelerIds } = doc;
  const isAlone = Array.isArray(travelerIds) && travelerIds.every((one) => one === id);
  const rentals = Array.isArray(carRentals) ? carRentals : [];
  const anonymous = (rental: Json): Json => {
    if (!isObject(rental)) return rental;
    const { renterName } = rental;
    const isOwn = typeof renterName === 'string' && (isAlone || isNamed(renterName));
    return isOwn ? { ...rental, renterName: NOBODY.fullName } : rental;
  };
  const renamed = carRentals === undefined ? doc : { ...doc, carRentals: rentals.map(anonymous) };
  return isAlone ? withoutTexts(renamed) : renamed;
}

function withoutBooker(doc: JsonObject, { id }: ErasedPerson): JsonObject {
  // The document went through the schema when it was written: this is a matter of types only.
  const snapshot = doc['bookingSnapshot'] as BookingSnapshot | undefined;
  if (!snapshot) return doc;
  const { booker, traveler } = snapshot;
  const anonymous = (person: BookingSnapshot['booker']) =>
    person.id === id ? { ...person, ...NOBODY } : person;
  const bookingSnapshot = { ...snapshot, booker: anonymous(booker), traveler: anonymous(traveler) };
  const renamed = { ...doc, bookingSnapshot: bookingSnapshot as unknown as Json }; // Plain JSON, as the schema has it.
  return traveler.id === id ? withoutTexts(renamed) : renamed;
}

/** Texts of custom fields were the traveler's own; options are the company's. */
function withoutTexts(doc: JsonObject): JsonObject {
  const { customFields, ...others } = doc;
  if (customFields === undefined) return doc;
  const kept = valuesOf(doc).flatMap((field) => {
    const values = field.values.filter(({ customFieldOptionId }) => customFieldOptionId !== undefined);
    return values.length === 0 ? [] : [{ ...field, values }];
  });
  return kept.length === 0 ? others : { ...others, customFields: kept as unknown as Json }; // Plain JSON, too.
}

/**
 * An event without the person: of an event about the traveler only what every event must have is left, of one about a trip or
 * billing operation all that does not name them. The document itself where the event is about something else.
 */
export function reducedDoc(doc: JsonObject, person: ErasedPerson): JsonObject {
  const { data, kind = '' } = doc;
  if (!isObject(data)) return doc;
  const { id = '', type = '', createdAt = '' } = data;
  if (isAboutTraveler(doc, person.id)) {
    const isReduced = Object.keys(data).length === 3 && doc['previousAttributes'] === undefined;
    return isReduced ? doc : { data: { id, type, createdAt }, kind };
  }
  const isConcerned = JSON.stringify(data).includes(JSON.stringify(person.id));
  if (!isConcerned || (type !== 'tripProject' && type !== 'billingOperation')) return doc;
  const after = withoutTraveler(type, data, person);
  const { previousAttributes } = doc;
  const reduced = {
    data: after,
    kind,
    ...(isObject(previousAttributes) ? { previousAttributes: plainChanges(previousAttributes) } : {}),
  };
  return JSON.stringify(reduced) === JSON.stringify(doc) ? doc : reduced;
}

/** Whether an event is about the traveler as such, not about a trip or somebody else. */
export function isAboutTraveler({ data }: JsonObject, travelId: string): boolean {
  return isObject(data) && data['type'] === 'user' && data['id'] === travelId;
}

/** What was changed, without the parts that name travelers. */
function plainChanges({
  bookingSnapshot: _s,
  carRentals: _c,
  customFields: _f,
  ...others
}: JsonObject): JsonObject {
  return others;
}
