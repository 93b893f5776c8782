import { type MemoryDatabase, openSimulator } from './memory-database.ts';
import { brokenByLateCalls, brokenInSeeds, brokenInSequences, brokenInVariety } from './played.ts';

const SEEDS = Array.from({ length: 300 }, (_, index) => index + 1);
const TIME_MS = 7_200_000;

let database: MemoryDatabase;
beforeAll(async () => {
  database = await openSimulator();
});
afterAll(() => database.close());

it(
  'many random histories keep every promise',
  async () => expect(await brokenInSeeds(database, SEEDS)).toEqual([]),
  TIME_MS,
);

it(
  'every two operations with one fault of any kind at any of their effects keep every promise',
  async () => expect(await brokenInSequences(database, { length: 2, step: 1 })).toEqual([]),
  TIME_MS,
);

it(
  'a sample of three operations with one fault keeps every promise',
  async () => expect(await brokenInSequences(database, { length: 3, step: 61 })).toEqual([]),
  TIME_MS,
);

it(
  'a call that is carried out late, before or after any other write, keeps every promise',
  async () => expect(await brokenByLateCalls(database, { length: 2, step: 1 })).toEqual([]),
  TIME_MS,
);

it(
  'a sample of two operations with two faults keeps every promise',
  async () =>
    expect(await brokenInSequences(database, { length: 2, step: 5, faults: 2, faultStep: 211 })).toEqual([]),
  TIME_MS,
);

it(
  'a sample of operations with other policies, habits of the travel API and beginnings keeps every promise',
  async () => expect(await brokenInVariety(database, { length: 2, step: 23, faultStep: 11 })).toEqual([]),
  TIME_MS,
);
