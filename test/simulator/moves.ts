import { type Random, seededRandom } from '../fixtures/seeded.ts';
import { allFaults, type Fault } from './faults.ts';
import { type GroupMove, groupActs, groupSlots } from './groups.ts';
import { type MappingName, mappingNames } from './mappings.ts';
import { type ConnectionName, connections } from './people.ts';
import type { Kill } from './replica.ts';
import { type EditedField, editedFields } from './travelers.ts';

/** The attributes that an update may set, with the values that it chooses from. Undefined removes the value. */
export const pools = {
  givenName: ['Ada', 'Grace', 'Edsger', 'Barbara'],
  phone: ['+33 612345678', '+33 612345679', '+33 142685300', undefined],
  department: ['Sales', 'Legal', 'Research', undefined],
  title: ['Engineer', 'Director', undefined],
  costCenter: ['CC-1', 'CC-2', undefined],
  lang: ['en', 'fr', undefined],
  street: ['1 Main Street', '2 Side Street', undefined],
  city: ['Paris', 'Lyon', 'Nice', undefined],
  roles: [['organizer'], ['premium'], ['organizer', 'premium'], []],
} as const;

export type Attribute = keyof typeof pools;

/** What an IdP does with a user. If a move does not apply to the present state, a similar one that does is made. */
export type UserMove =
  | { kind: 'update'; who: number; via: 'PUT' | 'PATCH'; set: Partial<Record<Attribute, number>> }
  | { kind: 'join'; who: number; as: 'same' | 'other'; active: boolean }
  | { kind: 'leave'; who: number }
  | { kind: 'active'; who: number; active: boolean; as: 'same' | 'other' }
  | { kind: 'email'; who: number; address: number }
  | { kind: 'swap'; ring: number[] }
  | { kind: 'manager'; who: number; of: number | undefined; by: 'id' | 'userName' }
  /** The person leaves one connection and joins the other. */
  | { kind: 'move'; who: number };

/** What admins of the travel service do. */
export type TravelMove =
  | { kind: 'edit'; who: number; field: EditedField }
  | { kind: 'vanish'; who: number }
  | { kind: 'stranger'; who: number; archived: boolean }
  | { kind: 'promote'; who: number }
  | { kind: 'costCenter'; name: 'CC-1' | 'CC-2' };

/** What admins of the bridge do, and the IdP beside its own users. */
export type AdminMove =
  | { kind: 'mapping'; name: MappingName }
  /** An admin approves or discards what is held at this moment. */
  | { kind: 'decide' }
  | { kind: 'erase'; who: number }
  | { kind: 'backup' }
  /** The database becomes what it was at the backup. */
  | { kind: 'restore' }
  | { kind: 'shadow'; connection: ConnectionName }
  | { kind: 'goLive'; connection: ConnectionName }
  /** The IdP lists all users, and deletes those whom it does not know. */
  | { kind: 'purge'; connection: ConnectionName };

/** What happens to the processes and the travel API. */
export type Trouble =
  /** The next calls about travelers have these faults. With `kill`, a process ends meanwhile. */
  | { kind: 'faults'; next: (Fault | 'pass')[]; kill?: { replica: number; at: Kill } }
  | { kind: 'kill'; replica: number; at: Kill }
  /** A process stops for this time, as in a suspended virtual machine. */
  | { kind: 'freeze'; replica: number; ms: number }
  /** All machines sleep: every timer of this time ends late. */
  | { kind: 'sleep'; ms: number }
  | { kind: 'wallClock'; ms: number }
  | { kind: 'import' }
  /** All trouble ends, and everything comes to rest and is checked. */
  | { kind: 'rest' };

export type Move = UserMove | TravelMove | AdminMove | GroupMove | Trouble;

/** One move of a history, and the time until the next one, in milliseconds. */
export interface Event {
  what: Move;
  pause: number;
}

/** The relative frequency of each kind of move. */
const weights = {
  ...{ update: 26, join: 13, leave: 6, active: 9, email: 6, swap: 4, manager: 5, move: 4 },
  ...{ edit: 11, vanish: 2, stranger: 4, promote: 2, costCenter: 2 },
  ...{ mapping: 4, decide: 3, erase: 2, backup: 1, restore: 1, shadow: 1, goLive: 2, purge: 1, group: 11 },
  ...{ faults: 14, kill: 6, freeze: 2, sleep: 1, wallClock: 1, import: 1 },
} as const satisfies Record<Exclude<Move['kind'], 'rest'>, number>;

type RandomKind = keyof typeof weights;

/** The event at a position of a history. It depends on seed and position only, so that others can be left out. */
export function eventAt(seed: number, position: number, people: number): Event {
  const random = seededRandom(Math.imul(seed, 7_368_787) + position * 104_729);
  random.below(2);
  const kinds = Object.keys(weights) as RandomKind[]; // The keys are the kinds.
  let left = random.below(kinds.reduce((sum, kind) => sum + weights[kind], 0));
  const chosen = kinds.find((kind) => {
    left -= weights[kind];
    return left < 0;
  });
  return { what: makers[chosen ?? 'update'](random, people), pause: randomPause(random) };
}

