import { formatTimestamp } from '../travel/collection.ts';
import type { JsonObject } from '../travel/json.ts';
import { readResource } from '../travel/ports.ts';
import { user } from '../travel/resources/user.ts';
import { add, type Context, DAY, type Dice, HOUR, LENGTH } from './context.ts';
import { cities, type Population } from './places.ts';
import type { Chapter } from './simulation.ts';

/** Everybody has so many reports at most, and people are numbered row by row of that tree, so that it has no circles. */
const REPORTS = 8;
/** So many of the people are there when the account is opened; the others come one by one. */
const FIRST = 0.8;
const LEAVERS = 0.05;

/** What the tree needs to be known of a manager. */
interface Manager {
  id: string;
  department: number | undefined;
}

/** Plans that the people of the company come, and that some leave. Managers come before their reports. */
export function planPeople(chapter: Chapter): void {
  const managers: Manager[] = [];
  const arrive = (number: number) => async (context: Context) => {
    if (number + 1 < chapter.wish.users) chapter.agenda.add(arrival(chapter, number + 1), arrive(number + 1));
    await hire(chapter, context, { number, managers });
    chapter.progress();
  };
  chapter.agenda.add(arrival(chapter, 0), arrive(0));
}

/** When somebody comes: the first within two days, the others evenly until the end. */
function arrival({ wish: { users, now } }: Chapter, number: number): number {
  const opened = now - LENGTH + HOUR;
  const first = Math.ceil(users * FIRST);
  if (number < first) return opened + Math.floor((number / first) * 2 * DAY);
  const rest = LENGTH - 4 * DAY;
  return opened + 3 * DAY + Math.floor(((number - first) / (users - first)) * rest);
}

async function hire(
  chapter: Chapter,
  context: Context,
  { number, managers }: { number: number; managers: Manager[] },
): Promise<void> {
  const { company, dice, wish, travelers } = chapter;
  const manager = number === 0 ? undefined : managers[Math.floor((number - 1) / REPORTS)];
  const isManager = number * REPORTS + 1 < wish.users;
  const department = number > REPORTS ? manager?.department : departmentOfHead(number);
  const branch = company.branches.indexOf(dice.weighted(company.branches));
  const about: Hire = { number, branch, department, managerId: manager?.id, isManager };
  const { doc, city } = person(chapter, about);
  const id = await add(context, { resource: user, doc });
  if (isManager) managers.push({ id, department });
  const leavesAt = isManager || !dice.chance(LEAVERS) ? undefined : leaving(chapter);
  const staff = company.branches[branch];
  if (staff) staff.headcount += 1;
  travelers.add({ id, branch, city, leavesAt });
  if (leavesAt === undefined) return;
  chapter.agenda.add(leavesAt, async (then) => {
    if (staff) staff.headcount -= 1;
    await archive(then, id);
  });
}

/** The first reports of the head of the company are the heads of the departments. */
function departmentOfHead(number: number): number | undefined {
  return number === 0 ? undefined : number - 1;
}

function leaving({ dice, now, wish }: Chapter): number {
  const earliest = now() + 30 * DAY;
  return earliest + Math.floor(dice.next() * Math.max(DAY, wish.now - earliest));
}

async function archive({ recorder }: Context, id: string): Promise<void> {
  const before = await readResource(recorder.transaction, 'user', id);
  const leaver: JsonObject = { ...before?.doc, archived: true };
  if (before) await recorder.replace(user, before, leaver);
}

/** What is settled of somebody before they have a name. */
export interface Hire {
  /** The head of the company is 0. */
  number: number;
  /** The place of their country in the company's list. */
  branch: number;
  department: number | undefined;
  managerId: string | undefined;
  isManager: boolean;
}

/** Somebody's document, and the city where they work. */
export function person(chapter: Chapter, hire: Hire): { doc: JsonObject; city: string } {
  const { company, dice, names, now } = chapter;
  const population = dice.of(company.branches.slice(hire.branch, hire.branch + 1));
  const { billingProfileId, country, currency, lang } = population;
  const home = dice.of(cities.filter((one) => one.country === country && one.postal !== undefined));
  // Some work abroad.
  const origin = dice.chance(0.88) ? country : dice.weighted(company.branches).country;
  const gender = dice.of(['female', 'male'] as const);
  const firstName = names.of(origin).person.firstName(gender);
  const lastName = names.of(origin).person.lastName(gender);
  const { managerId, department } = hire;
  const costCenterId = department === undefined ? undefined : company.costCenterIds[department];
  const doc = {
    address: {
      city: home.name,
      countryCode: country,
      postalCode: postalCode(home.postal ?? '', country, dice),
      streetAddress: names.of(country).location.streetAddress(),
    },
    billingProfileId,
    ...(costCenterId === undefined ? {} : { costCenterId }),
    currency,
    customFields: customFields(chapter, hire.number, home.name),
    dateOfBirth: formatTimestamp(now() - Math.floor((22 + dice.next() * 42) * 365.25 * DAY)).slice(0, 10),
    email: `${chapter.addresses.take(firstName, lastName, hire.number)}@${company.domain}`,
    ...{ firstName, gender, lang, lastName },
    ...(managerId === undefined ? {} : { managerId }),
    ...phone(population, dice),
    roles: roles(hire, dice),
    ...(dice.chance(0.6)
      ? { travelerPrefs: { flightSeatPosition: dice.of(['aisle', 'aisle', 'window', 'middle']) } }
      : {}),
    ...policy(chapter, hire),
  };
  return { doc, city: home.name };
}

/** The form of each country's postal codes, behind the city's first digits. */
function postalCode(beginning: string, country: string, dice: Dice): string {
  if (country === 'GB') return `${beginning} ${dice.between(1, 9)}${dice.of(['AB', 'DN', 'HQ', 'LT', 'PR'])}`;
  const rest = 5 - beginning.length;
  const code = `${beginning}${String(dice.between(1, 9)).padStart(rest, '0')}`;
  return country === 'SE' ? `${code.slice(0, 3)} ${code.slice(3)}` : code;
}

function phone({ phone: range }: Population, dice: Dice): { phoneNumber?: string } {
  if (!range || dice.chance(0.05)) return {};
  const { prefix, digits } = range;
  return { phoneNumber: `${prefix}${String(dice.between(0, 10 ** digits - 1)).padStart(digits, '0')}` };
}

/** Few, and the first of a kind for certain: somebody must look after the account. */
function roles({ number, isManager }: Hire, dice: Dice): string[] {
  const has = (numbers: number[], part: number) => numbers.includes(number) || dice.chance(part);
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

function policy({ company, dice }: Chapter, { number, isManager }: Hire): { travelPolicyId?: string } {
  if (number < 9) return { travelPolicyId: company.policies.executives };
  return !isManager && dice.chance(0.06) ? { travelPolicyId: company.policies.guests } : {};
}

function customFields({ company: { fields }, dice }: Chapter, number: number, site: string) {
  const { employeeNumber, languages } = fields;
  const office = fields.site.options.get(site);
  const asked = dice.chance(0.3) ? [...languages.options.values()] : [];
  const spoken = asked.filter(() => dice.chance(0.35));
  return [
    { customFieldId: employeeNumber, values: [{ data: `E${String(number + 1).padStart(7, '0')}` }] },
    ...(office === undefined
      ? []
      : [{ customFieldId: fields.site.id, values: [{ customFieldOptionId: office }] }]),
    ...(spoken.length === 0
      ? []
      : [
          {
            customFieldId: languages.id,
            values: spoken.map((customFieldOptionId) => ({ customFieldOptionId })),
          },
        ]),
  ];
}
