import type { Faker } from '@faker-js/faker';
import type { JsonObject } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { user } from '../travel/resources/user.ts';
import type { Branch, PolicyTitle } from './company.ts';
import type { SimulationContext } from './context.ts';
import { type Country, cities } from './reference-data.ts';
import { DAY, HOUR, LENGTH, randomTime, type Story } from './simulation.ts';

/**
 * The number of direct reports of a manager. People are numbered level by level, so that the tree of managers has no
 * cycle.
 */
const REPORTS = 8;
/** This share of the people is hired when the account is opened; the others are hired one by one. */
const FIRST_SHARE = 0.8;
const LEAVER_SHARE = 0.05;

/** Hires every person, managers before their reports. Some leave later. */
export async function* hirePeople(simulation: SimulationContext): Story {
  const { company, now, options, progress, random, recorder, schedule, travelers } = simulation;
  const managers: { id: string; department: number | undefined }[] = [];
  for (let number = 0; number < options.users; number += 1) {
    yield hireTime(simulation, number);
    const manager = number === 0 ? undefined : managers[Math.floor((number - 1) / REPORTS)];
    const isManager = number * REPORTS + 1 < options.users;
    // The first reports of the head of the company lead the departments.
    const head = number === 0 ? undefined : number - 1;
    const department = number > REPORTS ? manager?.department : head;
    const branch = random.helpers.weightedArrayElement(
      company.branches.map(({ weight }, value) => ({ weight, value })),
    );
    const job = { number, branch, department, managerId: manager?.id, isManager };
    const { doc, city, policy } = createPerson(simulation, job);
    const hired = await recorder.create(user, doc);
    if (isManager) managers.push({ id: hired.id, department });
    // The head of the company stays even if there are no reports, because trips need at least one traveler.
    const isStaying = number === 0 || isManager || !random.datatype.boolean(LEAVER_SHARE);
    const leavesAt = isStaying ? undefined : leaveTime(simulation);
    const staff = company.branches[branch];
    if (staff) staff.headcount += 1;
    travelers.add({ user: hired, branch, city, policy, leavesAt });
    if (leavesAt !== undefined)
      schedule.add(now(), leaveCompany(simulation, { person: hired, staff, leavesAt }));
    progress();
  }
}

/** The first people are hired within two days, the others at even intervals until the end. */
function hireTime({ options: { users, now } }: SimulationContext, number: number): number {
  const opened = now - LENGTH + HOUR;
  const first = Math.ceil(users * FIRST_SHARE);
  if (number < first) return opened + Math.floor((number / first) * 2 * DAY);
  const rest = LENGTH - 4 * DAY;
  return opened + 3 * DAY + Math.floor(((number - first) / (users - first)) * rest);
}

function leaveTime({ random, now, options }: SimulationContext): number {
  const earliest = now() + 30 * DAY;
  return randomTime(random, earliest, Math.max(earliest + DAY, options.now));
}

async function* leaveCompany(
  { recorder }: SimulationContext,
  { person, staff, leavesAt }: { person: StoredResource; staff: Branch | undefined; leavesAt: number },
): Story {
  yield leavesAt;
  if (staff) staff.headcount -= 1;
  await recorder.replace(user, person, { ...person.doc, archived: true });
}

interface Job {
  /** The head of the company has number 0. */
  number: number;
  /** The index of the branch in the company's list. */
  branch: number;
  /** The index of the department in the company's list of cost centers. */
  department: number | undefined;
  managerId: string | undefined;
  isManager: boolean;
}

const seats = ['aisle', 'aisle', 'window', 'middle'];

