import { seconds } from '../collection.ts';
import { ApiError, notFound, validationFailed } from '../errors.ts';
import { isObject, type Json, type JsonObject, textOf } from '../json.ts';
import { readOne } from '../ports.ts';
import { checkedCustomFields } from '../resources/custom-field-check.ts';
import type { CustomFieldValues } from '../resources/custom-field-values.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { add, type BookingDeps, change, get, type Kept } from './context.ts';
import { policyOf, travelersBy } from './coverage.ts';
import { centsOf, type Offer, type Price, withOffers } from './prices.ts';
import { type ApprovalStatus, mustFollow } from './transitions.ts';

/** What somebody looks for, and what suppliers offer for it. */
export interface TripSearch {
  travelerIds: string[];
  search: TripProject['search'];
  offers: Offer[];
  projectCodeId?: string;
  customFields?: CustomFieldValues;
  /** What the policy would have the trip cost. */
  budget?: Price;
}

/** A trip project with what was found; the travelers' policies say whether somebody must agree before it is booked. */
export async function searchTrip(deps: BookingDeps, wanted: TripSearch): Promise<Kept<'tripProject'>> {
  const { offers, search, projectCodeId, budget } = wanted;
  const travelerIds = [...new Set(wanted.travelerIds)];
  if (travelerIds.length === 0) throw new ApiError('conflict', 'A trip has at least one traveler.');
  const travelers = await travelersBy(deps, travelerIds);
  const { within } = deps.recorder;
  if (projectCodeId !== undefined && !(await readOne(within, 'projectCode', projectCodeId))) {
    throw notFound('projectCode');
  }
  const policies = [];
  for (const traveler of travelers) policies.push((await policyOf(deps, traveler)) ?? {});
  const now = deps.now();
  const begins = search.departureLocaleDateTime ?? startOf(offers);
  const plan = { offers, now, begins, countries: countriesOf(search, offers), budget };
  const trip: TripProject = {
    approvalStatus: approvalStatus(policies, plan),
    customFields: await tripFields(deps, wanted.customFields),
    projectCodeId,
    rates: [],
    search,
    travelerIds,
  };
  return add(deps, 'tripProject', withOffers(trip, offers, { at: seconds(now), newId: deps.newId }));
}

/** What an approver, or an admin over their head, says to a trip. */
export async function decideTrip(
  deps: BookingDeps,
  tripProjectId: string,
  status: Exclude<ApprovalStatus, 'awaitApproval'>,
): Promise<Kept<'tripProject'>> {
  const trip = await get(deps, 'tripProject', tripProjectId);
  mustFollow('approval', trip.doc.approvalStatus, status);
  return change(deps, 'tripProject', trip, { approvalStatus: status });
}

async function tripFields(deps: BookingDeps, wanted: CustomFieldValues = []): Promise<CustomFieldValues> {
  const change = {
    operation: 'create' as const,
    before: undefined,
    wanted: { customFields: wanted as unknown as Json },
    within: deps.recorder.within,
  };
  const { customFields, invalid } = await checkedCustomFields(change, 'tripProject');
  if (invalid.length > 0) throw validationFailed(invalid);
  return customFields;
}

/** What a policy looks at. */
export interface Plan {
  offers: Offer[];
  /** When it is searched for. */
  now: number;
  /** Local date-time of the departure, or of the first night. */
  begins?: string | undefined;
  countries: string[];
  /** What the policy would have the trip cost. */
  budget?: Price | undefined;
}

/** What the travel policies of all travelers make of a plan: the strictest word counts. No policy asks for nothing. */
export function approvalStatus(policies: JsonObject[], plan: Plan): ApprovalStatus {
  const words = policies.map((policy) => controls[control(policy)](settings(policy), plan));
  if (words.includes('declined')) return 'declined';
  return words.includes('awaitApproval') ? 'awaitApproval' : 'bookingAllowed';
}

type Control = 'full' | 'none' | 'notif' | 'smart';

const controls: Record<Control, (settings: JsonObject, plan: Plan) => ApprovalStatus> = {
  full: () => 'awaitApproval',
  none: () => 'bookingAllowed',
  // The approver is told, and not asked.
  notif: () => 'bookingAllowed',
  smart,
};

function control(policy: JsonObject): Control {
  const named = textOf(policy, 'control');
  return named === 'full' || named === 'notif' || named === 'smart' ? named : 'none';
}

function settings(policy: JsonObject): JsonObject {
  return isObject(policy['smartSettings']) ? policy['smartSettings'] : {};
}

/** Every setting that applies has its say. */
function smart(smartSettings: JsonObject, plan: Plan): ApprovalStatus {
  const words = Object.entries(smartSettings).flatMap(([name, setting]) => {
    if (!isObject(setting)) return [];
    if (name === 'tripDestination') return destination(setting, plan);
    return conditions.get(name)?.(setting, plan) === true ? [wordOf(setting)] : [];
  });
  if (words.includes('declined')) return 'declined';
  return words.includes('awaitApproval') ? 'awaitApproval' : 'bookingAllowed';
}

