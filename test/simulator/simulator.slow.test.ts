import { openSimulator } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import { simulate } from './simulate.ts';

/** Samples that take about 50 s of one core together; `simulator.release.test.ts` plays more. */
const samples: [string, string][] = [
  ['two operations with one fault of any kind at any of their effects', '--sequences 2 --step 23'],
  ['a call that is carried out late, before or after any other write', '--sequences 2 --late --step 7'],
  ['a sample of two operations with two faults', '--sequences 2 --step 17 --faults 2 --fault-step 1201'],
  [
    'a sample of operations with other policies, habits of the travel API and beginnings',
    '--sequences 2 --varied --step 211 --fault-step 37',
  ],
];

it.each(samples)(
  'every promise is kept: %s',
  async (_, options) =>
    expect(await simulate(...options.split(' '))).toMatch(/^\d+ of \d+ small worlds, 0 failed/),
  1_200_000,
);

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
