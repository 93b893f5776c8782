import { simulate, simulateSeeds } from './simulate.ts';

const TIME_MS = 7_200_000;

const choices: [string, string][] = [
  ['every two operations with one fault of any kind at any of their effects', '--sequences 2'],
  ['a sample of three operations with one fault', '--sequences 3 --step 61'],
  ['a call that is carried out late, before or after any other write', '--sequences 2 --late'],
  ['a sample of two operations with two faults', '--sequences 2 --step 5 --faults 2 --fault-step 211'],
  [
    'a sample of operations with other policies, habits of the travel API and beginnings',
    '--sequences 2 --varied --step 23 --fault-step 11',
  ],
];

it(
  'many random histories keep every promise',
  async () => expect(await simulateSeeds(1, 300)).toMatch(/^300 histories of 400 operations, 0 failed/),
  TIME_MS,
);

it.each(choices)(
  'every promise is kept: %s',
  async (_, options) =>
    expect(await simulate(...options.split(' '))).toMatch(/^\d+ of \d+ small worlds, 0 failed/),
  TIME_MS,
);
