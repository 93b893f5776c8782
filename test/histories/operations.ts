import { type Random, seededRandom } from '../fixtures/seeded.ts';

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

/** The fields of a traveler that are edited by hand. The IdP writes the first ones, too. */
export const ownedEdits = ['firstName', 'phoneNumber', 'team', 'address.city', 'archived', 'email'] as const;
export const foreignEdits = [
  'gender',
  'currency',
  'address.region',
  'address.postalCode',
  'floor',
  'roles.guest',
  'roles.accountant',
] as const;
export type EditedField = (typeof ownedEdits)[number] | (typeof foreignEdits)[number];

/** One operation of a history. If it does not apply to the person's current state, a similar one that does is executed. */
export type Operation =
  | { kind: 'update'; who: number; via: 'put' | 'patch'; set: Partial<Record<Attribute, number>> }
  | { kind: 'join'; who: number; as: 'same' | 'other'; active: boolean }
  | { kind: 'leave'; who: number }
  | { kind: 'active'; who: number; active: boolean; as: 'same' | 'other' }
  | { kind: 'email'; who: number; address: number }
  | { kind: 'swap'; ring: number[] }
  | { kind: 'manager'; who: number; of: number | undefined; by: 'id' | 'userName' }
  | { kind: 'move'; who: number }
  | { kind: 'edit'; who: number; field: EditedField }
  | { kind: 'vanish'; who: number }
  | { kind: 'stranger'; who: number; archived: boolean }
  | { kind: 'rule'; attribute: 'title' | 'department' }
  | { kind: 'guard' }
  | { kind: 'lookup'; costCenter: 'CC-1' | 'CC-2' };

type Kind = Operation['kind'];

/** The relative frequency of each kind of operation. */
const weights: Record<Kind, number> = {
  update: 30,
  join: 14,
  leave: 7,
  active: 10,
  email: 6,
  swap: 5,
  manager: 6,
  move: 4,
  edit: 12,
  vanish: 2,
  stranger: 4,
  rule: 2,
  lookup: 2,
  guard: 1,
};

/** The operation at a position of a history. It depends on seed and position only, so that others can be left out. */
export function operationAt(seed: number, position: number, people: number): Operation {
  const random = seededRandom(Math.imul(seed, 1_000_003) + position * 7_919);
  random.below(2);
  const kinds = Object.keys(weights) as Kind[]; // The keys are the kinds.
  let left = random.below(kinds.reduce((sum, kind) => sum + weights[kind], 0));
  for (const kind of kinds) {
    if (left < weights[kind]) return operationMakers[kind](random, people);
    left -= weights[kind];
  }
  throw new Error('no kind of operation is left');
}

const operationMakers: { [K in Kind]: (random: Random, people: number) => Extract<Operation, { kind: K }> } =
  {
    update: (random, people) => {
      const attributes = random.some(Object.keys(pools) as Attribute[], 1 + random.below(3)); // The keys are the attributes.
      const set = Object.fromEntries(attributes.map((name) => [name, random.below(pools[name].length)]));
      return { kind: 'update', who: random.below(people), via: random.pick(['put', 'patch', 'patch']), set };
    },
    join: (random, people) => ({
      kind: 'join',
      who: random.below(people),
      as: random.below(4) === 0 ? 'other' : 'same',
      active: random.below(8) > 0,
    }),
    leave: (random, people) => ({ kind: 'leave', who: random.below(people) }),
    active: (random, people) => ({
      kind: 'active',
      who: random.below(people),
      active: random.below(2) === 0,
      as: random.below(6) === 0 ? 'other' : 'same',
    }),
    email: (random, people) => ({
      kind: 'email',
      who: random.below(people),
      address: random.below(people + 4),
    }),
    swap: (random, people) => ({
      kind: 'swap',
      ring: random.some(
        Array.from({ length: people }, (_, who) => who),
        2 + random.below(2),
      ),
    }),
    manager: (random, people) => ({
      kind: 'manager',
      who: random.below(people),
      of: random.below(5) === 0 ? undefined : random.below(people),
      by: random.pick(['id', 'userName']),
    }),
    move: (random, people) => ({ kind: 'move', who: random.below(people) }),
    edit: (random, people) => ({
      kind: 'edit',
      who: random.below(people),
      field: random.below(2) === 0 ? random.pick(ownedEdits) : random.pick(foreignEdits),
    }),
    vanish: (random, people) => ({ kind: 'vanish', who: random.below(people) }),
    stranger: (random, people) => ({
      kind: 'stranger',
      who: random.below(people),
      archived: random.below(3) === 0,
    }),
    rule: (random) => ({ kind: 'rule', attribute: random.pick(['title', 'department']) }),
    guard: () => ({ kind: 'guard' }),
    lookup: (random) => ({ kind: 'lookup', costCenter: random.pick(['CC-1', 'CC-2']) }),
  };

/** Formats an operation as one short line, for the report of a failed history. */
export function toOperationLine({ kind, ...rest }: Operation): string {
  const parts = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return [kind, ...parts].join(' ');
}
