import { formatTimestamp, requireStored } from '../collection.ts';
import { ApiError, validationFailed } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject, stringMember } from '../json.ts';
import { type CustomFieldValues, validateCustomFields } from '../resources/custom-field-values.ts';
import type { TripProject } from '../resources/trip-project.ts';
import {
  type BookingDeps,
  insertDocument,
  requireDocument,
  type StoredTrip,
  updateDocument,
} from './context.ts';
import { addQuotes, centsOf, type Price, type Quote } from './prices.ts';
import { type ApprovalStatus, requireTransition } from './transitions.ts';
import { findTravelPolicy, requireTravelers } from './traveler-segments.ts';

/** A search for a trip and the quotes that suppliers returned. */
export interface TripSearch {
  travelerIds: string[];
  search: TripProject['search'];
  quotes: Quote[];
  projectCodeId?: string;
  customFields?: CustomFieldValues;
  /** The cost of the trip that the travel policy suggests. */
  budget?: Price;
}

/** Creates a trip project with the quotes. The travelers' policies decide whether it needs approval. */
export async function searchTrip(deps: BookingDeps, wanted: TripSearch): Promise<StoredTrip> {
  const { quotes, search, projectCodeId, budget } = wanted;
  const travelerIds = [...new Set(wanted.travelerIds)];
  if (travelerIds.length === 0) throw new ApiError('conflict', 'A trip has at least one traveler.');
  const travelers = await requireTravelers(deps, travelerIds);
  const { transaction } = deps.recorder;
  if (projectCodeId !== undefined) await requireStored(transaction, 'projectCode', projectCodeId);
  const policies = [];
  for (const traveler of travelers) policies.push((await findTravelPolicy(deps, traveler)) ?? {});
  const now = deps.now();
  const begins = search.departureLocaleDateTime ?? earliestStart(quotes);
  const plan = { quotes, now, begins, countries: destinationCountries(search, quotes), budget };
  const trip: TripProject = {
    approvalStatus: decideApproval(policies, plan),
    customFields: await tripFields(deps, wanted.customFields),
    projectCodeId,
    rates: [],
    search,
    travelerIds,
  };
  return insertDocument(
    deps,
    'tripProject',
    addQuotes(trip, quotes, { at: formatTimestamp(now), newId: deps.newId }),
  );
}

/** Records the decision of the approver, or of an admin who overrides it. */
export async function setApprovalStatus(
  deps: BookingDeps,
  tripProjectId: string,
  status: Exclude<ApprovalStatus, 'awaitApproval'>,
): Promise<StoredTrip> {
  const trip = await requireDocument(deps, 'tripProject', tripProjectId);
  requireTransition('approval', trip.doc.approvalStatus, status);
  return updateDocument(deps, 'tripProject', trip, { approvalStatus: status });
}

async function tripFields(deps: BookingDeps, wanted: CustomFieldValues = []): Promise<CustomFieldValues> {
  const change = {
    operation: 'create' as const,
    before: undefined,
    wanted: { customFields: wanted as unknown as Json },
    transaction: deps.recorder.transaction,
  };
  const { customFields, invalid } = await validateCustomFields(change, 'tripProject');
  if (invalid.length > 0) throw validationFailed(invalid);
  return customFields;
}

/** The facts that travel policies are evaluated on. */
export interface TripPlan {
  quotes: Quote[];
  /** The time of the search, in epoch milliseconds. */
  now: number;
  /** Local date-time of the departure, or of the first night. */
  begins?: string | undefined;
  countries: string[];
  /** The cost of the trip that the travel policy suggests. */
  budget?: Price | undefined;
}

/**
 * Evaluates the travel policies of all travelers and returns the strictest result. A traveler without a policy needs no
 * approval.
 */
export function decideApproval(policies: JsonObject[], plan: TripPlan): ApprovalStatus {
  const words = policies.map((policy) => controls[controlOf(policy)](smartSettingsOf(policy), plan));
  if (words.includes('declined')) return 'declined';
  return words.includes('awaitApproval') ? 'awaitApproval' : 'bookingAllowed';
}

type Control = 'full' | 'none' | 'notif' | 'smart';

const controls: Record<Control, (settings: JsonObject, plan: TripPlan) => ApprovalStatus> = {
  full: () => 'awaitApproval',
  none: () => 'bookingAllowed',
  // A booking under this policy needs no approval; the approver only gets a notification.
  notif: () => 'bookingAllowed',
  smart: applySmartSettings,
};

function controlOf(policy: JsonObject): Control {
  const named = stringMember(policy, 'control');
  return named === 'full' || named === 'notif' || named === 'smart' ? named : 'none';
}

function smartSettingsOf(policy: JsonObject): JsonObject {
  return isJsonObject(policy['smartSettings']) ? policy['smartSettings'] : {};
}

/** Evaluates all settings that apply to the trip and returns the strictest result. */
function applySmartSettings(smartSettings: JsonObject, plan: TripPlan): ApprovalStatus {
  const words = Object.entries(smartSettings).flatMap(([name, setting]) => {
    if (!isJsonObject(setting)) return [];
    if (name === 'tripDestination') return applyDestination(setting, plan);
    return conditions.get(name)?.(setting, plan) === true ? [statusForAction(setting)] : [];
  });
  if (words.includes('declined')) return 'declined';
  return words.includes('awaitApproval') ? 'awaitApproval' : 'bookingAllowed';
}

