import { SHADOW_SEEDS } from './events.ts';
import { type MemoryDatabase, openSimulator } from './memory-database.ts';
import { brokenInSeeds } from './played.ts';

/** A sample that takes about 80 s of one core; `simulator.exhaustive.test.ts` plays more. */
const SEEDS = 15;
const WITH_SHADOW = 8;

let database: MemoryDatabase;
beforeAll(async () => {
  database = await openSimulator();
});
afterAll(() => database.close());

it('random histories of IdPs, admins, faults and kills keep every promise, with shadow mode and without', async () => {
  const seeds = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);
  expect(await brokenInSeeds(database, [...seeds(1, SEEDS), ...seeds(SHADOW_SEEDS, WITH_SHADOW)])).toEqual(
    [],
  );
}, 1_200_000);