function createPerson(
  simulation: SimulationContext,
  job: Job,
): { doc: JsonObject; city: string; policy: PolicyTitle } {
  const { addresses, company, random, generators, now } = simulation;
  const branch = random.helpers.arrayElement(company.branches.slice(job.branch, job.branch + 1));
  const { billingProfileId, country, currency, lang } = branch;
  const home = random.helpers.arrayElement(
    cities.filter((city) => city.country === country && city.postal !== undefined),
  );
  const { person, location } = generators.forCountry(country);
  const gender = random.person.sexType();
  const [firstName, lastName] = [person.firstName(gender), person.lastName(gender)];
  const { managerId, department } = job;
  const costCenterId = department === undefined ? undefined : company.costCenterIds[department];
  const ownPolicy = choosePolicy(job, random);
  const birthdate = random.date.birthdate({ mode: 'age', min: 22, max: 64, refDate: now() });
  const doc = {
    address: {
      city: home.name,
      countryCode: country,
      postalCode: postalCode(home.postal ?? '', country, random),
      streetAddress: location.streetAddress(),
    },
    billingProfileId,
    ...(costCenterId === undefined ? {} : { costCenterId }),
    currency,
    customFields: customFieldValues(simulation, job.number, home.name),
    dateOfBirth: birthdate.toISOString().slice(0, 10),
    email: `${addresses.take(firstName, lastName, job.number)}@${company.domain}`,
    ...{ firstName, gender, lang, lastName },
    ...(managerId === undefined ? {} : { managerId }),
    ...phone(branch, random),
    roles: roles(job, random),
    ...(random.datatype.boolean(0.6)
      ? { travelerPrefs: { flightSeatPosition: random.helpers.arrayElement(seats) } }
      : {}),
    ...(ownPolicy ? { travelPolicyId: company.policyIds[ownPolicy] } : {}),
  };
  return { doc, city: home.name, policy: ownPolicy ?? (department === 0 ? 'sales' : 'standard') };
}

/** A postal code in the form of the country, with the city's first digits. */
function postalCode(beginning: string, country: string, random: Faker): string {
  const digit = random.number.int({ min: 1, max: 9 });
  if (country === 'GB')
    return `${beginning} ${digit}${random.helpers.arrayElement(['AB', 'DN', 'HQ', 'LT', 'PR'])}`;
  const code = `${beginning}${String(digit).padStart(5 - beginning.length, '0')}`;
  return country === 'SE' ? `${code.slice(0, 3)} ${code.slice(3)}` : code;
}

function phone({ phone: range }: Country, random: Faker): { phoneNumber?: string } {
  if (!range || random.datatype.boolean(0.05)) return {};
  return { phoneNumber: `${range.prefix}${random.string.numeric(range.digits)}` };
}

/**
 * Chooses the roles of a person; most people have none. The people with the listed numbers always have a role, so that
 * even a small company has an admin.
 */
function roles({ number, isManager }: Job, random: Faker): string[] {
  const has = (numbers: number[], share: number) =>
    numbers.includes(number) || random.datatype.boolean(share);
  return [
    ...(has([4, 9], 0.0005) ? ['accountant'] : []),
    ...(has([2, 5], 0) ? ['admin'] : []),
    ...(has([5], 0) ? ['authAdmin'] : []),
    ...(has([7], 0.002) ? ['guestCreator'] : []),
    ...(isManager ? ['manager'] : []),
    ...(has([3, 10, 11], 0.03) ? ['organizer'] : []),
    ...(has([0, 1], 0.01) ? ['premium'] : []),
  ];
}

/** The policy of a person; without one, that of the cost center, or else of the billing profile, applies. */
function choosePolicy({ number, isManager }: Job, random: Faker): PolicyTitle | undefined {
  if (number < 9) return 'executives';
  return !isManager && random.datatype.boolean(0.06) ? 'guests and interns' : undefined;
}

function customFieldValues({ company: { fields }, random }: SimulationContext, number: number, site: string) {
  const { 'employee number': employeeNumber, languages } = fields;
  const siteOption = fields.site.options.get(site);
  const spoken = random.datatype.boolean(0.3)
    ? random.helpers.arrayElements([...languages.options.values()], { min: 1, max: 3 })
    : [];
  const toValues = (ids: string[]) => ids.map((customFieldOptionId) => ({ customFieldOptionId }));
  return [
    { customFieldId: employeeNumber.id, values: [{ data: `E${String(number + 1).padStart(7, '0')}` }] },
    ...(siteOption === undefined ? [] : [{ customFieldId: fields.site.id, values: toValues([siteOption]) }]),
    ...(spoken.length === 0 ? [] : [{ customFieldId: languages.id, values: toValues(spoken) }]),
  ];
}