/** "action value `deny` occurs. Other allowed values: not shown". An unknown action requires approval. */
function statusForAction(setting: JsonObject): ApprovalStatus {
  const action = stringMember(setting, 'action');
  if (action === 'deny') return 'declined';
  return action === undefined || action === 'allow' || action === 'notify'
    ? 'bookingAllowed'
    : 'awaitApproval';
}

const conditions = new Map<string, (setting: JsonObject, plan: TripPlan) => boolean>([
  ['hotelIsNotCancellable', (_setting, { quotes }) => quotes.some(isFixedHotel)],
  ['maxCarRentalAcrissCategory', ({ category }, { quotes }) => quotes.some((one) => isAbove(one, category))],
  ['maxTripFlightPrice', (setting, { quotes }) => exceeds(quotes, setting, 'flight')],
  ['maxTripHotelPrice', (setting, { quotes }) => exceeds(quotes, setting, 'hotel')],
  ['maxTripRailPrice', (setting, { quotes }) => exceeds(quotes, setting, 'rail')],
  ['maxTripPrice', (setting, { quotes }) => exceeds(quotes, setting)],
  ['minBookingLeadTime', isLate],
  ['tripIsOutOfBudget', (_setting, plan) => isOverBudget(plan) === true],
  ['tripIsWithinBudget', (_setting, plan) => isOverBudget(plan) === false],
]);

function applyDestination(setting: JsonObject, { countries }: TripPlan): ApprovalStatus[] {
  const names = (list: unknown) => Array.isArray(list) && list.some((code) => countries.includes(code));
  if (names(setting['denyCountries'])) return ['declined'];
  return names(setting['forceApprovalCountries']) ? ['awaitApproval'] : [];
}

function isFixedHotel(quote: Quote): boolean {
  return quote.kind === 'hotel' && quote.cancellable === false;
}

/** The first letters of ACRISS codes from the smallest cars to the largest. Unknown letters count as the largest. */
const CATEGORIES = 'MNEHCDIJSRFGPULW';

function isAbove(quote: Quote, most: unknown): boolean {
  if (quote.kind !== 'car' || typeof most !== 'string') return false;
  const rank = (code: string) => {
    const place = CATEGORIES.indexOf(code.charAt(0).toUpperCase());
    return place < 0 ? CATEGORIES.length : place;
  };
  return rank(quote.rental.car.acriss) > rank(most);
}

/** Prices in other currencies than the setting's are ignored, because there is no exchange rate. */
function exceeds(quotes: Quote[], { amount, currency }: JsonObject, kind?: Quote['kind']): boolean {
  const compared = quotes.filter((one) => one.price.currency === currency && (!kind || one.kind === kind));
  return typeof amount === 'number' && sumOfQuotes(compared) > centsOf({ total: amount });
}

const DAY = 86_400_000;

/** Local times are taken as UTC. The error of some hours does not matter for a limit in days. */
function isLate({ days }: JsonObject, { begins, now }: TripPlan): boolean {
  if (begins === undefined || typeof days !== 'number') return false;
  return Date.parse(`${begins}Z`) - now < days * DAY;
}

function isOverBudget({ quotes, budget }: TripPlan): boolean | undefined {
  if (!budget) return undefined;
  return sumOfQuotes(quotes.filter(({ price }) => price.currency === budget.currency)) > centsOf(budget);
}

function sumOfQuotes(quotes: Quote[]): number {
  return quotes.reduce((total, { price }) => total + centsOf(price), 0);
}

/** Returns the local date-time at which the first quote begins. */
export function earliestStart(quotes: Quote[]): string | undefined {
  return quotes.flatMap((quote) => startOfQuote(quote) ?? []).sort()[0];
}

/** Returns the country codes of the destinations. */
export function destinationCountries({ arrivalPlace }: TripProject['search'], quotes: Quote[]): string[] {
  const codes = [arrivalPlace, ...quotes.flatMap(placesOfQuote)].flatMap(
    (place) => place?.country?.code ?? [],
  );
  return [...new Set(codes)];
}

function startOfQuote(quote: Quote): string | undefined {
  switch (quote.kind) {
    case 'hotel':
      return `${quote.stay.checkinLocaleDate}T00:00:00`;
    case 'car':
      return quote.rental.pickupLocaleDateTime;
    case 'flight':
    case 'rail':
      return quote.legs[0]?.segments[0]?.departure.localeDateTime;
  }
}

/** Returns the destinations of a quote. The last leg of a return journey is omitted, because it leads home. */
function placesOfQuote(quote: Quote) {
  switch (quote.kind) {
    case 'hotel':
      return [quote.stay.place];
    case 'car':
      return [quote.rental.pickupPlace, quote.rental.returnpPlace];
    case 'flight':
    case 'rail': {
      const out = quote.legs.length > 1 ? quote.legs.slice(0, -1) : quote.legs;
      return out.flatMap(({ segments }) => segments.slice(-1).map(({ arrival }) => arrival.place));
    }
  }
}
