import { type JsonObject, stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { customField, customFieldOption } from '../travel/resources/custom-field.ts';
import { billingProfile, costCenter, projectCode } from '../travel/resources/lookups.ts';
import { DEFAULT_POLICY_INDEX, travelPolicy } from '../travel/resources/travel-policy.ts';
import { user } from '../travel/resources/user.ts';
import { type Country, cities, countries } from './reference-data.ts';
import type { SimulationOptions, Transaction } from './simulation.ts';

/** The company's branch in one country. */
export interface Branch extends Country {
  billingProfileId: string;
  /** The number of people who work there now. */
  headcount: number;
}

/** The reference data of a company's account, by id. */
export interface Company extends CompanyIdentity {
  branches: Branch[];
  policies: Policies;
  /** The ids of the cost centers, one for each department, in the order of `departments`. */
  costCenterIds: string[];
  projectCodeIds: string[];
  fields: CompanyFields;
}

const departments = [
  ...['Sales', 'Engineering', 'Marketing', 'Finance', 'People', 'Operations', 'Research', 'Customer Care'],
];

const projects = ['Apollo', 'Borealis', 'Cascade', 'Delta', 'Ember', 'Fjord', 'Granite', 'Horizon'];

/** Creates the reference data of a company's account: policies, billing profiles, cost centers, project codes, custom fields. */
export async function createCompany(transaction: Transaction, options: SimulationOptions): Promise<Company> {
  const identity = companyIdentity(options.seed);
  const policies = await createPolicies(transaction, identity);
  const branches = await createBranches(transaction, { identity, policies, users: options.users });
  const { recorder } = transaction;
  const costCenterIds = [];
  for (const [position, department] of departments.entries()) {
    const doc = { name: costCenterName(identity.code, department, position) };
    const policy = department === 'Sales' ? { travelPolicyId: policies.sales } : {};
    costCenterIds.push((await recorder.create(costCenter, { ...doc, ...policy })).id);
  }
  const projectCodeIds = [];
  for (const [position, name] of projects.entries()) {
    const [branch] = branches;
    const payer = position === 0 && branch ? { billingProfileId: branch.billingProfileId } : {};
    const doc = { code: `${identity.code}-${name.toUpperCase()}`, confidential: position % 4 === 3, name };
    projectCodeIds.push((await recorder.create(projectCode, { ...doc, ...payer })).id);
  }
  const branchCountries = branches.map(({ country }) => country);
  const fields = await createFields(transaction, { identity, countries: branchCountries });
  return { ...identity, branches, policies, costCenterIds, projectCodeIds, fields };
}

function costCenterName(code: string, department: string, position: number): string {
  return `${code} ${4100 + 10 * position} ${department}`;
}

/** The company has one branch for each 30 people, up to the number of countries. */
const PEOPLE_PER_BRANCH = 30;

async function createBranches(
  transaction: Transaction,
  { identity, policies, users }: { identity: CompanyIdentity; policies: Policies; users: number },
): Promise<Branch[]> {
  const branches = [];
  for (const branch of countries.slice(0, Math.ceil(users / PEOPLE_PER_BRANCH))) {
    const { country, form, lang } = branch;
    const name = `${identity.name} ${branch.name}`;
    const office = cities.find((city) => city.country === country);
    const doc = {
      address: { line1: '1 Jetbridge Plaza', city: office?.name ?? '', country },
      companyName: `${name} ${form}`,
      email: `billing.${country.toLowerCase()}@${identity.domain}`,
      lang,
      name,
      travelPolicyId: policies.standard,
    };
    const { id: billingProfileId } = await transaction.recorder.create(billingProfile, doc);
    branches.push({ ...branch, billingProfileId, headcount: 0 });
  }
  return branches;
}

/** A custom field with its options: their ids by their data. */
export interface ChoiceField {
  id: string;
  options: Map<string, string>;
}

/** The custom fields of a company, by id. */
export interface CompanyFields {
  /** A custom field of users: a text. */
  employeeNumber: string;
  /** A custom field of users: the city of the office. */
  site: ChoiceField;
  /** A custom field of users: any number of options. */
  languages: ChoiceField;
  /** A custom field of trip projects: one option. */
  reason: ChoiceField;
}

const languages = ['Deutsch', 'English', 'Español', 'Français', 'Italiano', 'Svenska'];
const reasons = ['Customer visit', 'Conference', 'Internal meeting', 'Recruiting', 'Training'];

/** The names of the custom fields, after that of the company. */
const fieldTitles = ['employee number', 'site', 'languages', 'reason for travel'] as const;
type FieldTitle = (typeof fieldTitles)[number];

/**
 * None of these fields is mandatory, because users of the account who are not part of the sample data have no values
 * for them.
 */
async function createFields(
  transaction: Transaction,
  { identity, countries }: { identity: CompanyIdentity; countries: string[] },
): Promise<CompanyFields> {
  const { recorder } = transaction;
  const create = async (title: FieldTitle, doc: JsonObject) =>
    (await recorder.create(customField, { ...doc, name: `${identity.name} ${title}` })).id;
  const createWithOptions = async (
    title: FieldTitle,
    doc: JsonObject,
    values: string[],
  ): Promise<ChoiceField> => {
    const id = await create(title, doc);
    const options = new Map<string, string>();
    for (const data of values) {
      const option = await recorder.create(customFieldOption, { data }, { parentId: id });
      options.set(data, option.id);
    }
    return { id, options };
  };
  const sites = cities.filter(({ country, postal }) => postal !== undefined && countries.includes(country));
  const ofUser = { resourceType: 'user' };
  return {
    employeeNumber: await create('employee number', {
      ...ofUser,
      dataType: 'text',
      validationRegexp: 'E[0-9]{7}',
    }),
    site: await createWithOptions(
      'site',
      { ...ofUser, dataType: 'option' },
      sites.map(({ name }) => name),
    ),
    languages: await createWithOptions('languages', { ...ofUser, dataType: 'optionsList' }, languages),
    reason: await createWithOptions(
      'reason for travel',
      { resourceType: 'tripProject', dataType: 'option' },
      reasons,
    ),
  };
}

/** The names of the travel policies, after that of the company. */
const policyTitles = ['standard', 'sales', 'executives', 'guests and interns'] as const;
type PolicyTitle = (typeof policyTitles)[number];

/** The travel policies of a company, by id. */
export interface Policies {
  standard: string;
  sales: string;
  executives: string;
  guests: string;
}

/** Make the standard policy the default of the account, unless there is one: existing resources must not change. */
async function createPolicies(
  transaction: Transaction,
  { name }: Pick<CompanyIdentity, 'name'>,
): Promise<Policies> {
  const { name: index, value } = DEFAULT_POLICY_INDEX;
  const match = { type: 'travelPolicy', name: index, values: [value], limit: 1 };
  const { recorder } = transaction;
  const isFirst = (await recorder.transaction.find(match)).length === 0;
  const create = async (title: PolicyTitle, doc: JsonObject) =>
    (await recorder.create(travelPolicy, { ...budgets, ...doc, name: `${name} ${title}` })).id;
  return {
    standard: await create('standard', { control: 'smart', default: isFirst, smartSettings }),
    sales: await create('sales', { control: 'notif' }),
    executives: await create('executives', { control: 'none', ...comfortable }),
    guests: await create('guests and interns', { control: 'full', hotelBudget: { kind: 'strict' } }),
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
  const isTitled = (titles: readonly string[]) => titles.some((title) => text('name') === `${name} ${title}`);
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
      return isTitled(policyTitles);
    case customField.type:
      return isTitled(fieldTitles);
    default:
      return false;
  }
}