/** "action value `deny` occurs. Other allowed values: not shown": what is neither that nor a permission asks somebody. */
function wordOf(setting: JsonObject): ApprovalStatus {
  const action = textOf(setting, 'action');
  if (action === 'deny') return 'declined';
  return action === undefined || action === 'allow' || action === 'notify'
    ? 'bookingAllowed'
    : 'awaitApproval';
}

const conditions = new Map<string, (setting: JsonObject, plan: Plan) => boolean>([
  ['hotelIsNotCancellable', (_setting, { offers }) => offers.some(isFixedHotel)],
  ['maxCarRentalAcrissCategory', ({ category }, { offers }) => offers.some((one) => isAbove(one, category))],
  ['maxTripFlightPrice', (setting, { offers }) => exceeds(offers, setting, 'flight')],
  ['maxTripHotelPrice', (setting, { offers }) => exceeds(offers, setting, 'hotel')],
  ['maxTripRailPrice', (setting, { offers }) => exceeds(offers, setting, 'rail')],
  ['maxTripPrice', (setting, { offers }) => exceeds(offers, setting)],
  ['minBookingLeadTime', isLate],
  ['tripIsOutOfBudget', (_setting, plan) => isOverBudget(plan) === true],
  ['tripIsWithinBudget', (_setting, plan) => isOverBudget(plan) === false],
]);

function destination(setting: JsonObject, { countries }: Plan): ApprovalStatus[] {
  const names = (list: unknown) => Array.isArray(list) && list.some((code) => countries.includes(code));
  if (names(setting['denyCountries'])) return ['declined'];
  return names(setting['forceApprovalCountries']) ? ['awaitApproval'] : [];
}

function isFixedHotel(offer: Offer): boolean {
  return offer.kind === 'hotel' && offer.cancellable === false;
}

/** The first letter of an ACRISS code, the smallest cars first; a letter that is not here counts as the largest. */
const CATEGORIES = 'MNEHCDIJSRFGPULW';

function isAbove(offer: Offer, most: unknown): boolean {
  if (offer.kind !== 'car' || typeof most !== 'string') return false;
  const rank = (code: string) => {
    const place = CATEGORIES.indexOf(code.charAt(0).toUpperCase());
    return place < 0 ? CATEGORIES.length : place;
  };
  return rank(offer.rental.car.acriss) > rank(most);
}

/** Prices in another currency than the setting's are not compared: there is no rate to compare them by. */
function exceeds(offers: Offer[], { amount, currency }: JsonObject, kind?: Offer['kind']): boolean {
  const compared = offers.filter((one) => one.price.currency === currency && (!kind || one.kind === kind));
  return typeof amount === 'number' && sum(compared) > centsOf({ total: amount });
}

const DAY = 86_400_000;

/** The clock on the spot is taken for UTC: at the edge of a day that is near enough. */
function isLate({ days }: JsonObject, { begins, now }: Plan): boolean {
  if (begins === undefined || typeof days !== 'number') return false;
  return Date.parse(`${begins}Z`) - now < days * DAY;
}

function isOverBudget({ offers, budget }: Plan): boolean | undefined {
  if (!budget) return undefined;
  return sum(offers.filter(({ price }) => price.currency === budget.currency)) > centsOf(budget);
}

function sum(offers: Offer[]): number {
  return offers.reduce((total, { price }) => total + centsOf(price), 0);
}

/** When the first of the offers begins, as a local date-time. */
export function startOf(offers: Offer[]): string | undefined {
  return offers.flatMap((offer) => start(offer) ?? []).sort()[0];
}

/** The countries to which a trip leads. */
export function countriesOf({ arrivalPlace }: TripProject['search'], offers: Offer[]): string[] {
  const codes = [arrivalPlace, ...offers.flatMap(places)].flatMap((place) => place?.country?.code ?? []);
  return [...new Set(codes)];
}

function start(offer: Offer): string | undefined {
  switch (offer.kind) {
    case 'hotel':
      return `${offer.stay.checkinLocaleDate}T00:00:00`;
    case 'car':
      return offer.rental.pickupLocaleDateTime;
    case 'flight':
    case 'rail':
      return offer.legs[0]?.segments[0]?.departure.localeDateTime;
  }
}

/** The last leg of a return leads home, where nobody needs to be allowed to go: the first counts. */
function places(offer: Offer) {
  switch (offer.kind) {
    case 'hotel':
      return [offer.stay.place];
    case 'car':
      return [offer.rental.pickupPlace, offer.rental.returnpPlace];
    case 'flight':
    case 'rail': {
      const out = offer.legs.length > 1 ? offer.legs.slice(0, -1) : offer.legs;
      return out.flatMap(({ segments }) => segments.slice(-1).map(({ arrival }) => arrival.place));
    }
  }
}
