import { simulateSeeds } from './simulate.ts';

/** Nine histories; `simulator.release.test.ts` plays more. */
it(
  'random histories of IdPs, admins, faults and kills keep the six sentences',
  async () => expect(await simulateSeeds(12, 9)).toMatch(/^9 histories of 400 operations, 0 failed/),
  1_200_000,
);
