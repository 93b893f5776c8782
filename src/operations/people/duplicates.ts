import { z } from 'zod';
import { evidenceKinds, type ListedPerson } from '../../model/people.ts';
import { findDuplicates, type PossibleDuplicate } from '../../store/identities/duplicates.ts';
import type { OperationDeps } from '../deps.ts';
import { type Operations, operation } from '../operation.ts';
import { limit, next, optionalText } from '../schemas.ts';
import { person } from './people.ts';
import { parsePlace, placeAt, placeText } from './person-place.ts';

const duplicate = z
  .object({
    kind: z.enum(evidenceKinds).describe('What the two share'),
    value: z.string().describe('Empty for names'),
    one: person,
    other: person,
    join: optionalText.describe('The command that joins them; absent if it would be refused'),
  })
  .meta({ id: 'PossibleDuplicate' });

export type Duplicate = z.input<typeof duplicate>;
type DuplicateRow = z.output<typeof duplicate>;

/** The columns of possible duplicates in CSV. */
export const duplicateColumns = {
  shared: ({ kind }: DuplicateRow) => kind,
  value: ({ value }: DuplicateRow) => value,
  ...{ id: ({ one }: DuplicateRow) => one.id, otherId: ({ other }: DuplicateRow) => other.id },
  userName: ({ one }: DuplicateRow) => one.userName,
  otherUserName: ({ other }: DuplicateRow) => other.userName,
  name: ({ one }: DuplicateRow) => one.name,
  otherName: ({ other }: DuplicateRow) => other.name,
  connection: ({ one }: DuplicateRow) => one.connection,
  otherConnection: ({ other }: DuplicateRow) => other.connection,
  join: ({ join }: DuplicateRow) => join,
};

/** The report about people who may be one. It changes nothing. */
export const duplicateOperations = {
  listDuplicates: operation(
    {
      ...{ method: 'get', path: '/people/duplicates', tag: 'People', access: 'viewer' },
      summary:
        'List pairs of people of a travel account who share an address, an employee number, or names and department. A page can be shorter or longer than its limit',
      query: z.strictObject({ after: z.string().max(4_000).optional(), limit }),
      result: z.object({ pairs: z.array(duplicate), next }),
    },
    async ({ query: { after, limit } }, deps) => {
      const connections = deps.connectionIds();
      let place = after === undefined ? placeAt(connections[0]) : parsePlace(after, connections);
      const pairs: DuplicateRow[] = [];
      for (let step = 0; place && step < MAX_STEPS && pairs.length < limit; step += 1) {
        const { connection } = place;
        const page = await findDuplicates(deps.database, connection, place.after?.key ?? '');
        pairs.push(...(await withPeople(page.pairs, deps)));
        place =
          page.next === undefined
            ? placeAt(connections[connections.indexOf(connection) + 1])
            : { connection, after: { key: page.next, id: '' } };
      }
      return { pairs, next: place && placeText(place) };
    },
  ),
} satisfies Operations;

/** The steps that one request makes at most, so that it ends soon if few people share something. */
const MAX_STEPS = 50;

/** Leaves out pairs of whom one is deleted, and those of one traveler, which two connections list. */
async function withPeople(pairs: PossibleDuplicate[], deps: OperationDeps): Promise<DuplicateRow[]> {
  const keys = pairs.flatMap(({ one, other }) => [one, other]);
  const people = new Map<string, ListedPerson>();
  for (const connection of new Set(keys.map((key) => key.connection))) {
    const ids = new Set(keys.flatMap((key) => (key.connection === connection ? [key.id] : [])));
    for (const found of await deps.store.people.findByIds(connection, [...ids]))
      people.set(keyOf(found), found);
  }
  return pairs.flatMap(({ shared, ...pair }) => {
    const [one, other] = [people.get(keyOf(pair.one)), people.get(keyOf(pair.other))];
    if (!one || !other || (one.travelId !== undefined && one.travelId === other.travelId)) return [];
    const row = { ...shared, one, other };
    return [{ ...row, join: joinCommand(row) }];
  });
}

function keyOf({ connection, id }: PossibleDuplicate['one']): string {
  return `${connection} ${id}`;
}

/** Joined are an active user, and a leaver or a traveler without a user that is archived or has an address of the user. */
function joinCommand({ kind, one, other }: Omit<DuplicateRow, 'join'>): string | undefined {
  const isNewcomer = ({ isUnmanaged, isActive }: DuplicateRow['one']) => !isUnmanaged && isActive;
  const [newcomer, leaver] = isNewcomer(one) ? [one, other] : [other, one];
  const canLeave = !isNewcomer(leaver) && leaver.travelId !== undefined;
  if (!isNewcomer(newcomer) || !canLeave || (leaver.isActive && kind !== 'address')) return undefined;
  return `npx jetbridge people join ${leaver.id} ${newcomer.id}`;
}
