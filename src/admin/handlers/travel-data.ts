import type { Identities } from '../../provisioning/store-ports.ts';
import { listSubCollection, requireResource, serialize, type TravelDeps } from '../../travel/collection.ts';
import { type JsonObject, stringMember } from '../../travel/json.ts';
import type { StoredResource } from '../../travel/ports.ts';
import {
  type BillingOperation,
  billingOperation,
  dispute,
  INVOICE_INDEX,
  type Invoice,
  invoice,
  type Refund,
  refund,
} from '../../travel/resources/billing.ts';
import { billingProfile } from '../../travel/resources/lookups.ts';
import { type TripProject, tripProject } from '../../travel/resources/trip-project.ts';
import { user } from '../../travel/resources/user.ts';
import type { HandlerRequest, Handlers } from '../contract/operation.ts';
import type { Traveler, travelDataContract } from '../contract/travel-data.ts';
import { type AdminDeps, requireEmbedded } from '../deps.ts';
import { describeTrip, partsOfTrip } from '../describe-trip.ts';
import type { AdminContext } from '../router.ts';
import { sampleDataHandlers } from './sample-data.ts';
import { listNewest, newestFirst, targetOf } from './travel.ts';

/** Dependencies of the operations on the data of the embedded travel service. */
interface TravelDataDeps {
  travel: TravelDeps;
  identities: Pick<Identities, 'findHolder'>;
  /** The accounts of the connections that use the embedded service. */
  accounts: string[];
}

/** Handles the trips, invoices and sample data of the embedded travel service. All lists begin with the newest. */
export function travelDataHandlers(parts: AdminDeps): Handlers<typeof travelDataContract, AdminContext> {
  const accounts = () => {
    const own = parts.connections.filter(({ settings }) => settings.travelApi.url === 'embedded');
    return [...new Set(own.map(({ settings }) => settings.account))];
  };
  const deps = () => ({
    ...{ travel: requireEmbedded(parts).travel, identities: parts.store.identities, accounts: accounts() },
  });
  return {
    listTravelTrips: async ({ query }) => listTrips(deps(), query),
    readTravelTrip: async ({ params: { id } }) => readTrip(deps(), id),
    listTravelInvoices: async ({ query }) => listInvoices(deps(), query),
    readTravelInvoice: async ({ params: { id } }) => readInvoice(deps(), id),
    listTripOperations: async ({ params: { id }, query }) =>
      listOperations(deps(), { type: tripProject.type, id }, query),
    listInvoiceOperations: async ({ params: { id }, query }) =>
      listOperations(deps(), { type: invoice.type, id }, query),
    ...sampleDataHandlers(() => deps().travel),
  };
}

type Page = HandlerRequest<(typeof travelDataContract)['listTravelTrips']>['query'];

async function listTrips(deps: TravelDataDeps, page: Page) {
  const { data, ...rest } = await listNewest(tripProject, deps, page);
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
function headOf(answer: JsonObject): { id: string; createdAt: number } {
  return {
    id: stringMember(answer, 'id') ?? '',
    createdAt: Date.parse(stringMember(answer, 'createdAt') ?? ''),
  };
}

/** The cast is safe: the schema accepted the document when it was written. */
function tripOf(doc: JsonObject): TripProject {
  return doc as unknown as TripProject;
}

function travelersOf(doc: JsonObject, names: Map<string, string>): Traveler[] {
  return tripOf(doc).travelerIds.map((id) => ({ id, name: names.get(id) ?? id }));
}

async function namesOf({ travel: { store } }: TravelDataDeps, ids: string[]): Promise<Map<string, string>> {
  const users = await store.read([...new Set(ids)].map((id) => ({ type: user.type, id })));
  return new Map(users.map(({ id, doc }) => [id, nameOf(doc)]));
}

function nameOf(doc: JsonObject): string {
  const names = ['firstName', 'lastName'].flatMap((field) => stringMember(doc, field) ?? []);
  return names.join(' ') || (stringMember(doc, 'email') ?? '');
}

async function readTrip(deps: TravelDataDeps, id: string) {
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
function withPeople(deps: TravelDataDeps, travelers: Traveler[]): Promise<Traveler[]> {
  return Promise.all(
    travelers.map(async (traveler) => ({ ...traveler, person: await findPerson(deps, traveler.id) })),
  );
}

async function findPerson(
  { identities, accounts }: TravelDataDeps,
  travelId: string,
): Promise<Traveler['person']> {
  for (const account of accounts) {
    const holder = await identities.findHolder(account, { travelId });
    if (holder) return holder;
  }
  return undefined;
}

async function listInvoices(deps: TravelDataDeps, page: Page) {
  const { data, ...rest } = await listNewest(invoice, deps, page);
  const customers = await customersOf(deps, data);
  return { invoices: data.map((doc) => toInvoice(doc, customers)), ...rest };
}

async function customersOf(
  { travel: { store } }: TravelDataDeps,
  docs: JsonObject[],
): Promise<Map<string, string>> {
  const ids = new Set(docs.flatMap((doc) => stringMember(doc, 'billingProfileId') ?? []));
  const profiles = await store.read([...ids].map((id) => ({ type: billingProfile.type, id })));
  return new Map(profiles.map(({ id, doc }) => [id, stringMember(doc, 'name') ?? id]));
}

function toInvoice(doc: JsonObject, customers: Map<string, string>) {
  const stored = doc as unknown as Invoice; // The cast is safe: the schema accepted the document.
  const customer = customers.get(stored.billingProfileId) ?? stored.billingProfileId;
  return { ...stored, ...headOf(doc), customer, operations: stored.billingOperationsCount };
}

async function readInvoice(deps: TravelDataDeps, id: string) {
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
  return { ...(doc as unknown as Refund), id, createdAt }; // The cast is safe: the schema accepted the document.
}

/** Lists the billing operations of a trip or an invoice. */
async function listOperations(
  deps: TravelDataDeps,
  { type, id: parentId }: { type: string; id: string },
  page: Page,
) {
  const sub = billingOperation.subCollections?.find((one) => one.type === type);
  if (!sub) throw new Error(`a ${type} has no billing operations`);
  const collection = { resource: billingOperation, deps: deps.travel };
  const { data, ...rest } = await newestFirst(page, (query) =>
    listSubCollection(collection, sub, targetOf('', parentId), query),
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

function toOperation(doc: JsonObject, travelers: Traveler[]) {
  const stored = operationOf(doc);
  const { id } = headOf(doc);
  const traveler = travelers.find((one) => one.id === stored.bookingSnapshot?.traveler.id);
  return { ...stored, id, date: Date.parse(stored.date), traveler, tripId: stored.tripProjectId };
}
