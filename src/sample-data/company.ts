import type { JsonObject } from '../travel/json.ts';
import { customField, customFieldOption } from '../travel/resources/custom-field.ts';
import { billingProfile, costCenter, projectCode } from '../travel/resources/lookups.ts';
import { DEFAULT_POLICY_INDEX, travelPolicy } from '../travel/resources/travel-policy.ts';
import { add, type Context, type Wish } from './context.ts';
import { cities, type Population, populations } from './places.ts';

/** A country's part of the company. */
export interface Branch extends Population {
  billingProfileId: string;
  /** How many people work there. */
  headcount: number;
}

/** The furniture of a company's account, by ids. */
export interface Company extends Identity {
  branches: Branch[];
  policies: Policies;
  /** In order of the departments. */
  costCenterIds: string[];
  projectCodeIds: string[];
  fields: CompanyFields;
}

const departments = [
  ...['Sales', 'Engineering', 'Marketing', 'Finance', 'People', 'Operations', 'Research', 'Customer Care'],
];

const projects = ['Apollo', 'Borealis', 'Cascade', 'Delta', 'Ember', 'Fjord', 'Granite', 'Horizon'];

/** A company's account before anybody is in it. */
export async function found(context: Context, wish: Wish): Promise<Company> {
  const identity = identityOf(wish.seed);
  const policies = await foundPolicies(context, identity);
  const branches = await foundBranches(context, { identity, policies, users: wish.users });
  const make = (resource: typeof costCenter, doc: JsonObject) => add(context, { resource, doc });
  const costCenterIds = [];
  for (const [position, department] of departments.entries()) {
    const doc = { name: `${identity.code} ${4100 + 10 * position} ${department}` };
    const own = department === 'Sales' ? { travelPolicyId: policies.sales } : {};
    costCenterIds.push(await make(costCenter, { ...doc, ...own }));
  }
  const projectCodeIds = [];
  for (const [position, name] of projects.entries()) {
    const [branch] = branches;
    const paid = position === 0 && branch ? { billingProfileId: branch.billingProfileId } : {};
    const doc = { code: `${identity.code}-${name.toUpperCase()}`, confidential: position % 4 === 3, name };
    projectCodeIds.push(await make(projectCode, { ...doc, ...paid }));
  }
  const countries = branches.map(({ country }) => country);
  const fields = await foundFields(context, { identity, countries });
  return { ...identity, branches, policies, costCenterIds, projectCodeIds, fields };
}

/** So many people are worth a branch. */
const BRANCH = 30;

async function foundBranches(
  context: Context,
  { identity, policies, users }: { identity: Identity; policies: Policies; users: number },
): Promise<Branch[]> {
  const branches = [];
  for (const population of populations.slice(0, Math.ceil(users / BRANCH))) {
    const { country, form, lang } = population;
    const name = `${identity.name} ${population.name}`;
    const seat = cities.find((one) => one.country === country);
    const doc = {
      address: { line1: '1 Jetbridge Plaza', city: seat?.name ?? '', country },
      companyName: `${name} ${form}`,
      email: `billing.${country.toLowerCase()}@${identity.domain}`,
      lang,
      name,
      travelPolicyId: policies.standard,
    };
    const billingProfileId = await add(context, { resource: billingProfile, doc });
    branches.push({ ...population, billingProfileId, headcount: 0 });
  }
  return branches;
}

/** A custom field with options, which are found by their data. */
export interface ChoiceField {
  id: string;
  options: Map<string, string>;
}

/** The custom fields of a company, by ids. */
export interface CompanyFields {
  /** Of users: text. */
  employeeNumber: string;
  /** Of users: the city of their office. */
  site: ChoiceField;
  /** Of users: any number of them. */
  languages: ChoiceField;
  /** Of trip projects. */
  reason: ChoiceField;
}

const languages = ['Deutsch', 'English', 'Español', 'Français', 'Italiano', 'Svenska'];
const reasons = ['Customer visit', 'Conference', 'Internal meeting', 'Recruiting', 'Training'];

/** None of them is mandatory: the account's other people, and those whom an IdP brings, know nothing of them. */
export async function foundFields(
  context: Context,
  { identity, countries }: { identity: Identity; countries: string[] },
): Promise<CompanyFields> {
  const make = (title: string, doc: JsonObject) =>
    add(context, { resource: customField, doc: { ...doc, name: `${identity.name} ${title}` } });
  const choice = async (title: string, doc: JsonObject, values: string[]): Promise<ChoiceField> => {
    const id = await make(title, doc);
    const options = new Map<string, string>();
    for (const data of values) {
      const made = { resource: customFieldOption, doc: { data }, parentId: id };
      options.set(data, await add(context, made));
    }
    return { id, options };
  };
  const sites = cities.filter(({ country, postal }) => postal !== undefined && countries.includes(country));
  const ofUser = { resourceType: 'user' };
  return {
    employeeNumber: await make('employee number', {
      ...ofUser,
      dataType: 'text',
      validationRegexp: 'E[0-9]{7}',
    }),
    site: await choice(
      'site',
      { ...ofUser, dataType: 'option' },
      sites.map(({ name }) => name),
    ),
    languages: await choice('languages', { ...ofUser, dataType: 'optionsList' }, languages),
    reason: await choice('reason for travel', { resourceType: 'tripProject', dataType: 'option' }, reasons),
  };
}

/** The travel policies of a company, by ids. */
export interface Policies {
  standard: string;
  sales: string;
  executives: string;
  guests: string;
}

/** One of them becomes the account's default, unless there is one: what exists stays as it is. */
export async function foundPolicies(context: Context, { name }: Pick<Identity, 'name'>): Promise<Policies> {
  const { name: index, value } = DEFAULT_POLICY_INDEX;
  const match = { type: 'travelPolicy', name: index, values: [value], limit: 1 };
  const isFirst = (await context.recorder.transaction.find(match)).length === 0;
  const make = (title: string, doc: JsonObject) =>
    add(context, { resource: travelPolicy, doc: { ...budgets, ...doc, name: `${name} ${title}` } });
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

/** What a company is called, which follows from the seed alone: two seeds never make the same. */
export interface Identity {
  name: string;
  /** Under `.example`, which nobody can register (RFC 2606 §2). */
  domain: string;
  /** The beginning of its codes, as they must not be another company's. */
  code: string;
}

const names = [
  ...['Bellerive', 'Corvanne', 'Solvane', 'Nordhaven', 'Lumerac', 'Ardentis', 'Quillmont', 'Verdalia'],
  ...['Tessaly', 'Orbelin', 'Marisco', 'Falkenried', 'Brightwell', 'Castagno', 'Delmare', 'Evenrude'],
];

/** The identity of the company of a seed. */
export function identityOf(seed: number): Identity {
  const round = Math.floor(seed / names.length);
  const name = `${names[seed % names.length]}${round === 0 ? '' : ` ${round + 1}`}`;
  const word = name.replace(' ', '');
  return { name, domain: `${word.toLowerCase()}.example`, code: word.toUpperCase() };
}
