import { seconds } from '../collection.ts';
import { ApiError, notFound, validationFailed } from '../errors.ts';
import type { Json } from '../json.ts';
import { readOne } from '../ports.ts';
import { checkedCustomFields } from '../resources/custom-field-check.ts';
import type { CustomFieldValues } from '../resources/custom-field-values.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { approvalStatus } from './approval.ts';
import { add, change, type Desk, get, type Kept } from './desk.ts';
import type { Price } from './money.ts';
import { type Offer, withOffers } from './offer.ts';
import { countriesOf, startOf } from './plan.ts';
import { type ApprovalStatus, mustFollow } from './transitions.ts';
import { policyOf, travelersBy } from './travelers.ts';

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
export async function searchTrip(desk: Desk, wanted: TripSearch): Promise<Kept<'tripProject'>> {
  const { offers, search, projectCodeId, budget } = wanted;
  const travelerIds = [...new Set(wanted.travelerIds)];
  if (travelerIds.length === 0) throw new ApiError('conflict', 'A trip has at least one traveler.');
  const travelers = await travelersBy(desk, travelerIds);
  const { within } = desk.recorder;
  if (projectCodeId !== undefined && !(await readOne(within, 'projectCode', projectCodeId))) {
    throw notFound('projectCode');
  }
  const policies = [];
  for (const traveler of travelers) policies.push((await policyOf(desk, traveler)) ?? {});
  const now = desk.now();
  const begins = search.departureLocaleDateTime ?? startOf(offers);
  const plan = { offers, now, begins, countries: countriesOf(search, offers), budget };
  const trip: TripProject = {
    approvalStatus: approvalStatus(policies, plan),
    customFields: await tripFields(desk, wanted.customFields),
    projectCodeId,
    rates: [],
    search,
    travelerIds,
  };
  return add(desk, 'tripProject', withOffers(trip, offers, { at: seconds(now), newId: desk.newId }));
}

/** What an approver, or an admin over their head, says to a trip. */
export async function decideTrip(
  desk: Desk,
  tripProjectId: string,
  status: Exclude<ApprovalStatus, 'awaitApproval'>,
): Promise<Kept<'tripProject'>> {
  const trip = await get(desk, 'tripProject', tripProjectId);
  mustFollow('approval', trip.doc.approvalStatus, status);
  return change(desk, 'tripProject', trip, { approvalStatus: status });
}

async function tripFields(desk: Desk, wanted: CustomFieldValues = []): Promise<CustomFieldValues> {
  const change = {
    operation: 'create' as const,
    before: undefined,
    wanted: { customFields: wanted as unknown as Json },
    within: desk.recorder.within,
  };
  const { customFields, invalid } = await checkedCustomFields(change, 'tripProject');
  if (invalid.length > 0) throw validationFailed(invalid);
  return customFields;
}
