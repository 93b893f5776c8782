import { simulate, simulateSeeds } from './simulate.ts';

const TIME_MS = 7_200_000;

it(
  'many random histories keep the six sentences',
  async () => expect(await simulateSeeds(1, 300)).toMatch(/^300 histories of 400 operations, 0 failed/),
  TIME_MS,
);

it(
  'many short histories, which begin on an empty database, keep the six sentences',
  async () =>
    expect(await simulate(...'--runs 5000 --operations 12 --brief'.split(' '))).toMatch(
      /^5000 histories of 12 operations, 0 failed/,
    ),
  TIME_MS,
);
