import type { Handlers } from '../contract/operation.ts';
import type {
  TravelBillingOperation,
  TravelInvoice,
  TravelInvoiceDetails,
  TravelTrip,
  TravelTripDetails,
  travelDataContract,
} from '../contract/travel-data.ts';
import { AdminError } from '../errors.ts';
import type { AdminContext } from '../router.ts';

/** Selects a page; `after` is the `next` of the page before. */
export interface PageOfTravelData {
  after?: string | undefined;
  limit: number;
}

/** The trips, invoices and sample data of the embedded travel service. Its faults are thrown as `AdminError`. All lists begin with the newest. */
export interface TravelData {
  listTrips(page: PageOfTravelData): Promise<{ trips: TravelTrip[]; next?: string }>;
  readTrip(id: string): Promise<TravelTripDetails>;
  listInvoices(page: PageOfTravelData): Promise<{ invoices: TravelInvoice[]; next?: string }>;
  readInvoice(id: string): Promise<TravelInvoiceDetails>;
  /** Lists the billing operations of a trip or an invoice. */
  listOperations(
    of: { trip: string } | { invoice: string },
    page: PageOfTravelData,
  ): Promise<{ operations: TravelBillingOperation[]; next?: string }>;
  sampleData: {
    describe(): Promise<SampleCompanyState>;
    create(): Promise<{ company: string; created: Record<string, number> }>;
    remove(): Promise<{ company: string; removed: Record<string, number>; kept: Record<string, number> }>;
  };
}

interface SampleCompanyState {
  company: string;
  domain: string;
  isPresent: boolean;
  users: number;
  trips: number;
}

/** Dependencies of the operations on the data of the travel service. */
export interface TravelDataDeps {
  /** Undefined if no connection uses the embedded service. */
  travelData: TravelData | undefined;
}

/** Handles the trips, invoices and sample data of the embedded travel service. */
export function travelDataHandlers({
  travelData,
}: TravelDataDeps): Handlers<typeof travelDataContract, AdminContext> {
  const data = () => {
    if (travelData) return travelData;
    throw new AdminError('notFound', 'No connection uses the embedded travel service.');
  };
  return {
    listTravelTrips: async ({ query }) => data().listTrips(query),
    readTravelTrip: async ({ params: { id } }) => data().readTrip(id),
    listTravelInvoices: async ({ query }) => data().listInvoices(query),
    readTravelInvoice: async ({ params: { id } }) => data().readInvoice(id),
    listTripOperations: async ({ params: { id }, query }) => data().listOperations({ trip: id }, query),
    listInvoiceOperations: async ({ params: { id }, query }) => data().listOperations({ invoice: id }, query),
    describeSampleData: async () => data().sampleData.describe(),
    createSampleData: async (_request, { note }) => {
      const made = await data().sampleData.create();
      note(made);
      return made;
    },
    removeSampleData: async (_request, { note }) => {
      const removal = await data().sampleData.remove();
      note(removal);
      return removal;
    },
  };
}
