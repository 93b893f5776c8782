import { type MemoryDatabase, openSimulator } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { brokenByLateCalls, brokenInSequences, brokenInVariety } from './played.ts';
import { setupOf } from './setup.ts';

/** Samples that take about 60 s of one core together; `simulator.exhaustive.test.ts` plays more. */
const SEQUENCES = { length: 2, step: 23 };
const TIME_MS = 1_200_000;

let database: MemoryDatabase;
beforeAll(async () => {
  database = await openSimulator();
});
afterAll(() => database.close());

it(
  'two operations with one fault of any kind at any of their effects keep every promise',
  async () => expect(await brokenInSequences(database, SEQUENCES)).toEqual([]),
  TIME_MS,
);

it(
  'a call that is carried out late, before or after any other write, keeps every promise',
  async () => expect(await brokenByLateCalls(database, { length: 2, step: 7 })).toEqual([]),
  TIME_MS,
);

it(
  'a sample of two operations with two faults keeps every promise',
  async () =>
    expect(await brokenInSequences(database, { length: 2, step: 17, faults: 2, faultStep: 1_201 })).toEqual(
      [],
    ),
  TIME_MS,
);

it(
  'a sample of operations with other policies, habits of the travel API and beginnings keeps every promise',
  async () => expect(await brokenInVariety(database, { length: 2, step: 211, faultStep: 37 })).toEqual([]),
  TIME_MS,
);

it('the same seed gives the same history, to the last call', async () => {
  const transcripts: string[][] = [];
  for (let run = 0; run < 2; run += 1) {
    const { transcript } = await play(database, historyOf(7, setupOf(7), 200), { isDetailed: true });
    transcripts.push(transcript);
  }
  expect(transcripts[0]?.length).toBeGreaterThan(1_000);
  expect(transcripts[1]).toEqual(transcripts[0]);
});
