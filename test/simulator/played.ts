import type { MemoryDatabase } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import { type Figures, playSequence, sequencesOf, toWorldLine } from './small-worlds.ts';

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

/** Plays every `step`-th sequence of this many operations with each fault. Returns the promises that were broken. */
export async function brokenInSequences(
  database: MemoryDatabase,
  { length, step }: { length: number; step: number },
): Promise<string[]> {
  const figures: Figures = { worlds: 0, broken: [] };
  for (const sequence of sequencesOf(length, step)) await playSequence(database, sequence, figures);
  return figures.broken.map(({ world, played }) => `${toWorldLine(world)}: ${played.broken}`);
}
