import { z } from 'zod';
import type { Contract } from './operation.ts';
import { id, next, optionalText, time, travelPage } from './schemas.ts';

const money = z.object({ total: z.number(), currency: z.string() });

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
  state: z.enum(['notBooked', 'booked', 'canceled', 'failed']),
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
    parts: z.array(
      z.object({
        key: z.string(),
        kind: z.string().describe('E.g. `flight`, `rail`, `hotel` or `car`'),
        from: z.string(),
        to: optionalText,
        startsAt: z.string(),
        endsAt: z.string(),
        number: optionalText.describe('Of the flight or train'),
        reference: optionalText.describe('Of the booking'),
        state: z.enum(['notBooked', 'booked', 'canceled', 'exchanged', 'failed']),
        price: money.optional(),
      }),
    ),
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

const billingOperation = z
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
export type TravelBillingOperation = z.input<typeof billingOperation>;

const counts = z.record(z.string(), z.int()).describe('The number of resources by type');

const tag = 'Travel service';

/** The trips and invoices of the embedded travel service, and its sample data. Without the service, all answer 404. */
export const travelDataContract = {
  listTravelTrips: {
    ...{ method: 'get', path: '/travel/trips', tag, access: 'viewer' },
    summary: 'List the trips, the newest first',
    query: z.strictObject(travelPage),
    result: z.object({ trips: z.array(travelTrip), next }),
    errors: ['notFound'],
  },
  readTravelTrip: {
    ...{ method: 'get', path: '/travel/trips/{id}', tag, access: 'viewer' },
    summary: 'Read a trip with its travelers, journeys, stays and bookings',
    result: travelTripDetails,
  },
  listTravelInvoices: {
    ...{ method: 'get', path: '/travel/invoices', tag, access: 'viewer' },
    summary: 'List the invoices, the newest first',
    query: z.strictObject(travelPage),
    result: z.object({ invoices: z.array(travelInvoice), next }),
    errors: ['notFound'],
  },
  readTravelInvoice: {
    ...{ method: 'get', path: '/travel/invoices/{id}', tag, access: 'viewer' },
    summary: 'Read an invoice with its refunds and disputes',
    result: travelInvoiceDetails,
  },
  listTripOperations: {
    ...{ method: 'get', path: '/travel/trips/{id}/billing-operations', tag, access: 'viewer' },
    summary: 'List the billing operations of a trip, the newest first',
    query: z.strictObject(travelPage),
    result: z.object({ operations: z.array(billingOperation), next }),
  },
  listInvoiceOperations: {
    ...{ method: 'get', path: '/travel/invoices/{id}/billing-operations', tag, access: 'viewer' },
    summary: 'List the billing operations of an invoice, the newest first',
    query: z.strictObject(travelPage),
    result: z.object({ operations: z.array(billingOperation), next }),
  },
  describeSampleData: {
    ...{ method: 'get', path: '/travel/sample-data', tag, access: 'viewer' },
    summary: 'Tell whether the sample company is in the travel service',
    result: z.object({
      company: z.string(),
      domain: z.string().describe('The domain of the email addresses of its people'),
      isPresent: z.boolean(),
      users: z.int().describe('The number of people that are created'),
      trips: z.int().describe('The number of trips that are created'),
    }),
    errors: ['notFound'],
  },
  createSampleData: {
    ...{ method: 'post', path: '/travel/sample-data', tag, access: 'admin' },
    summary: 'Create the sample company with people, trips and invoices',
    result: z.object({ company: z.string(), created: counts }),
    errors: ['notFound', 'conflict'],
  },
  removeSampleData: {
    ...{ method: 'delete', path: '/travel/sample-data', tag, access: 'admin' },
    summary: 'Remove everything that belongs to the sample company',
    result: z.object({
      company: z.string(),
      removed: counts,
      kept: counts.describe('Resources to which others refer, by type'),
    }),
    errors: ['notFound', 'conflict'],
  },
} as const satisfies Contract;
