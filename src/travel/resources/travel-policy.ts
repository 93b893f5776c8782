import { z } from 'zod';
import { count, country, flag, knownCurrency, label, oneOf, quantity, text } from '../declaration/fields.ts';
import { type Change, defineResource } from '../declaration/resource.ts';

const kind = oneOf(['comfort', 'strict', 'custom']).optional();
const percentage = z.number().optional();
const cabin = { cabinClass: text.optional() };
const timedCabin = z.strictObject({ ...cabin, maxDuration: count.optional() }).optional();
const untimedCabin = z.strictObject(cabin).optional();

const hotelBudget = z.strictObject({
  kind,
  custom: z.strictObject({ flexibilityPercentage: percentage }).optional(),
});

const flight = z.strictObject({
  kind,
  skipWhenGreenerAlternative: z.boolean().optional(),
  custom: z
    .strictObject({
      longHaul: untimedCabin,
      mediumHaul: timedCabin,
      shortHaul: timedCabin,
      lowCostWhenPossible: z.boolean().optional(),
    })
    .optional(),
});

const rail = z.strictObject({
  kind,
  custom: z
    .strictObject({
      fareType: oneOf(['flex', 'semiFlex']).optional(),
      longHaul: untimedCabin,
      shortHaul: timedCabin,
    })
    .optional(),
});

const transportBudget = z.strictObject({
  common: z.strictObject({ flexibilityPercentage: percentage }).optional(),
  flight: flight.optional(),
  rail: rail.optional(),
});

/** Actions, cabin classes and categories are open lists: the specification gives examples and mentions others. */
const action = { action: text.optional() };
const plain = z.strictObject(action).optional();
const price = z
  .strictObject({ ...action, amount: quantity.optional(), currency: knownCurrency.optional() })
  .optional();

const smartSettings = z.strictObject({
  hotelIsNotCancellable: plain,
  maxCarRentalAcrissCategory: z.strictObject({ ...action, category: text.optional() }).optional(),
  maxTripFlightPrice: price,
  maxTripHotelPrice: price,
  maxTripPrice: price,
  maxTripRailPrice: price,
  minBookingLeadTime: z.strictObject({ ...action, days: count.optional() }).optional(),
  tripDestination: z
    .strictObject({
      denyCountries: z.array(country).optional(),
      forceApprovalCountries: z.array(country).optional(),
    })
    .optional(),
  tripIsOutOfBudget: plain,
  tripIsWithinBudget: plain,
});

/** A travel policy: the bookings that are allowed, and those that need approval. */
export const travelPolicy = defineResource({
  type: 'travelPolicy',
  path: 'travel-policies',
  idForm: 'A',
  schema: z
    .strictObject({
      control: oneOf(['full', 'none', 'notif', 'smart']),
      default: flag,
      defaultApproverId: text.optional(),
      hotelBudget,
      name: label,
      smartSettings: smartSettings.optional(),
      transportBudget,
    })
    .meta({ description: 'Rules for bookings, and the approvals that they need' }),
  events: ['created', 'updated', 'deleted'],
  sortBy: ['name'],
  references: [{ field: 'defaultApproverId', to: 'user' }],
  rules: {
    compareWithOthers: true,
    check: unsetOtherDefault,
    index: ({ doc }) => (doc['default'] === true ? [DEFAULT_POLICY_INDEX] : []),
  },
  example: {
    control: 'smart',
    hotelBudget: { kind: 'custom', custom: { flexibilityPercentage: 10 } },
    name: 'Everyone',
    transportBudget: {
      common: { flexibilityPercentage: 5 },
      flight: {
        kind: 'custom',
        custom: { longHaul: { cabinClass: 'premiumEco' }, lowCostWhenPossible: true },
      },
      rail: { kind: 'strict' },
    },
  },
});

/** The index of the default travel policy. */
export const DEFAULT_POLICY_INDEX = { name: 'default', value: 'set' };

/** Only one travel policy can be the default: making one the default removes the mark from the other. */
async function unsetOtherDefault({ id, wanted, transaction, saveOther }: Change) {
  if (wanted['default'] === true) {
    const holders = await transaction.find({
      type: 'travelPolicy',
      name: DEFAULT_POLICY_INDEX.name,
      values: [DEFAULT_POLICY_INDEX.value],
      limit: 2,
    });
    for (const other of holders.filter((holder) => holder.id !== id)) {
      await saveOther(other, { ...other.doc, default: false });
    }
  }
  return { doc: wanted, invalid: [] };
}
