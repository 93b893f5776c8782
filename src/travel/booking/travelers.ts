import { ApiError, notFound } from '../errors.ts';
import { type JsonObject, textOf } from '../json.ts';
import { readOne, type StoredResource } from '../ports.ts';
import type { BillingOperation } from '../resources/billing-operation.ts';
import { optionIds, valuesOf } from '../resources/custom-field-values.ts';
import { DEFAULT_POLICY } from '../resources/travel-policy.ts';
import type { TripProject } from '../resources/trip-project.ts';
import type { BookingDeps } from './context.ts';

/** Where what a traveler books is billed. */
export type BillTo = Pick<
  BillingOperation,
  'billingProfileId' | 'costCenterId' | 'projectCodeId' | 'customFields'
>;

/** The users with these ids, in their order. Nobody who is archived travels. */
export async function travelersBy({ recorder }: BookingDeps, ids: string[]): Promise<StoredResource[]> {
  const found = await recorder.within.read(ids.map((id) => ({ type: 'user', id })));
  const byId = new Map(found.map((user) => [user.id, user]));
  return ids.map((id) => {
    const user = byId.get(id);
    if (!user) throw notFound('user');
    if (user.doc['archived'] === true) throw new ApiError('conflict', `The user ${id} is archived.`);
    return user;
  });
}

/**
 * A project has the first word on who pays, then an option of a custom field, then the traveler. The custom fields of
 * the trip and of the traveler go along.
 */
export async function billTo(
  deps: BookingDeps,
  { doc }: StoredResource,
  trip: Pick<TripProject, 'projectCodeId' | 'customFields'>,
): Promise<BillTo> {
  const { projectCodeId } = trip;
  const customFields = [...(trip.customFields ?? []), ...valuesOf(doc)];
  const project = await docOf(deps, 'projectCode', projectCodeId);
  const billingProfileId =
    textOf(project, 'billingProfileId') ??
    (await profileOfOptions(deps, customFields.flatMap(optionIds))) ??
    textOf(doc, 'billingProfileId');
  return { billingProfileId, costCenterId: textOf(doc, 'costCenterId'), projectCodeId, customFields };
}

/** The travel policy of a traveler: their own, their cost center's, their billing profile's, or the default. */
export async function policyOf(deps: BookingDeps, { doc }: StoredResource): Promise<JsonObject | undefined> {
  const own = textOf(doc, 'travelPolicyId');
  const center = own ? {} : await docOf(deps, 'costCenter', textOf(doc, 'costCenterId'));
  const centers = own ?? textOf(center, 'travelPolicyId');
  const profile = centers ? {} : await docOf(deps, 'billingProfile', textOf(doc, 'billingProfileId'));
  const policyId = centers ?? textOf(profile, 'travelPolicyId');
  if (policyId !== undefined) return docOf(deps, 'travelPolicy', policyId);
  const { name, value } = DEFAULT_POLICY;
  const [byDefault] = await deps.recorder.within.find({
    type: 'travelPolicy',
    name,
    values: [value],
    limit: 1,
  });
  return byDefault?.doc;
}

async function docOf({ recorder }: BookingDeps, type: string, id: string | undefined): Promise<JsonObject> {
  return (id === undefined ? undefined : await readOne(recorder.within, type, id))?.doc ?? {};
}

async function profileOfOptions({ recorder }: BookingDeps, ids: string[]): Promise<string | undefined> {
  const options = await recorder.within.read(ids.map((id) => ({ type: 'customFieldOption', id })));
  return options.map(({ doc }) => textOf(doc, 'billingProfileId')).find((id) => id !== undefined);
}
