import type { HeldPerson } from '../../model/holds.ts';
import { type HoldCause, holdCauses } from '../../model/identity.ts';
import type { Holds } from '../../store/queues/holds.ts';
import { requestedChange } from './holds.ts';

/** The columns of held people in CSV. */
export const heldPersonColumns = {
  connection: ({ connection }: HeldPerson) => connection,
  cause: ({ hold }: HeldPerson) => hold.cause,
  since: ({ hold }: HeldPerson) => new Date(hold.since),
  id: ({ id }: HeldPerson) => id,
  userName: ({ userName }: HeldPerson) => userName,
  wants: (person: HeldPerson) => requestedChange(person),
  version: ({ version }: HeldPerson) => version,
};

const PAGE = 500;

/** Yields the people who wait for a decision page by page: for each connection and cause the longest waiting first. */
export async function* heldPeoplePages(
  holds: Pick<Holds, 'findHeldPeople'>,
  connections: string[],
  chosen: HoldCause | undefined,
): AsyncGenerator<HeldPerson[]> {
  for (const connection of connections)
    for (const cause of chosen === undefined ? holdCauses : [chosen]) {
      let last: HeldPerson | undefined;
      do {
        const after = last && { connection, id: last.id, since: last.hold.since };
        const people = await holds.findHeldPeople({ connection, cause, after, limit: PAGE });
        yield people;
        last = people.length === PAGE ? people.at(-1) : undefined;
      } while (last);
    }
}
