import { openSimulator } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';

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