function randomPause(random: Random): number {
  const kind = random.below(20);
  if (kind < 11) return 0;
  if (kind < 17) return random.below(400);
  return random.below(kind < 19 ? 3_000 : 45_000);
}

const makers: { [K in RandomKind]: (random: Random, people: number) => Extract<Move, { kind: K }> } = {
  update: (random, people) => {
    const attributes = random.some(Object.keys(pools) as Attribute[], 1 + random.below(3)); // The keys are the attributes.
    const set = Object.fromEntries(attributes.map((name) => [name, random.below(pools[name].length)]));
    return { kind: 'update', who: random.below(people), via: random.pick(['PUT', 'PATCH', 'PATCH']), set };
  },
  join: (random, people) => ({
    ...{ kind: 'join', who: random.below(people), as: random.below(4) === 0 ? 'other' : 'same' },
    active: random.below(8) > 0,
  }),
  leave: (random, people) => ({ kind: 'leave', who: random.below(people) }),
  active: (random, people) => ({
    ...{ kind: 'active', who: random.below(people), active: random.below(2) === 0 },
    as: random.below(6) === 0 ? 'other' : 'same',
  }),
  email: (random, people) => ({
    kind: 'email',
    who: random.below(people),
    address: random.below(people + 4),
  }),
  swap: (random, people) => ({ kind: 'swap', ring: someOf(random, people, 2 + random.below(2)) }),
  manager: (random, people) => ({
    ...{
      kind: 'manager',
      who: random.below(people),
      of: random.below(5) === 0 ? undefined : random.below(people),
    },
    by: random.pick(['id', 'userName']),
  }),
  move: (random, people) => ({ kind: 'move', who: random.below(people) }),
  edit: (random, people) => ({
    kind: 'edit',
    who: random.below(people),
    field: random.some(editedFields, 1)[0] ?? 'email',
  }),
  vanish: (random, people) => ({ kind: 'vanish', who: random.below(people) }),
  stranger: (random, people) => ({
    ...{ kind: 'stranger', who: random.below(people), archived: random.below(3) === 0 },
  }),
  // Only the last of the people becomes an admin of the travel service, so that it may happen often.
  promote: (_, people) => ({ kind: 'promote', who: people - 1 }),
  costCenter: (random) => ({ kind: 'costCenter', name: random.pick(['CC-1', 'CC-2']) }),
  mapping: (random) => ({ kind: 'mapping', name: random.some(mappingNames, 1)[0] ?? 'defaults' }),
  decide: () => ({ kind: 'decide' }),
  erase: (random, people) => ({ kind: 'erase', who: random.below(people) }),
  backup: () => ({ kind: 'backup' }),
  restore: () => ({ kind: 'restore' }),
  shadow: (random) => ({ kind: 'shadow', connection: random.pick(connections) }),
  goLive: (random) => ({ kind: 'goLive', connection: random.pick(connections) }),
  purge: (random) => ({ kind: 'purge', connection: random.pick(connections) }),
  group: (random, people) => ({
    kind: 'group',
    // Most people are in the first connection, whose groups come first.
    place: random.below(random.below(4) === 0 ? groupSlots.length : groupSlots.length / 2),
    ...{
      act: random.pick(groupActs),
      name: random.pick([0, 0, 0, 1, 2]),
      who: someOf(random, people, 1 + random.below(5)),
    },
  }),
  faults: (random) => {
    const one = random.pick(allFaults);
    const next = Array.from({ length: 1 + random.below(8) }, () =>
      random.below(3) === 0 ? ('pass' as const) : random.below(2) === 0 ? one : random.pick(allFaults),
    );
    const kill = { replica: random.below(3), at: randomKill(random) };
    return { kind: 'faults', next, ...(random.below(4) === 0 ? { kill } : {}) };
  },
  kill: (random) => ({ kind: 'kill', replica: random.below(3), at: randomKill(random) }),
  freeze: (random) => ({ kind: 'freeze', replica: random.below(3), ms: 5_000 + random.below(70_000) }),
  sleep: (random) => ({ kind: 'sleep', ms: 1_000 + random.below(10_800_000) }),
  wallClock: (random) => ({
    kind: 'wallClock',
    ms: (random.below(2) === 0 ? -1 : 1) * random.below(7_200_000),
  }),
  import: () => ({ kind: 'import' }),
};

function randomKill(random: Random): Kill {
  return { effects: 1 + random.below(12), edge: random.pick(['before', 'during', 'after']) };
}

function someOf(random: Random, people: number, count: number): number[] {
  return random.some(
    Array.from({ length: people }, (_, who) => who),
    count,
  );
}

/** Formats an event as one short line. */
export function toEventLine({ what: { kind, ...rest }, pause }: Event): string {
  const parts = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return [kind, ...parts].join(' ') + (pause > 0 ? `, then ${pause} ms` : '');
}
