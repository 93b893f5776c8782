import type { JsonObject } from '../json.ts';
import { readOne } from '../ports.ts';
import { user } from '../resources/user.ts';
import type { Hire } from './person.ts';
import { person } from './person.ts';
import { add, DAY, HOUR, LENGTH, type Scene } from './scene.ts';
import type { Chapter } from './story.ts';

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
  const arrive = (number: number) => async (scene: Scene) => {
    if (number + 1 < chapter.wish.users) chapter.agenda.add(arrival(chapter, number + 1), arrive(number + 1));
    await hire(chapter, scene, { number, managers });
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
  scene: Scene,
  { number, managers }: { number: number; managers: Manager[] },
): Promise<void> {
  const { company, dice, wish, travelers } = chapter;
  const manager = number === 0 ? undefined : managers[Math.floor((number - 1) / REPORTS)];
  const isManager = number * REPORTS + 1 < wish.users;
  const department = number > REPORTS ? manager?.department : departmentOfHead(number);
  const branch = company.branches.indexOf(dice.weighted(company.branches));
  const about: Hire = { number, branch, department, managerId: manager?.id, isManager };
  const { doc, city } = person(chapter, about);
  const id = await add(scene, { resource: user, doc });
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

async function archive({ recorder }: Scene, id: string): Promise<void> {
  const before = await readOne(recorder.within, 'user', id);
  const leaver: JsonObject = { ...before?.doc, archived: true };
  if (before) await recorder.replace(user, before, leaver);
}
