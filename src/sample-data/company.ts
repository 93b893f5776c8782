import type { Recorder } from '../travel/changes.ts';
import type { Resource } from '../travel/declaration/resource.ts';
import { type JsonObject, stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { customField, customFieldOption } from '../travel/resources/custom-field.ts';
import { billingProfile, costCenter, projectCode } from '../travel/resources/lookups.ts';
import { travelPolicy } from '../travel/resources/travel-policy.ts';
import { user } from '../travel/resources/user.ts';
import { toJson } from './ledger.ts';
import { type City, cities, localeOf } from './reference-data.ts';
import { DAY, HOUR, LENGTH, later, type Process, type Simulation } from './simulation.ts';

/** The departments, which the first reports of the head of the company lead. */
const departments = ['Sales', 'Product', 'Marketing', 'Finance', 'People', 'Legal', 'Research', 'Support'];
/** The projects to which trips are assigned. */
export const projects = ['Apollo', 'Borealis', 'Cascade', 'Delta', 'Ember', 'Fjord', 'Granite', 'Horizon'];
/** The reasons for travel. */
export const reasons = ['Customer visit', 'Conference', 'Internal meeting', 'Recruiting', 'Training'];

/** The company has one branch for each 30 people, at most one for each of these cities. */
const sites = cities.slice(0, 6);

/** The custom fields. None is mandatory, because users who are not part of the sample data have no values for them. */
const fields = {
  'employee number': { resourceType: 'user', dataType: 'text', validationRegexp: 'E[0-9]{7}', options: [] },
  site: { resourceType: 'user', dataType: 'option', options: sites.map(({ name }) => `${name} office`) },
  'reason for travel': { resourceType: 'tripProject', dataType: 'option', options: reasons },
};

const budgets = {
  hotelBudget: { kind: 'custom', custom: { flexibilityPercentage: 10 } },
  transportBudget: { flight: { kind: 'comfort' }, rail: { kind: 'strict' } },
};

/** The highest price of a trip that needs no approval under the standard policy. */
export const MAX_PRICE = { action: 'forceApproval', amount: 1200, currency: 'EUR' };

/** The travel policies by their titles, which follow the name of the company. */
const policies = {
  standard: { control: 'smart', smartSettings: { maxTripPrice: MAX_PRICE } },
  sales: { control: 'notif' },
  executives: { control: 'none' },
  'guests and interns': { control: 'full' },
};

/**
 * Creates the reference data of a company's account: policies, billing profiles, cost centers, project codes, custom fields.
 * The standard policy becomes the default of the account, unless there is one: existing resources must not change.
 */
export async function createCompany(
  recorder: Recorder,
  { seed, users, hasDefaultPolicy }: { seed: number; users: number; hasDefaultPolicy: boolean },
): Promise<Simulation['company']> {
  const { name, domain } = companyIdentity(seed);
  const ids = new Map<string, string>();
  const create = async (resource: Resource, title: string, doc: object, parentId = '') => {
    ids.set(title, (await recorder.create(resource, toJson(doc), { parentId })).id);
  };
  for (const [title, policy] of Object.entries(policies)) {
    const isDefault = title === 'standard' && !hasDefaultPolicy ? { default: true } : {};
    await create(travelPolicy, title, { ...budgets, ...policy, ...isDefault, name: `${name} ${title}` });
  }
  const branches = sites.slice(0, Math.ceil(users / 30));
  for (const branch of branches) {
    const { name: city, country } = branch;
    const billed = { address: { city, country }, email: `billing.${country.toLowerCase()}@${domain}` };
    const doc = { ...billed, lang: localeOf(branch).lang, travelPolicyId: ids.get('standard') };
    await create(billingProfile, city, { ...doc, name: `${name} ${city}` });
  }
  for (const department of departments) {
    const travelPolicyId = department === 'Sales' ? ids.get('sales') : undefined;
    await create(costCenter, department, { name: `${name} ${department}`, travelPolicyId });
  }
  for (const project of projects)
    await create(projectCode, project, { code: `${name.toUpperCase()}-${project.toUpperCase()}` });
  for (const [title, { options, ...field }] of Object.entries(fields)) {
    await create(customField, title, { ...field, name: `${name} ${title}` });
    for (const data of options) await create(customFieldOption, data, { data }, ids.get(title));
  }
  return { name, domain, branches, idOf: (title) => ids.get(title) ?? '' };
}

/** The number of people who travel: the first who are hired. It limits the memory that a company of a million people needs. */
const MAX_TRAVELERS = 4_000;
/** The number of direct reports of a manager. People are numbered level by level, so that the tree of managers has no cycle. */
const REPORTS = 8;

/** Hires every person within the first three days, managers before their reports. Some leave later; those do not travel. */
export async function* hirePeople(simulation: Simulation): Process {
  const { company, now, options, progress, random, recorder, start, travelers } = simulation;
  const opened = now() + HOUR;
  const managers: { id: string; department: string }[] = [];
  const emails = new Set<string>();
  for (let number = 0; number < options.users; number += 1) {
    yield opened + Math.floor((number / options.users) * 3 * DAY);
    const manager = managers[Math.floor((number - 1) / REPORTS)];
    const isManager = number * REPORTS + 1 < options.users;
    const department = (number > REPORTS ? manager?.department : departments[number - 1]) ?? 'People';
    const isGuest = number > REPORTS && !isManager && random.datatype.boolean(0.06);
    const ownPolicy = number <= REPORTS ? 'executives' : isGuest ? 'guests and interns' : undefined;
    const home = random.helpers.arrayElement(company.branches);
    const doc = {
      ...describePerson(simulation, { emails, home, number }),
      ...{ costCenterId: company.idOf(department), managerId: manager?.id },
      roles: [...(rolesOf[number % 100] ?? []), ...(isManager ? ['manager'] : [])],
      travelPolicyId: ownPolicy && company.idOf(ownPolicy),
    };
    const hired = await recorder.create(user, toJson(doc));
    if (isManager) managers.push({ id: hired.id, department });
    const policy = ownPolicy ?? (department === 'Sales' ? 'sales' : 'standard');
    if (number > 0 && !isManager && random.datatype.boolean(0.05)) start(leave(simulation, hired));
    else if (travelers.length < MAX_TRAVELERS) travelers.push({ user: hired, home, policy });
    progress();
  }
}

async function* leave(simulation: Simulation, person: StoredResource): Process {
  yield later(simulation, 30 * DAY, LENGTH);
  await simulation.recorder.replace(user, person, { ...person.doc, archived: true });
}

function describePerson(
  { company, localNames, random, now }: Simulation,
  { emails, home, number }: { emails: Set<string>; home: City; number: number },
) {
  const { country, name: city } = home;
  const { person, location } = localNames(country);
  const gender = random.person.sexType();
  const [firstName, lastName] = [person.firstName(gender), person.lastName(gender)];
  const name = random.helpers.slugify(`${firstName}.${lastName}`).toLowerCase();
  const address = emails.has(name) ? `${name}${number + 1}` : name;
  emails.add(address);
  const birthdate = random.date.birthdate({ mode: 'age', min: 22, max: 64, refDate: now() });
  const employeeNumber = { data: `E${String(number + 1).padStart(7, '0')}` };
  const site = { customFieldOptionId: company.idOf(`${city} office`) };
  return {
    address: { city, countryCode: country, streetAddress: location.streetAddress() },
    billingProfileId: company.idOf(city),
    customFields: [
      { customFieldId: company.idOf('employee number'), values: [employeeNumber] },
      { customFieldId: company.idOf('site'), values: [site] },
    ],
    dateOfBirth: birthdate.toISOString().slice(0, 10),
    email: `${address}@${company.domain}`,
    ...{ firstName, gender, lastName, ...localeOf(home) },
    travelerPrefs: { flightSeatPosition: random.helpers.arrayElement(['aisle', 'middle', 'window']) },
  };
}

/** The roles besides that of managers, by the last two digits of a person's number, so that even a small company has an admin. */
const rolesOf: Record<number, string[]> = {
  ...{ 0: ['premium'], 2: ['admin'], 4: ['accountant'], 5: ['admin', 'authAdmin'], 7: ['guestCreator'] },
  ...{ 3: ['organizer'], 10: ['organizer'], 11: ['organizer'] },
};

const names = [
  ...['Bellerive', 'Corvanne', 'Solvane', 'Nordhaven', 'Lumerac', 'Ardentis', 'Quillmont', 'Verdalia'],
  ...['Tessaly', 'Orbelin', 'Marisco', 'Falkenried', 'Brightwell', 'Castagno', 'Delmare', 'Evenrude'],
];

/** Returns the name of the company that belongs to a seed, and its domain. Every seed gives others. */
export function companyIdentity(seed: number) {
  const round = Math.floor(seed / names.length);
  const name = `${names[seed % names.length]}${round === 0 ? '' : round + 1}`;
  // A domain under `.example` cannot be registered (RFC 2606 §2).
  return { name, domain: `${name.toLowerCase()}.example` };
}

/** Returns true for a user or reference data of the company: its names and addresses are reserved for it. */
export function isOfCompany(seed: number, doc: JsonObject): boolean {
  const { name, domain } = companyIdentity(seed);
  const text = (field: string) => stringMember(doc, field) ?? '';
  return (
    text('email').toLowerCase().endsWith(`@${domain}`) ||
    text('code').startsWith(`${name.toUpperCase()}-`) ||
    text('name').startsWith(`${name} `)
  );
}
