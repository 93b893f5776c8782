import type { Fault } from './faults.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import {
  allSequencesOf,
  type Figures,
  playSequence,
  sequencesOf,
  toWorldLine,
  varietyOf,
} from './small-worlds.ts';

/** The number of operations of a random history. */
export const OPERATIONS = 400;

/** Plays the histories of these seeds. Returns the promises that were broken, with the command that plays each again. */
export async function brokenInSeeds(database: MemoryDatabase, seeds: readonly number[]): Promise<string[]> {
  const all: string[] = [];
  for (const seed of seeds) {
    const { broken } = await play(database, historyOf(seed, setupOf(seed), OPERATIONS));
    if (broken.length > 0)
      all.push(`npm run simulate -- --seed ${seed} --operations ${OPERATIONS}: ${broken}`);
  }
  return all;
}

/** A choice of small worlds: sequences of this many operations, every `step`-th of them, with every `faultStep`-th choice of faults. */
interface Choice {
  length: number;
  step: number;
  /** 1 if absent. */
  faults?: number;
  faultStep?: number;
  /** Only faults of this kind. */
  only?: Fault;
}

/** Plays sequences of the common operations in the plain setup. Returns the promises that were broken. */
export function brokenInSequences(database: MemoryDatabase, choice: Choice): Promise<string[]> {
  const sequences = sequencesOf(choice.length, choice.step);
  return brokenInWorlds(
    database,
    sequences.map((sequence) => ({ sequence })),
    choice,
  );
}

/** Plays sequences of all operations in the plain setup, each of whose calls is carried out late in turn. Returns the promises that were broken. */
export function brokenByLateCalls(
  database: MemoryDatabase,
  { length, step }: Pick<Choice, 'length' | 'step'>,
): Promise<string[]> {
  return brokenInWorlds(database, allSequencesOf(length, step), { length, step, only: 'late' });
}

/** Plays sequences of all operations with all beginnings. Returns the promises that were broken. */
export function brokenInVariety(database: MemoryDatabase, choice: Choice): Promise<string[]> {
  return brokenInWorlds(database, varietyOf(choice.length, choice.step), choice);
}

async function brokenInWorlds(
  database: MemoryDatabase,
  worlds: Parameters<typeof playSequence>[1][],
  { faults = 1, faultStep = 1, only }: Choice,
): Promise<string[]> {
  const figures: Figures = { worlds: 0, all: 0, broken: [] };
  for (const world of worlds) await playSequence(database, world, figures, { faults, step: faultStep, only });
  return figures.broken.map(({ world, played }) => `${toWorldLine(world)}: ${played.broken}`);
}
