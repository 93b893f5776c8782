import { noteNews } from './knowledge.ts';
import { type Attribute, pools, type UserMove } from './moves.ts';
import { addressOf, asAnotherHuman, type ConnectionName, type Person, type UserWrite } from './people.ts';
import type { Player } from './play.ts';
import type { WantedUser } from './wanted-user.ts';

type Of<K extends UserMove['kind']> = Extract<UserMove, { kind: K }>;

/** An IdP changes a user, or several who exchange their addresses. */
export async function moveUser(player: Player, move: UserMove): Promise<void> {
  if (move.kind === 'swap') return swap(player, move);
  const person = player.knowledge.people[move.who];
  // While the outcome of the last write is unknown, the IdP reads the user first.
  if (!person || person.unanswered) return;
  if (person.current) await change(player, person, move);
  else await create(player, person, move);
}

async function create(player: Player, person: Person, move: Exclude<UserMove, Of<'swap'>>): Promise<void> {
  const isJoin = move.kind === 'join';
  const last = { ...person.lastWanted, active: !isJoin || move.active };
  const wanted = isJoin && isOther(player, move) ? asAnotherHuman(person, last) : last;
  const connection = move.kind === 'move' ? otherThan(person.lastConnection) : person.lastConnection;
  await player.providers.send(person, { verb: 'POST', connection, wanted });
}

async function change(player: Player, person: Person, move: Exclude<UserMove, Of<'swap'>>): Promise<void> {
  const { current } = person;
  if (!current) return;
  const { wanted, connection } = current;
  const send = (verb: UserWrite['verb'], next: WantedUser | undefined) =>
    player.providers.send(person, { verb, connection, wanted: next });
  switch (move.kind) {
    case 'leave':
      await send('DELETE', undefined);
      break;
    case 'move':
      // An admin of the travel service, whose DELETE was refused, does not move.
      if ((await send('DELETE', undefined)) && !person.current)
        await player.providers.send(person, {
          ...{ verb: 'POST', connection: otherThan(connection) },
          wanted: { ...wanted, manager: undefined },
        });
      break;
    case 'update':
      await send(move.via, { ...wanted, ...chosenValues(move.set) });
      break;
    case 'join':
      await send('PUT', wanted);
      break;
    case 'active': {
      const isNew = isOther(player, move) && move.active && !wanted.active;
      const next = { ...wanted, active: move.active };
      await send('PATCH', isNew ? asAnotherHuman(person, next) : next);
      break;
    }
    case 'email':
      await send('PATCH', { ...wanted, email: addressOf(move.address) });
      break;
    case 'manager':
      await send('PATCH', { ...wanted, manager: managerOf(player, move) });
  }
}

/** Lets several people of one connection exchange their addresses in a cycle. */
async function swap({ knowledge: { people }, providers }: Player, { ring }: Of<'swap'>): Promise<void> {
  const all = ring.flatMap((who) => people[who] ?? []).filter((one) => one.current && !one.unanswered);
  const connection = all[0]?.current?.connection;
  const members = all.filter(({ current }) => current?.connection === connection);
  const emails = members.map(({ lastWanted }) => lastWanted.email);
  if (!connection) return;
  await Promise.all(
    members.map((person, index) => {
      const email = emails[(index + 1) % emails.length] ?? person.lastWanted.email;
      return providers.send(person, { verb: 'PATCH', connection, wanted: { ...person.lastWanted, email } });
    }),
  );
}

/** The place of the person who becomes an admin of the travel service is not given to another human. */
function isOther({ knowledge }: Player, { who, as }: Of<'join' | 'active'>): boolean {
  return as === 'other' && who < knowledge.people.length - 1;
}

function otherThan(connection: ConnectionName): ConnectionName {
  return connection === 'default' ? 'second' : 'default';
}

function chosenValues(set: Of<'update'>['set']): Partial<WantedUser> {
  const entries = Object.entries(set).map(([name, at]) => [name, pools[name as Attribute][at]]); // The keys are attributes.
  return Object.fromEntries(entries);
}

/** The value that refers to a manager: the userName only if it is no address, else the SCIM id. */
function managerOf({ knowledge }: Player, { who, of, by }: Of<'manager'>): string | undefined {
  const manager = of === undefined ? undefined : knowledge.people[of];
  const reporting = knowledge.people[who];
  if (!manager || !reporting) return undefined;
  noteNews(knowledge, reporting.lastWanted.familyName, ['managerId']);
  const { userName } = manager.lastWanted;
  return by === 'userName' && !userName.includes('@') ? userName : manager.current?.id;
}
