import { type Random, seededRandom } from '../fixtures/seeded.ts';
import { type ConnectionName, connections } from '../histories/identity-providers.ts';
import { type MappingName, mappings } from '../histories/mappings.ts';
import { type Operation, operationAt, toOperationLine } from '../histories/operations.ts';
import type { AdminAct } from './admin.ts';
import { allFaults, type Fault } from './faults.ts';
import { type GroupAct, groupSlots } from './groups.ts';
import type { OwnUserAct } from './own-user.ts';
import type { Kill } from './replica.ts';
import type { SecondUserAct } from './second-user.ts';

/** What happens to the processes and the travel API, beside the operations of IdPs and admins. */
export type Trouble =
  /** The next calls about travelers have these faults. */
  | { kind: 'faults'; next: (Fault | 'pass')[] }
  | { kind: 'kill'; replica: number; at: Kill }
  /** A process stops for this time, as in a suspended virtual machine. */
  | { kind: 'freeze'; replica: number; ms: number }
  /** All machines sleep: every timer of this time ends late. */
  | { kind: 'sleep'; ms: number }
  | { kind: 'wallClock'; ms: number }
  | { kind: 'import' }
  /** All trouble ends, and everything comes to rest and is checked. */
  | { kind: 'rest' };

/** What IdPs do beside the operations on their own users. */
export type ProviderAct =
  | GroupAct
  | OwnUserAct
  | SecondUserAct
  /** The IdP lists all users, and deletes those whom it does not know. */
  | { kind: 'purge'; connection: ConnectionName }
  /** The IdP changes an attribute by a name that no schema has. */
  | { kind: 'misspell'; who: number };

/** One event of a history, and the time until the next one, in milliseconds. */
export interface Event {
  what: Operation | Trouble | AdminAct | ProviderAct;
  pause: number;
}

/** In the histories of seeds from this one on, connections also go into shadow mode and live, and the IdPs end the person of the credential and misspell attributes. */
export const SHADOW_SEEDS = 10_000;

/** The event at a position of a history. It depends on seed and position only, so that others can be left out. */
export function eventAt(seed: number, position: number, people: number): Event {
  const random = seededRandom(Math.imul(seed, 7_368_787) + position * 104_729);
  random.below(2);
  const isTrouble = random.below(5) === 0;
  if (random.below(6) === 0) {
    const act = randomAct(random, { people, hasShadow: seed >= SHADOW_SEEDS });
    return { what: act, pause: randomPause(random) };
  }
  // Only the last of the people becomes an admin of the travel service, so that it may happen often.
  if (random.below(50) === 0) return { what: { kind: 'guard' }, pause: 0 };
  const what = isTrouble ? randomTrouble(random) : operationAt(seed, position, people);
  return { what, pause: randomPause(random) };
}

function randomPause(random: Random): number {
  const kind = random.below(20);
  if (kind < 11) return 0;
  if (kind < 17) return random.below(400);
  return random.below(kind < 19 ? 3_000 : 45_000);
}

function randomTrouble(random: Random): Trouble {
  const kind = random.below(20);
  if (kind < 11) {
    const one = random.pick(allFaults);
    const next = Array.from({ length: 1 + random.below(8) }, () =>
      random.below(3) === 0 ? ('pass' as const) : random.below(2) === 0 ? one : random.pick(allFaults),
    );
    return { kind: 'faults', next };
  }
  if (kind < 15)
    return {
      kind: 'kill',
      replica: random.below(3),
      at: { effects: 1 + random.below(12), edge: random.pick(['before', 'during', 'after']) },
    };
  if (kind < 17) return { kind: 'freeze', replica: random.below(3), ms: 5_000 + random.below(70_000) };
  if (kind < 18) return { kind: 'sleep', ms: 1_000 + random.below(10_800_000) };
  if (kind < 19) return { kind: 'wallClock', ms: (random.below(2) === 0 ? -1 : 1) * random.below(7_200_000) };
  return { kind: 'import' };
}

function randomAct(
  random: Random,
  { people, hasShadow }: { people: number; hasShadow: boolean },
): AdminAct | ProviderAct {
  if (random.below(2) === 0) return randomGroupAct(random, people);
  const kind = 10 + random.below(30);
  if (kind < 17) {
    const [name = 'defaults'] = random.some(Object.keys(mappings) as MappingName[], 1); // The keys are the names.
    return { kind: 'mapping', name };
  }
  if (kind < 23) return { kind: 'decide' };
  if (kind < 27) return { kind: 'sayIsSame', who: random.below(people) };
  if (kind < 29) return { kind: 'purge', connection: random.pick(connections) };
  if (kind < 33) return { kind: 'backup' };
  if (kind < 35) return { kind: 'restore' };
  if (kind < 37 || !hasShadow)
    return random.below(2) === 0
      ? { kind: 'pause' }
      : { kind: 'resume', connection: random.pick(connections) };
  const connection = random.pick(connections);
  if (random.below(4) === 0) return { kind: 'ownUser', connection, end: random.pick(['PATCH', 'DELETE']) };
  if (random.below(4) === 0) return { kind: 'misspell', who: random.below(people) };
  return { kind: random.below(2) === 0 ? 'shadow' : 'goLive', connection };
}

const groupActs = ['add', 'add', 'add', 'remove', 'replace', 'rename', 'put', 'empty', 'delete'] as const;

/** Most people are in the first connection, whose groups are the first of the slots. */
function randomGroupAct(random: Random, people: number): GroupAct {
  const everybody = Array.from({ length: people }, (_, who) => who);
  const act = random.pick(groupActs);
  const isNamed = act !== 'rename' && random.below(3) > 0;
  return {
    kind: 'group',
    slot: random.below(random.below(4) === 0 ? groupSlots.length : groupSlots.length / 2),
    ...{ act, name: isNamed ? 0 : random.below(6), who: random.some(everybody, 1 + random.below(5)) },
  };
}

/** Formats an event as one short line. */
export function toEventLine({ what, pause }: Event): string {
  const line = toOperationLine(what as never); // Any object with a kind.
  return pause > 0 ? `${line}, then ${pause} ms` : line;
}
