import { z } from 'zod';
import type { Identities } from '../../model/store-ports.ts';
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
import { requireEmbedded, type ServiceDeps } from '../deps.ts';
import { type Operations, serviceOperation } from '../operation.ts';
import { id, next, optionalText, time, travelPage } from '../schemas.ts';
import { describeTrip, money, partsOfTrip, tripPart, tripStates } from './describe-trip.ts';
import { listNewest, newestFirst, targetOf } from './travel-service.ts';

const traveler = z
  .object({
    id: z.string().describe('The id in the travel service'),
    name: z.string().describe('The name, or the email address of one without a name'),
    person: z
      .object({ connection: z.string(), id: z.string() })
      .optional()
      .describe('The person whom an identity provider sends. Absent in lists of trips'),
  })
  .meta({ id: 'Traveler', description: 'A user of the travel service' });

export type Traveler = z.input<typeof traveler>;

const tripMembers = {
  id,
  createdAt: time,
  title: z
    .string()
    .describe(
      'The origin and the destination; if there are none, the place of the stay or the kind of the search',
    ),
  startsAt: optionalText.describe('Local time of the place, without zone'),
  state: z.enum(tripStates),
  approvalStatus: optionalText,
  travelers: z.array(traveler),
  prices: z.array(money).describe('The costs of the trip, one sum for each currency'),
};

const travelTrip = z.object(tripMembers).meta({ id: 'TravelTrip' });

export type TravelTrip = z.input<typeof travelTrip>;

/** The resource as the travel API answers it, for developers. */
const resource = z.record(z.string(), z.unknown());

const travelTripDetails = z
  .object({
    ...tripMembers,
    parts: z.array(tripPart),
    resource,
  })
  .meta({ id: 'TravelTripDetails' });

export type TravelTripDetails = z.input<typeof travelTripDetails>;

const invoiceMembers = {
  id,
  createdAt: time,
  description: z.string(),
  kind: z.string(),
  status: z.string().describe('`open`, `paid`, `uncollectible` or `void`'),
  reference: optionalText,
  customer: z.string().describe('The name of the billing profile'),
  amount: money,
  operations: z.int().describe('The number of billing operations'),
};

const travelInvoice = z.object(invoiceMembers).meta({ id: 'TravelInvoice' });

export type TravelInvoice = z.input<typeof travelInvoice>;

const moneyBack = z.object({ id, createdAt: time, status: z.string(), amount: money });

const travelInvoiceDetails = z
  .object({ ...invoiceMembers, refunds: z.array(moneyBack), disputes: z.array(moneyBack), resource })
  .meta({ id: 'TravelInvoiceDetails' });

export type TravelInvoiceDetails = z.input<typeof travelInvoiceDetails>;

const listedOperation = z
  .object({
    id,
    date: time,
    transactionKind: z.string().describe('`purchase`, `refund` or `dispute`'),
    operationType: z.string(),
    description: optionalText,
    status: z.string(),
    amount: money,
    traveler: traveler.optional(),
    tripId: optionalText,
    invoiceId: optionalText,
  })
  .meta({ id: 'TravelBillingOperation' });

export type TravelBillingOperation = z.input<typeof listedOperation>;

const tag = 'Travel service';

const pageQuery = z.strictObject(travelPage);

/** The trips and invoices of the embedded travel service, and its sample data. Without the service, all answer 404. */
export const travelDataOperations = {
  listTravelTrips: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/trips', tag, access: 'viewer' },
      summary: 'List the trips, the newest first',
      query: pageQuery,
      result: z.object({ trips: z.array(travelTrip), next }),
      errors: ['notFound'],
    },
    async ({ query }, deps) => listTrips(travelDataDeps(deps), query),
  ),
  readTravelTrip: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/trips/{id}', tag, access: 'viewer' },
      summary: 'Read a trip with its travelers, journeys, stays and bookings',
      result: travelTripDetails,
    },
    async ({ params: { id } }, deps) => readTrip(travelDataDeps(deps), id),
  ),
  listTravelInvoices: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/invoices', tag, access: 'viewer' },
      summary: 'List the invoices, the newest first',
      query: z.strictObject(travelPage),
      result: z.object({ invoices: z.array(travelInvoice), next }),
      errors: ['notFound'],
    },
    async ({ query }, deps) => listInvoices(travelDataDeps(deps), query),
  ),
  readTravelInvoice: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/invoices/{id}', tag, access: 'viewer' },
      summary: 'Read an invoice with its refunds and disputes',
      result: travelInvoiceDetails,
    },
    async ({ params: { id } }, deps) => readInvoice(travelDataDeps(deps), id),
  ),
  listTripOperations: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/trips/{id}/billing-operations', tag, access: 'viewer' },
      summary: 'List the billing operations of a trip, the newest first',
      query: z.strictObject(travelPage),
      result: z.object({ operations: z.array(listedOperation), next }),
    },
    async ({ params: { id }, query }, deps) =>
      listOperations(travelDataDeps(deps), { type: tripProject.type, id }, query),
  ),
  listInvoiceOperations: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/invoices/{id}/billing-operations', tag, access: 'viewer' },
      summary: 'List the billing operations of an invoice, the newest first',
      query: z.strictObject(travelPage),
      result: z.object({ operations: z.array(listedOperation), next }),
    },
    async ({ params: { id }, query }, deps) =>
      listOperations(travelDataDeps(deps), { type: invoice.type, id }, query),
  ),
} satisfies Operations;

/** Returns what the operations use of the service. Throws 404 if it has no embedded travel service. */
function travelDataDeps(deps: ServiceDeps): TravelDataDeps {
  const own = deps.connections.filter(({ settings }) => settings.travelApi.url === 'embedded');
  const accounts = [...new Set(own.map(({ settings }) => settings.account))];
  return { travel: requireEmbedded(deps).travel, identities: deps.store.identities, accounts };
}

/** Dependencies of the operations on the data of the embedded travel service. */
interface TravelDataDeps {
  travel: TravelDeps;
  identities: Pick<Identities, 'findHolder'>;
  /** The accounts of the connections that use the embedded service. */
  accounts: string[];
}

type Page = z.output<typeof pageQuery>;

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
