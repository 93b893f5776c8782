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

/** What an erasure takes of the world. */
export interface ErasureDeps {
  store: TravelStore;
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
  /** Whether a value names the person, by anything but the travel id. */
  namesPerson(value: string): boolean;
  /** A document in which every text that names the person is replaced; `withId`: the travel id, too. */
  redact(doc: JsonObject, withId: boolean): JsonObject;
  /** Of the address that a traveler gets who has to stay. */
  domain: string;
  /** Lets others have the database between two transactions. */
  pause(): Promise<void>;
}

/** What the travel service has of a traveler, and what an erasure leaves. */
export interface TravelerErasurePlan {
  isActive: boolean;
  isAdmin: boolean;
  trips: number;
  operations: number;
  /** Invoices of those operations, which stay as they are. */
  invoices: number;
  /** Users whose manager the traveler is. */
  managed: number;
  /** Travel policies and project codes whose approver the traveler is, by name. */
  approves: string[];
  /** What names the traveler and is left to the admin. */
  leftTo: string[];
  events: number;
}

/** So many resources are changed in one transaction, and read at once. */
const BATCH = 100;

/** What an erasure would find; undefined: there is no such traveler. */
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

/** How many events an erasure would reduce for a traveler, who may be gone already. */
export async function countEvents(deps: ErasureDeps, id: string): Promise<number> {
  const found = await findAll(
    deps.store,
    event,
    (doc) => redactEvent(deps, { id, isGone: true }, doc) !== doc,
  );
  return found.length;
}

/**
 * Anonymizes a traveler to whom trips or billing operations refer, and deletes another one. Trips and billing operations stay
 * without what names the traveler, invoices as they are. It may be done again after it was interrupted. Tells in one event
 * that the traveler has changed or gone, with no value of theirs.
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
    const traveler = await readResource(record.transaction, user.type, id);
    if (!traveler) return 'gone';
    const isReferredTo = isStaying || (await record.transaction.isReferenced(traveler));
    await (isReferredTo ? anonymizeTraveler(deps, record, traveler) : record.transaction.remove(traveler));
    const data = { id, type: user.type, createdAt: formatTimestamp(traveler.createdAt) };
    await record.appendEvent(isReferredTo ? 'user.updated' : 'user.deleted', data);
    return isReferredTo ? 'anonymized' : 'deleted';
  });
}

/** Reduces the events of a traveler to what every event must have, and strikes the traveler out of others; answers how many. */
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
  // An event about the traveler has no values left but its id, which every event must have.
  return isAboutTraveler(doc, id) ? reduced : keepIfEqual(doc, redact(reduced, isGone));
}

function isChanged({ redact }: ErasureDeps, doc: JsonObject): boolean {
  return keepIfEqual(doc, redact(doc, true)) !== doc;
}

/** The document itself where nothing is different. */
function keepIfEqual(doc: JsonObject, changed: JsonObject): JsonObject {
  return JSON.stringify(doc) === JSON.stringify(changed) ? doc : changed;
}

/** Takes what names the traveler out of the trips or operations that concern them; answers how many these are. */
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
  await transaction.replace(after, indexKeys(user, after));
}

function isOnTrip({ travelerIds }: JsonObject, id: string): boolean {
  return Array.isArray(travelerIds) && travelerIds.includes(id);
}

function isBilled({ bookingSnapshot }: JsonObject, id: string): boolean {
  return bookingSnapshot !== undefined && JSON.stringify(bookingSnapshot).includes(JSON.stringify(id));
}

/** Changes the documents of a type in short transactions; answers how many. Those of others are told of as any change is. */
async function changeAll(
  deps: ErasureDeps,
  resource: Resource,
  after: (doc: JsonObject) => JsonObject,
): Promise<number> {
  let count = 0;
  for await (const resources of readPages(deps.store, resource)) {
    const concerned = resources.filter(({ doc }) => after(doc) !== doc);
    if (concerned.length === 0) continue;
    await inTransaction(deps, [resource.type], async (record) => {
      for (const { doc, ...stored } of await record.transaction.read(concerned)) {
        const next = after(doc);
        if (next === doc) continue;
        // An event about what is erased would name it again.
        if (emitsEvents(resource)) await record.replace(resource, { ...stored, doc }, next);
        else
          await record.transaction.replace(
            { ...stored, doc: next },
            indexKeys(resource, { ...stored, doc: next }),
          );
        count += 1;
      }
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

/** Whom a document is to tell nothing of any more. */
export interface ErasedPerson {
  /** The travel id, which stays where something refers to it. */
  id: string;
  namesPerson(value: string): boolean;
}

/** In the place of a name and an address that a document must have. */
const ERASED_PERSON = { email: 'erased@jetbridge.invalid', fullName: 'Erased traveler' };

/** A trip or billing operation without the name, the address and the custom texts of a traveler. */
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
  // The document went through the schema when it was written: this is a matter of types only.
  const snapshot = doc['bookingSnapshot'] as BookingSnapshot | undefined;
  if (!snapshot) return doc;
  const { booker, traveler } = snapshot;
  const anonymous = (person: BookingSnapshot['booker']) =>
    person.id === id ? { ...person, ...ERASED_PERSON } : person;
  const bookingSnapshot = { ...snapshot, booker: anonymous(booker), traveler: anonymous(traveler) };
  const renamed = { ...doc, bookingSnapshot: bookingSnapshot as unknown as Json }; // Plain JSON, as the schema has it.
  return traveler.id === id ? removeCustomTexts(renamed) : renamed;
}

/** Texts of custom fields were the traveler's own; options are the company's. */
function removeCustomTexts(doc: JsonObject): JsonObject {
  const { customFields, ...others } = doc;
  if (customFields === undefined) return doc;
  const kept = customFieldsOf(doc).flatMap((field) => {
    const values = field.values.filter(({ customFieldOptionId }) => customFieldOptionId !== undefined);
    return values.length === 0 ? [] : [{ ...field, values }];
  });
  return kept.length === 0 ? others : { ...others, customFields: kept as unknown as Json }; // Plain JSON, too.
}

/**
 * An event without the person: of an event about the traveler only what every event must have is left, of one about a trip or
 * billing operation all that does not name them. The document itself where the event is about something else.
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

/** Whether an event is about the traveler as such, not about a trip or somebody else. */
export function isAboutTraveler({ data }: JsonObject, travelId: string): boolean {
  return isJsonObject(data) && data['type'] === 'user' && data['id'] === travelId;
}

/** What was changed, without the parts that name travelers. */
function changesWithoutPeople({
  bookingSnapshot: _s,
  carRentals: _c,
  customFields: _f,
  ...others
}: JsonObject): JsonObject {
  return others;
}

/** So many events are read at once. */
const EVENT_PAGE = 100;

/** Travelers who no longer exist and once had an address of a person, as far as events still tell. */
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
