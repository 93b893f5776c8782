import { openSimulator } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import { simulate } from './simulate.ts';

it('two operations with one fault of any kind at any of their effects keep every promise, in a sample', async () => {
  // `simulator.release.test.ts` plays all of them, and other kinds of small worlds.
  expect(await simulate(...'--sequences 2 --step 97'.split(' '))).toMatch(
    /^\d+ of \d+ small worlds, 0 failed/,
  );
}, 1_200_000);

it('the same seed gives the same history, to the last call', async () => {
  const database = await openSimulator();
  const transcripts: string[][] = [];
  for (let run = 0; run < 2; run += 1) {
    const { transcript } = await play(database, historyOf(7, setupOf(7), 200), { isDetailed: true });
    transcripts.push(transcript);
  }
  await database.close();
  expect(transcripts[0]?.length).toBeGreaterThan(1_000);
  expect(transcripts[1]).toEqual(transcripts[0]);
});
