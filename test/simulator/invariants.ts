import { findViolations, type ObservedState } from '../histories/invariants.ts';
import type { World } from './world.ts';

/** Describes each promise of docs/architecture.md that is broken at rest, and what is stored of the people whom it concerns. */
export async function brokenPromises(world: World, state: ObservedState): Promise<string[]> {
  const decided = await decidedPeople(world, state);
  const isDecided = (line: string) =>
    decided.some((index) => line.startsWith(`p${index}: `)) ||
    [...world.decided].some((traveler) => line.startsWith(`the guarded traveler ${traveler} was changed`));
  const broken = [...findViolations(state), ...archivedViolations(world, state)].filter(
    (line) => !isDecided(line),
  );
  const concerned = state.people.filter(({ index }) => broken.some((line) => line.startsWith(`p${index}: `)));
  const stored = await Promise.all(
    concerned.map(async ({ index, current }) => {
      const identity = current && (await world.store.identities.findById(current.connection, current.id));
      if (!identity) return `  p${index} is not stored`;
      const { state: at, travelId, findings, waitingFor, hold, progress, creating } = identity;
      const codes = findings.map(({ field, code }) => `${field}: ${code}`);
      return `  p${index} in the store: ${JSON.stringify({ at, travelId, codes, waitingFor, creating, hold, progress })}`;
    }),
  );
  return [...broken, ...stored];
}

/** The people about whom an admin has decided last: they are as the admin, and not only the IdP, wants. */
async function decidedPeople({ store }: World, { people }: ObservedState): Promise<number[]> {
  const decided: number[] = [];
  for (const { index, current } of people) {
    const identity = current && (await store.identities.findById(current.connection, current.id));
    if (identity?.decision?.version === identity?.version && identity?.decision) decided.push(index);
  }
  return decided;
}

/** A traveler that has not carried out a change is still active or archived as its person is. */
function archivedViolations(
  { travel }: World,
  { people, links, travelers, record }: ObservedState,
): string[] {
  return people.flatMap(({ index, current }) => {
    const traveler = travelers.find(({ id }) => id === links.get(index));
    if (!current || !traveler || record.guarded.has(traveler.id) || !travel.disobedient.has(traveler.id))
      return [];
    return traveler.archived === current.wanted.active ? [`p${index}: archived is ${traveler.archived}`] : [];
  });
}
