import type { HistoryContext } from '../histories/execute.ts';
import type { Person } from '../histories/identity-providers.ts';
import { promises } from '../histories/invariants.ts';
import type { World } from './world.ts';

/**
 * An IdP sends somebody who has no user with the externalId of another person: two active users are then the same person. Only short histories
 * play it.
 */
export interface SecondUserAct {
  kind: 'secondUser';
  who: number;
  of: number;
}

/** Sends the user, unless the other person has none that is active. */
export async function sendSecondUser(
  { people, providers }: HistoryContext,
  { who, of }: SecondUserAct,
): Promise<void> {
  const [person, first] = [people[who], people[of]?.current];
  if (!person || person.current || !first?.wanted.active) return;
  const { connection, wanted } = first;
  await providers.send(person, {
    ...{ verb: 'POST', connection },
    wanted: { ...person.lastWanted, externalId: wanted.externalId, active: true },
  });
}

/** Describes the active users of one person of whom an admin does not read that there are two. */
export async function secondUserViolations(
  { store }: Pick<World, 'store'>,
  people: readonly Person[],
): Promise<string[]> {
  const active = people.filter(({ current }) => current?.wanted.active);
  const broken: string[] = [];
  for (const person of active) {
    const { index, current } = person;
    const isDouble = active.some((one) => one !== person && isSamePerson(one, person));
    if (!current || !isDouble) continue;
    const { findings = [] } = (await store.identities.findById(current.connection, current.id)) ?? {};
    if (!findings.some(({ code }) => code === 'secondUser'))
      broken.push(
        `p${index}: is one of two users of a person, and an admin does not read it [${promises.toldTruly}]`,
      );
  }
  return broken;
}

function isSamePerson({ current: one }: Person, { current: other }: Person): boolean {
  return one?.connection === other?.connection && one?.wanted.externalId === other?.wanted.externalId;
}
