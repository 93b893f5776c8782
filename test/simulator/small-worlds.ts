import type { WorldOperation } from '../histories/execute.ts';
import type { Event } from './events.ts';
import { allFaults, type Fault } from './faults.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { type Counts, type History, type Played, play } from './play.ts';
import type { Kill } from './replica.ts';
import { plainSetup } from './setup.ts';

/** The operations whose every sequence is played. The first person has joined before; the second has the address that is wanted. */
const operations = {
  join: { kind: 'join', who: 2, as: 'same', active: true },
  change: { kind: 'update', who: 0, via: 'patch', set: { givenName: 1, city: 0 } },
  'change of address': { kind: 'email', who: 0, address: 5 },
  leave: { kind: 'active', who: 0, active: false, as: 'same' },
  return: { kind: 'active', who: 0, active: true, as: 'same' },
  delete: { kind: 'leave', who: 0 },
  'join again': { kind: 'join', who: 0, as: 'other', active: true },
  swap: { kind: 'swap', ring: [0, 1] },
  'hand edit': { kind: 'edit', who: 0, field: 'firstName' },
} as const satisfies Record<string, WorldOperation>;

export type OperationName = keyof typeof operations;
const names = Object.keys(operations) as OperationName[]; // The keys are the names.

/** A fault of one of the effects: of a call to the travel API, or the end of the process at a port call. */
type EffectFault = { call: number; fault: Fault } | { kill: Kill };

/** A small world: a sequence of operations, and its faults. */
export interface SmallWorld {
  sequence: OperationName[];
  faults: EffectFault[];
}

/** The figures of small worlds that were played. */
export interface Figures {
  worlds: number;
  broken: { world: SmallWorld; played: Played }[];
}

/** Every sequence of this many operations, or every `step`-th of them. */
export function sequencesOf(length: number, step = 1): OperationName[][] {
  let all: OperationName[][] = [[]];
  for (let more = length; more > 0; more -= 1)
    all = all.flatMap((start) => names.map((name) => [...start, name]));
  return all.filter((_, place) => place % step === 0);
}

/** Plays a sequence without a fault, and then with one fault of each kind at each of its effects. */
export async function playSequence(
  database: MemoryDatabase,
  sequence: OperationName[],
  figures: Figures,
): Promise<void> {
  const tryWorld = async (faults: EffectFault[]): Promise<Played> => {
    const world = { sequence, faults };
    const played = await play(database, historyOf(world));
    figures.worlds += 1;
    if (played.broken.length > 0) figures.broken.push({ world, played });
    return played;
  };
  const plain = await tryWorld([]);
  for (const fault of faultsOf(plain.sinceRest)) await tryWorld([fault]);
}

/** One fault of each kind at each effect. */
function faultsOf({ calls, changingCalls, effects }: Counts): EffectFault[] {
  const kills = (count: number, edge: Kill['edge']) =>
    Array.from({ length: count }, (_, before) => ({ kill: { effects: before + 1, edge } }));
  return [
    ...Array.from({ length: calls }, (_, call) => allFaults.map((fault) => ({ call, fault }))).flat(),
    ...kills(effects, 'before'),
    ...kills(changingCalls, 'during'),
    ...kills(effects, 'after'),
  ];
}

/** The history of a small world: two people join, then the operations follow, each at once or after the one before. */
function historyOf({ sequence, faults }: SmallWorld): History {
  const people: WorldOperation[] = [0, 1].map((who) => ({ kind: 'join', who, as: 'same', active: true }));
  const events: Event[] = [
    ...people.map((what) => ({ what, pause: 100 })),
    { what: { kind: 'rest' }, pause: 0 },
    ...faults.flatMap(toEvents),
    ...sequence.map((name, place) => ({
      what: operations[name],
      pause: place === sequence.length - 1 ? LAST_PAUSE_MS : PAUSE_MS,
    })),
  ];
  return { seed: 1, setup: plainSetup, people: 6, events };
}

/** Less than a call takes, so that an operation meets the one before. */
const PAUSE_MS = 20;
/** The time in which the effects of the last operation meet their fault, in milliseconds. */
const LAST_PAUSE_MS = 1_500;

function toEvents(fault: EffectFault): Event[] {
  if ('kill' in fault) return [{ what: { kind: 'kill', replica: 0, at: fault.kill }, pause: 0 }];
  const next = [...Array.from({ length: fault.call }, () => 'pass' as const), fault.fault];
  return [{ what: { kind: 'faults', next }, pause: 0 }];
}

/** Formats a small world as one line. */
export function toWorldLine({ sequence, faults }: SmallWorld): string {
  return [sequence.join(', '), ...faults.map((fault) => JSON.stringify(fault))].join('; ');
}
