import type { TravelBillingOperation, TravelInvoice, TravelTrip } from '../admin/contract/travel-data.ts';
import type { PageOfTravelData, TravelData } from '../admin/handlers/travel-data.ts';
import type { Settings } from '../config/settings.ts';
import type { Identities } from '../provisioning/store-ports.ts';
import {
  list,
  listSubCollection,
  type RequestTarget,
  requireResource,
  serialize,
} from '../travel/collection.ts';
import { type JsonObject, stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import {
  type BillingOperation,
  billingOperation,
  dispute,
  INVOICE_INDEX,
  type Invoice,
  invoice,
  type Refund,
  refund,
} from '../travel/resources/billing.ts';
import { billingProfile } from '../travel/resources/lookups.ts';
import { type TripProject, tripProject } from '../travel/resources/trip-project.ts';
import { user } from '../travel/resources/user.ts';
import { sampleDataParts } from './admin-sample-data.ts';
import { newestFirst, withAdminErrors } from './admin-travel.ts';
import { describeTrip, partsOfTrip } from './describe-trip.ts';
import type { EmbeddedTravel } from './embedded.ts';

type Traveler = TravelTrip['travelers'][number];

interface DataDeps {
  travel: EmbeddedTravel['travel'];
  identities: Pick<Identities, 'findHolder'>;
  /** The accounts of the connections that use the embedded service. */
  accounts: string[];
}

/** Returns the dependencies of the operations of the admin page on the data of the travel service. */
export function travelDataParts(
  { connections }: Settings,
  { embedded, identities }: { embedded: EmbeddedTravel | undefined; identities: DataDeps['identities'] },
): TravelData | undefined {
  if (!embedded) return undefined;
  const own = connections.filter(({ travelApi }) => travelApi.url === 'embedded');
  const accounts = [...new Set(own.map(({ account }) => account))];
  return travelData({ travel: embedded.travel, identities, accounts });
}

function travelData(deps: DataDeps): TravelData {
  const { travel } = deps;
  return {
    listTrips: (page) => withAdminErrors(() => listTrips(deps, page)),
    readTrip: (id) => withAdminErrors(() => readTrip(deps, id)),
    listInvoices: (page) => withAdminErrors(() => listInvoices(deps, page)),
    readInvoice: (id) => withAdminErrors(() => readInvoice(deps, id)),
    listOperations: (of, page) => withAdminErrors(() => listOperations(deps, of, page)),
    sampleData: sampleDataParts(travel),
  };
}

/** The collection of all resources of a type, for which the store has cursor pages. */
function allOf(resource: typeof tripProject, { travel }: DataDeps) {
  return { resource: { ...resource, cursor: true }, deps: travel };
}

function targetOf(id: string, parentId = ''): RequestTarget {
  return { id, parentId, caller: '' };
}

async function listTrips(deps: DataDeps, page: PageOfTravelData) {
  const { data, ...rest } = await newestFirst(page, (query) =>
    list(allOf(tripProject, deps), targetOf(''), query),
  );
  const ids = data.flatMap(({ travelerIds }) => (Array.isArray(travelerIds) ? travelerIds.map(String) : []));
  const names = await namesOf(deps, ids);
  const trips = data.map((doc) => ({
    ...headOf(doc),
    ...describeTrip(tripOf(doc)),
    travelers: travelersOf(doc, names),
  }));
  return { trips, ...rest };
}

/** The id and time that every answer of the travel API has. */
function headOf(answer: JsonObject): { id: string; createdAt: string } {
  return { id: stringMember(answer, 'id') ?? '', createdAt: stringMember(answer, 'createdAt') ?? '' };
}

/** The cast is safe: the schema accepted the document when it was written. */
function tripOf(doc: JsonObject): TripProject {
  return doc as unknown as TripProject;
}

function travelersOf(doc: JsonObject, names: Map<string, string>): Traveler[] {
  return tripOf(doc).travelerIds.map((id) => ({ id, name: names.get(id) ?? id }));
}

async function namesOf({ travel: { store } }: DataDeps, ids: string[]): Promise<Map<string, string>> {
  const users = await store.read([...new Set(ids)].map((id) => ({ type: user.type, id })));
  return new Map(users.map(({ id, doc }) => [id, nameOf(doc)]));
}

function nameOf(doc: JsonObject): string {
  const names = ['firstName', 'lastName'].flatMap((field) => stringMember(doc, field) ?? []);
  return names.join(' ') || (stringMember(doc, 'email') ?? '');
}

async function readTrip(deps: DataDeps, id: string) {
  const { store } = deps.travel;
  const stored = await requireResource(tripProject, store, targetOf(id));
  const resource = await serialize(tripProject, stored, store);
  const trip = tripOf(resource);
  const travelers = travelersOf(resource, await namesOf(deps, trip.travelerIds));
  return {
    ...headOf(resource),
    ...describeTrip(trip),
    ...{ parts: partsOfTrip(trip), resource },
    travelers: await withPeople(deps, travelers),
  };
}

/** Adds the person of each traveler, if an identity provider sends one. */
function withPeople(deps: DataDeps, travelers: Traveler[]): Promise<Traveler[]> {
  return Promise.all(
    travelers.map(async (traveler) => {
      const person = await findPerson(deps, traveler.id);
      return { ...traveler, ...(person && { person }) };
    }),
  );
}

async function findPerson({ identities, accounts }: DataDeps, travelId: string): Promise<Traveler['person']> {
  for (const account of accounts) {
    const holder = await identities.findHolder(account, { travelId });
    if (holder) return { connection: holder.connection, id: holder.id };
  }
  return undefined;
}

async function listInvoices(deps: DataDeps, page: PageOfTravelData) {
  const { data, ...rest } = await newestFirst(page, (query) =>
    list(allOf(invoice, deps), targetOf(''), query),
  );
  const customers = await customersOf(deps, data);
  return { invoices: data.map((doc) => toInvoice(doc, customers)), ...rest };
}

async function customersOf(
  { travel: { store } }: DataDeps,
  docs: JsonObject[],
): Promise<Map<string, string>> {
  const ids = new Set(docs.flatMap((doc) => stringMember(doc, 'billingProfileId') ?? []));
  const profiles = await store.read([...ids].map((id) => ({ type: billingProfile.type, id })));
  return new Map(profiles.map(({ id, doc }) => [id, stringMember(doc, 'name') ?? id]));
}

function toInvoice(doc: JsonObject, customers: Map<string, string>): TravelInvoice {
  // The cast is safe: the schema accepted the document when it was written.
  const { amount, billingOperationsCount, billingProfileId, description, kind, reference, status } =
    doc as unknown as Invoice;
  return {
    ...headOf(doc),
    ...{ description, kind, status, amount: toMoney(amount), operations: billingOperationsCount },
    customer: customers.get(billingProfileId) ?? billingProfileId,
    ...(reference === undefined ? {} : { reference }),
  };
}

function toMoney({ total, currency }: Invoice['amount']) {
  return { total, currency };
}

async function readInvoice(deps: DataDeps, id: string) {
  const { store } = deps.travel;
  const stored = await requireResource(invoice, store, targetOf(id));
  const resource = await serialize(invoice, stored, store);
  const moneyBack = async ({ type }: typeof refund) => {
    const found = await store.find({ type, name: INVOICE_INDEX, values: [id], limit: MAX_REFUNDS });
    return found.map(toMoneyBack);
  };
  return {
    ...toInvoice(resource, await customersOf(deps, [resource])),
    ...{ refunds: await moneyBack(refund), disputes: await moneyBack(dispute), resource },
  };
}

/** The refunds or disputes of an invoice that are shown. */
const MAX_REFUNDS = 100;

function toMoneyBack({ id, createdAt, doc }: StoredResource) {
  const { status, amount } = doc as unknown as Refund; // The cast is safe: the schema accepted the document.
  return { id, status, amount: toMoney(amount), createdAt: new Date(createdAt).toISOString() };
}

async function listOperations(
  deps: DataDeps,
  of: { trip: string } | { invoice: string },
  page: PageOfTravelData,
) {
  const [type, parentId] = 'trip' in of ? [tripProject.type, of.trip] : [invoice.type, of.invoice];
  const sub = billingOperation.subCollections?.find((one) => one.type === type);
  if (!sub) throw new Error(`a ${type} has no billing operations`);
  const { data, ...rest } = await newestFirst(page, (query) =>
    listSubCollection(allOf(billingOperation, deps), sub, targetOf('', parentId), query),
  );
  const travelers = new Map<string, Traveler>();
  for (const doc of data) {
    const traveler = operationOf(doc).bookingSnapshot?.traveler;
    if (traveler) travelers.set(traveler.id, { id: traveler.id, name: traveler.fullName });
  }
  const known = await withPeople(deps, [...travelers.values()]);
  return { operations: data.map((doc) => toOperation(doc, known)), ...rest };
}

/** The cast is safe: the schema accepted the document, and the status was added to it. */
function operationOf(doc: JsonObject): BillingOperation & { status: string } {
  return doc as unknown as BillingOperation & { status: string };
}

function toOperation(doc: JsonObject, travelers: Traveler[]): TravelBillingOperation {
  const { amount, bookingSnapshot, date, description, invoiceId, operationType, ...operation } =
    operationOf(doc);
  const traveler = travelers.find(({ id }) => id === bookingSnapshot?.traveler.id);
  return {
    ...{ id: headOf(doc).id, date, operationType, amount: toMoney(amount), status: operation.status },
    transactionKind: operation.transactionKind,
    ...(description === undefined ? {} : { description }),
    ...(traveler && { traveler }),
    ...(operation.tripProjectId === undefined ? {} : { tripId: operation.tripProjectId }),
    ...(invoiceId === undefined ? {} : { invoiceId }),
  };
}
