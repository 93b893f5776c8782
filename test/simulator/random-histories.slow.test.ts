import { SHADOW_SEEDS } from './events.ts';
import { simulateSeeds } from './simulate.ts';

/** Eight histories; `simulator.release.test.ts` plays more. */
const samples: [string, number, number][] = [
  ['without shadow mode', 1, 5],
  ['with shadow mode', SHADOW_SEEDS, 3],
];

it.each(samples)(
  'random histories of IdPs, admins, faults and kills keep every promise (%s)',
  async (_, first, count) =>
    expect(await simulateSeeds(first, count)).toMatch(
      new RegExp(`^${count} histories of 400 operations, 0 failed`),
    ),
  1_200_000,
);
