import type { Operation } from '../histories/operations.ts';
import { type Beginning, type BeginningName, beginnings } from './beginnings.ts';
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
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
const names = Object.keys(operations) as OperationName[]; // The keys are the names.

/** Further operations, of which only a part of the sequences is played. The first two people want each other's addresses. */
const further = {
  'address of the first': { kind: 'email', who: 1, address: 0 },
  'address of the second': { kind: 'email', who: 0, address: 1 },
  move: { kind: 'move', who: 0 },
  vanish: { kind: 'vanish', who: 0 },
  'more roles': { kind: 'update', who: 0, via: 'patch', set: { roles: 2, phone: 0 } },
  removal: { kind: 'update', who: 0, via: 'patch', set: { roles: 3, phone: 3, city: 3, costCenter: 2 } },
  'state all': { kind: 'update', who: 0, via: 'put', set: { givenName: 0 } },
  'own user': { kind: 'ownUser', connection: 'second', end: 'DELETE' },
  'no own user': { kind: 'ownUser', connection: 'default', end: 'PATCH' },
  'manager who leaves': { kind: 'manager', who: 1, of: 0, by: 'id' },
} as const satisfies Record<string, Event['what']>;

type FurtherName = keyof typeof further;
const furtherNames = Object.keys(further) as FurtherName[]; // The keys are the names.

/** A fault of one of the effects: of a call to the travel API, or the end of the process at a port call. */
type EffectFault = { call: number; fault: Fault } | { kill: Kill };

/** A small world: what it begins with, a sequence of operations, and its faults. */
export interface SmallWorld {
  beginning: BeginningName;
  sequence: (OperationName | FurtherName)[];
  faults: EffectFault[];
}

/** The figures of small worlds that were played. */
export interface Figures {
  worlds: number;
  /** The number of worlds of these sequences, those included that were left out. */
  all: number;
  broken: { world: SmallWorld; played: Played }[];
}

/** Every sequence of this many operations, or every `step`-th of them. */
export function sequencesOf(length: number, step = 1): OperationName[][] {
  return allSequences(names, length).filter((_, place) => place % step === 0);
}

/** Every sequence of this many operations, the further ones included, or every `step`-th of them. */
export function allSequencesOf(length: number, step = 1): Pick<SmallWorld, 'sequence'>[] {
  const sequences = allSequences([...names, ...furtherNames], length);
  return sequences.filter((_, place) => place % step === 0).map((sequence) => ({ sequence }));
}

/** Every sequence of this many operations, the further ones included, with every beginning, or every `step`-th of them. */
export function varietyOf(length: number, step = 1): Pick<SmallWorld, 'beginning' | 'sequence'>[] {
  const sequences = allSequences([...names, ...furtherNames], length);
  const starts = Object.keys(beginnings) as BeginningName[]; // The keys are the beginnings.
  return sequences
    .flatMap((sequence) => starts.map((beginning) => ({ beginning, sequence })))
    .filter((_, place) => place % step === 0);
}

function allSequences<Name>(of: readonly Name[], length: number): Name[][] {
  let all: Name[][] = [[]];
  for (let more = length; more > 0; more -= 1)
    all = all.flatMap((start) => of.map((name) => [...start, name]));
  return all;
}

/**
 * Plays a sequence without a fault, and then with every `step`-th choice of one or two faults of its effects; with `only`, of faults of this kind
 * of its calls.
 */
export async function playSequence(
  database: MemoryDatabase,
  { sequence, beginning = 'plain' }: Pick<SmallWorld, 'sequence'> & Partial<Pick<SmallWorld, 'beginning'>>,
  figures: Figures,
  { faults: count = 1, step = 1, only }: { faults?: number; step?: number; only?: Fault | undefined } = {},
): Promise<void> {
  const tryWorld = async (faults: EffectFault[]): Promise<Played> => {
    const world = { beginning, sequence, faults };
    const played = await play(database, historyOf(world));
    figures.worlds += 1;
    if (played.broken.length > 0) figures.broken.push({ world, played });
    return played;
  };
  const plain = await tryWorld([]);
  const single = count === 0 ? [] : faultsOf(plain.sinceRest, only);
  const all = count === 2 ? pairsOf(single) : single.map((fault) => [fault]);
  figures.all += 1 + all.length;
  for (const [place, faults] of all.entries()) if (place % step === 0) await tryWorld(faults);
}

/** One fault of each kind at each effect; with `only`, of this kind at each call. */
function faultsOf({ calls, changingCalls, effects }: Counts, only: Fault | undefined): EffectFault[] {
  if (only) return Array.from({ length: calls }, (_, call) => ({ call, fault: only }));
  const kills = (count: number, edge: Kill['edge']) =>
    Array.from({ length: count }, (_, before) => ({ kill: { effects: before + 1, edge } }));
  return [
    ...Array.from({ length: calls }, (_, call) => allFaults.map((fault) => ({ call, fault }))).flat(),
    ...kills(effects, 'before'),
    ...kills(changingCalls, 'during'),
    ...kills(effects, 'after'),
  ];
}

/** Every two faults of different calls, and every fault of a call with the end of the process. */
export function pairsOf(single: EffectFault[]): EffectFault[][] {
  return single.flatMap((one, place) =>
    single
      .slice(place + 1)
      .filter((other) => 'call' in one && !('call' in other && other.call === one.call))
      .map((other) => [one, other]),
  );
}

/** The history of a small world: two people join, then the operations follow, each at once or after the one before. */
function historyOf({ beginning, sequence, faults }: SmallWorld): History {
  const { setup = {}, policies = {}, habits = {}, before = [] }: Beginning = beginnings[beginning];
  const people: Operation[] = [0, 1].map((who) => ({ kind: 'join', who, as: 'same', active: true }));
  const events: Event[] = [
    ...people.map((what) => ({ what, pause: 100 })),
    { what: { kind: 'rest' }, pause: 0 },
    ...before.map((what) => ({ what, pause: 0 })),
    ...toEvents(faults),
    ...sequence.map((name, place) => ({
      what: { ...operations, ...further }[name],
      pause: place === sequence.length - 1 ? LAST_PAUSE_MS : PAUSE_MS,
    })),
  ];
  const plain = { ...plainSetup, ...setup };
  return {
    ...{ seed: 1, people: 6, events },
    setup: {
      ...plain,
      policies: { ...plain.policies, ...policies },
      habits: { ...plain.habits, ...habits },
    },
  };
}

/** Less than a call takes, so that an operation meets the one before. */
const PAUSE_MS = 20;
/** The time in which the effects of the last operation meet their fault, in milliseconds. */
const LAST_PAUSE_MS = 1_500;

function toEvents(faults: EffectFault[]): Event[] {
  const next: (Fault | 'pass')[] = [];
  const kills: Event[] = [];
  for (const fault of faults) {
    if ('kill' in fault) kills.push({ what: { kind: 'kill', replica: 0, at: fault.kill }, pause: 0 });
    else {
      while (next.length < fault.call) next.push('pass');
      next[fault.call] = fault.fault;
    }
  }
  return next.length > 0 ? [...kills, { what: { kind: 'faults', next }, pause: 0 }] : kills;
}

/** Formats a small world as one line. */
export function toWorldLine({ beginning, sequence, faults }: SmallWorld): string {
  return [beginning, sequence.join(', '), ...faults.map((fault) => JSON.stringify(fault))].join('; ');
}
