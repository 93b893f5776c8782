import { simulateSeeds } from './simulate.ts';

/** Seven histories; `simulator.release.test.ts` plays more. */
it(
  'random histories of IdPs, admins, faults and kills keep the six sentences',
  async () => expect(await simulateSeeds(13, 7)).toMatch(/^7 histories of 400 operations, 0 failed/),
  1_200_000,
);
