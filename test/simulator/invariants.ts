import type { CurrentUser } from '../histories/identity-providers.ts';
import { findViolations } from '../histories/invariants.ts';
import type { Decided, ObservedState } from '../histories/record.ts';
import type { World } from './world.ts';

/** Describes each promise that is broken at rest, and what is stored of the people whom it concerns. */
export async function brokenPromises(world: World, state: ObservedState): Promise<string[]> {
  const broken = findViolations(state);
  const concerned = state.people.filter(({ index }) => broken.some((line) => line.startsWith(`p${index}: `)));
  const stored = await Promise.all(
    concerned.map(async ({ index, current }) => {
      const identity = await storedIdentity(world, current);
      if (!identity) return `  p${index} is not stored`;
      const { state: at, travelId, findings, waitingFor, hold, decision, progress, creating } = identity;
      const codes = findings.map(({ field, code }) => `${field}: ${code}`);
      const shown = { at, travelId, codes, waitingFor, creating, hold, decision, progress };
      return `  p${index} in the store: ${JSON.stringify(shown)}`;
    }),
  );
  return [...broken, ...stored];
}

/** Reads the decisions of admins that still count: the IdP has not written the person since, or not stated the departure. */
export async function readDecided(
  world: World,
  { people, record }: Pick<ObservedState, 'people' | 'record'>,
): Promise<Decided> {
  const { database, store } = world;
  const rows = await database.db
    .selectFrom('identity')
    .select(['connection_id', 'id'])
    .where('decision', '<>', '')
    .execute();
  const decided = {
    keptActive: new Set(record.keptOutOfScope),
    aboutGuarded: new Set(record.approvedGuarded),
    withoutLink: new Set<number>(),
    withoutRules: new Set<number>(),
    ofLeavers: await readTravelersOfLeavers(world),
    takenForExisting: await findTakenForExisting(world, { people, record }),
  };
  for (const { connection_id, id } of rows) {
    const { decision, version, origin, travelId } =
      (await store.identities.findById(connection_id, id)) ?? {};
    if (!decision || version === undefined) continue;
    const isCurrent = (origin?.statedDeparture?.version ?? version) <= decision.version;
    if (!isCurrent) continue;
    const person = people.find(({ current }) => current?.id === id);
    if (decision.cause === 'guarded' && decision.answer === 'discarded' && travelId === undefined && person)
      decided.withoutLink.add(person.index);
    if (travelId === undefined) continue;
    if (decision.answer === 'discarded') decided.keptActive.add(travelId);
    if (decision.cause === 'guarded') decided.aboutGuarded.add(travelId);
  }
  return decided;
}

/** Reads the travelers that users have whom an IdP has deleted. */
async function readTravelersOfLeavers({ database }: World): Promise<Set<string>> {
  const rows = await database.db
    .selectFrom('identity')
    .select('travel_id')
    .where('claimed', '=', 1)
    .where('deleted_at', 'is not', null)
    .execute();
  return new Set(rows.flatMap(({ travel_id }) => travel_id ?? []));
}

/** Finds the travelers that no admin has made, and of which the bridge has owned nothing when it linked them. */
async function findTakenForExisting(
  world: World,
  { people, record }: Pick<ObservedState, 'people' | 'record'>,
): Promise<Set<string>> {
  if (record.isTimeNamed) return new Set();
  const identities = await Promise.all(people.map(({ current }) => storedIdentity(world, current)));
  const adopted = identities.flatMap((identity) =>
    identity?.progress.adoptedAs !== undefined ? (identity.travelId ?? []) : [],
  );
  return new Set(adopted.filter((id) => !record.strangers.has(id)));
}

/** Reads what the store has of the present user of a person, if there is one. */
function storedIdentity({ store }: Pick<World, 'store'>, current: CurrentUser | undefined) {
  return current && store.identities.findById(current.connection, current.id);
}
