import type { Recorder } from '../travel/changes.ts';
import { type JsonObject, stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { customField, customFieldOption } from '../travel/resources/custom-field.ts';
import { billingProfile, costCenter, projectCode } from '../travel/resources/lookups.ts';
import { travelPolicy } from '../travel/resources/travel-policy.ts';
import { user } from '../travel/resources/user.ts';
import { type Country, cities, countries } from './reference-data.ts';

/** The company's branch in one country. */
export interface Branch extends Country {
  billingProfileId: string;
  /** The number of people who work there now. */
  headcount: number;
}

/** The reference data of a company's account, by id. */
export interface Company extends CompanyIdentity {
  branches: Branch[];
  policyIds: Record<PolicyTitle, string>;
  /** The ids of the cost centers, one for each department, in the order of `departments`. */
  costCenterIds: string[];
  /** The project codes; the billing profile of the first one pays for its trips. */
  projects: { id: string; payer: string | undefined }[];
  fields: Record<FieldTitle, ChoiceField>;
}

const departments = [
  ...['Sales', 'Engineering', 'Marketing', 'Finance', 'People', 'Operations', 'Research', 'Customer Care'],
];

const projects = ['Apollo', 'Borealis', 'Cascade', 'Delta', 'Ember', 'Fjord', 'Granite', 'Horizon'];

/**
 * Creates the reference data of a company's account: policies, billing profiles, cost centers, project codes, custom fields.
 * The standard policy becomes the default of the account, unless there is one: existing resources must not change.
 */
export async function createCompany(
  recorder: Recorder,
  { seed, users, hasDefaultPolicy }: { seed: number; users: number; hasDefaultPolicy: boolean },
): Promise<Company> {
  const identity = companyIdentity(seed);
  const { name, code } = identity;
  const policyIds = await mapValues(policies, async (policy, title) => {
    const isDefault = title === 'standard' && !hasDefaultPolicy;
    const doc = { ...budgets, ...policy, ...(isDefault ? { default: true } : {}), name: `${name} ${title}` };
    return (await recorder.create(travelPolicy, doc)).id;
  });
  const branches = await createBranches(recorder, { identity, travelPolicyId: policyIds.standard, users });
  const costCenterIds = [];
  for (const [position, department] of departments.entries()) {
    const policy = department === 'Sales' ? { travelPolicyId: policyIds.sales } : {};
    const doc = { name: costCenterName(code, department, position), ...policy };
    costCenterIds.push((await recorder.create(costCenter, doc)).id);
  }
  const created = [];
  for (const [position, project] of projects.entries()) {
    const payer = position === 0 ? branches[0]?.billingProfileId : undefined;
    const doc = { code: `${code}-${project.toUpperCase()}`, confidential: position % 4 === 3, name: project };
    const paid = payer === undefined ? {} : { billingProfileId: payer };
    created.push({ id: (await recorder.create(projectCode, { ...doc, ...paid })).id, payer });
  }
  const sites = cities.filter(
    ({ country, postal }) => postal !== undefined && branches.some((b) => b.country === country),
  );
  const fields = await mapValues(fieldsOf(sites.map((city) => city.name)), ({ options, ...doc }, title) =>
    createField(recorder, { ...doc, name: `${name} ${title}` }, options),
  );
  return { ...identity, branches, policyIds, costCenterIds, projects: created, fields };
}

/** Maps the values of an object one after the other. */
async function mapValues<Key extends string, From, To>(
  from: Record<Key, From>,
  map: (value: From, key: Key) => Promise<To>,
): Promise<Record<Key, To>> {
  const mapped: Partial<Record<Key, To>> = {};
  for (const key of Object.keys(from) as Key[]) mapped[key] = await map(from[key], key);
  return mapped as Record<Key, To>; // Every key has its value now.
}

function costCenterName(code: string, department: string, position: number): string {
  return `${code} ${4100 + 10 * position} ${department}`;
}

/** The company has one branch for each 30 people, up to the number of countries. */
const PEOPLE_PER_BRANCH = 30;

async function createBranches(
  recorder: Recorder,
  { identity, travelPolicyId, users }: { identity: CompanyIdentity; travelPolicyId: string; users: number },
): Promise<Branch[]> {
  const branches = [];
  for (const branch of countries.slice(0, Math.ceil(users / PEOPLE_PER_BRANCH))) {
    const { country, form, lang } = branch;
    const name = `${identity.name} ${branch.name}`;
    const office = cities.find((city) => city.country === country);
    const { id: billingProfileId } = await recorder.create(billingProfile, {
      address: { line1: '1 Jetbridge Plaza', city: office?.name ?? '', country },
      companyName: `${name} ${form}`,
      email: `billing.${country.toLowerCase()}@${identity.domain}`,
      ...{ lang, name, travelPolicyId },
    });
    branches.push({ ...branch, billingProfileId, headcount: 0 });
  }
  return branches;
}

/** A custom field with the ids of its options by their data; a text has none. */
interface ChoiceField {
  id: string;
  options: Map<string, string>;
}

/**
 * The custom fields by their names, which follow that of the company. None of them is mandatory, because users of the
 * account who are not part of the sample data have no values for them.
 */
const fieldsOf = (sites: string[]) => ({
  'employee number': { resourceType: 'user', dataType: 'text', validationRegexp: 'E[0-9]{7}', options: [] },
  site: { resourceType: 'user', dataType: 'option', options: sites },
  languages: {
    ...{ resourceType: 'user', dataType: 'optionsList' },
    options: ['Deutsch', 'English', 'Español', 'Français', 'Italiano', 'Svenska'],
  },
  'reason for travel': {
    ...{ resourceType: 'tripProject', dataType: 'option' },
    options: ['Customer visit', 'Conference', 'Internal meeting', 'Recruiting', 'Training'],
  },
});
type FieldTitle = keyof ReturnType<typeof fieldsOf>;

async function createField(recorder: Recorder, doc: JsonObject, values: string[]): Promise<ChoiceField> {
  const { id } = await recorder.create(customField, doc);
  const options = new Map<string, string>();
  for (const data of values)
    options.set(data, (await recorder.create(customFieldOption, { data }, { parentId: id })).id);
  return { id, options };
}

const budgets = {
  hotelBudget: { kind: 'custom', custom: { flexibilityPercentage: 10 } },
  transportBudget: {
    common: { flexibilityPercentage: 5 },
    flight: { kind: 'custom', custom: { longHaul: { cabinClass: 'premiumEco' }, lowCostWhenPossible: true } },
    rail: { kind: 'strict' },
  },
};

/** The settings of the standard policy, by which the simulated approvals are decided. */
export const smartSettings = {
  maxTripPrice: { action: 'forceApproval', amount: 1800, currency: 'EUR' },
  minBookingLeadTime: { action: 'forceApproval', days: 5 },
  tripDestination: { forceApprovalCountries: ['US', 'SG'] },
};

/** The travel policies by their names, which follow that of the company. */
const policies = {
  standard: { control: 'smart', smartSettings },
  sales: { control: 'notif' },
  executives: { control: 'none', hotelBudget: { kind: 'comfort' } },
  'guests and interns': { control: 'full', hotelBudget: { kind: 'strict' } },
};

/** The name of a travel policy, without that of the company. */
export type PolicyTitle = keyof typeof policies;

/** The names of a company. They depend only on the seed, and every seed gives different ones. */
export interface CompanyIdentity {
  name: string;
  /** A domain under `.example`, which cannot be registered (RFC 2606 §2). */
  domain: string;
  /** The prefix of cost centers and project codes, which must be unique in the account. */
  code: string;
}

const names = [
  ...['Bellerive', 'Corvanne', 'Solvane', 'Nordhaven', 'Lumerac', 'Ardentis', 'Quillmont', 'Verdalia'],
  ...['Tessaly', 'Orbelin', 'Marisco', 'Falkenried', 'Brightwell', 'Castagno', 'Delmare', 'Evenrude'],
];

/** Returns the names of the company that belongs to a seed. */
export function companyIdentity(seed: number): CompanyIdentity {
  const round = Math.floor(seed / names.length);
  const name = `${names[seed % names.length]}${round === 0 ? '' : ` ${round + 1}`}`;
  const word = name.replace(' ', '');
  return { name, domain: `${word.toLowerCase()}.example`, code: word.toUpperCase() };
}

/**
 * Returns true for a user, or for reference data without a parent, of the company: its names and addresses are reserved for it.
 */
export function isOfCompany({ name, domain, code }: CompanyIdentity, { type, doc }: StoredResource): boolean {
  const text = (field: string) => stringMember(doc, field) ?? '';
  const isTitled = (titled: object) =>
    Object.keys(titled).some((title) => text('name') === `${name} ${title}`);
  switch (type) {
    case user.type:
    case billingProfile.type:
      return text('email').toLowerCase().endsWith(`@${domain}`);
    case costCenter.type:
      return departments.some(
        (department, index) => text('name') === costCenterName(code, department, index),
      );
    case projectCode.type:
      return projects.some((project) => text('code') === `${code}-${project.toUpperCase()}`);
    case travelPolicy.type:
      return isTitled(policies);
    case customField.type:
      return isTitled(fieldsOf([]));
    default:
      return false;
  }
}
