import type { JsonObject } from '../json.ts';
import { DEFAULT_POLICY, travelPolicy } from '../resources/travel-policy.ts';
import type { Identity } from './identity.ts';
import { add, type Scene } from './scene.ts';

/** The travel policies of a company, by ids. */
export interface Policies {
  standard: string;
  sales: string;
  executives: string;
  guests: string;
}

/** One of them becomes the account's default, unless there is one: what exists stays as it is. */
export async function foundPolicies(scene: Scene, { name }: Pick<Identity, 'name'>): Promise<Policies> {
  const { name: index, value } = DEFAULT_POLICY;
  const match = { type: 'travelPolicy', name: index, values: [value], limit: 1 };
  const isFirst = (await scene.recorder.within.find(match)).length === 0;
  const make = (title: string, doc: JsonObject) =>
    add(scene, { resource: travelPolicy, doc: { ...budgets, ...doc, name: `${name} ${title}` } });
  return {
    standard: await make('standard', { control: 'smart', default: isFirst, smartSettings }),
    sales: await make('sales', { control: 'notif' }),
    executives: await make('executives', { control: 'none', ...comfortable }),
    guests: await make('guests and interns', { control: 'full', hotelBudget: { kind: 'strict' } }),
  };
}

const budgets = {
  hotelBudget: { kind: 'custom', custom: { flexibilityPercentage: 10 } },
  transportBudget: {
    common: { flexibilityPercentage: 5 },
    flight: { kind: 'custom', custom: { longHaul: { cabinClass: 'premiumEco' }, lowCostWhenPossible: true } },
    rail: { kind: 'strict' },
  },
};

const comfortable = {
  hotelBudget: { kind: 'comfort' },
  transportBudget: { flight: { kind: 'comfort' }, rail: { kind: 'comfort' } },
};

const smartSettings = {
  hotelIsNotCancellable: { action: 'forceApproval' },
  maxCarRentalAcrissCategory: { action: 'forceApproval', category: 'I' },
  maxTripPrice: { action: 'forceApproval', amount: 1800, currency: 'EUR' },
  minBookingLeadTime: { action: 'forceApproval', days: 5 },
  tripDestination: { forceApprovalCountries: ['US', 'SG'] },
};
