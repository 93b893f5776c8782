import type { JsonObject } from '../json.ts';
import { billingProfile } from '../resources/billing-profile.ts';
import { costCenter } from '../resources/cost-center.ts';
import { projectCode } from '../resources/project-code.ts';
import { cities } from './cities.ts';
import { type CompanyFields, foundFields } from './company-fields.ts';
import { foundPolicies, type Policies } from './company-policies.ts';
import { type Identity, identityOf } from './identity.ts';
import { type Population, populations } from './names.ts';
import { add, type Scene, type Wish } from './scene.ts';

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
export async function found(scene: Scene, wish: Wish): Promise<Company> {
  const identity = identityOf(wish.seed);
  const policies = await foundPolicies(scene, identity);
  const branches = await foundBranches(scene, { identity, policies, users: wish.users });
  const make = (resource: typeof costCenter, doc: JsonObject) => add(scene, { resource, doc });
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
  const fields = await foundFields(scene, { identity, countries });
  return { ...identity, branches, policies, costCenterIds, projectCodeIds, fields };
}

/** So many people are worth a branch. */
const BRANCH = 30;

async function foundBranches(
  scene: Scene,
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
    const billingProfileId = await add(scene, { resource: billingProfile, doc });
    branches.push({ ...population, billingProfileId, headcount: 0 });
  }
  return branches;
}
