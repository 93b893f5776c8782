import { SHADOW_SEEDS } from './events.ts';
import { simulateSeeds } from './simulate.ts';

/** Samples that take about 70 s of one core together; `simulator.exhaustive.test.ts` plays more. */
const samples: [string, number, number][] = [
  ['without shadow mode', 1, 15],
  ['with shadow mode', SHADOW_SEEDS, 8],
];

it.each(samples)(
  'random histories of IdPs, admins, faults and kills keep every promise (%s)',
  async (_, first, count) =>
    expect(await simulateSeeds(first, count)).toMatch(
      new RegExp(`^${count} histories of 400 operations, 0 failed`),
    ),
  1_200_000,
);
