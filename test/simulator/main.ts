import { parseArgs } from 'node:util';
import { openSimulator } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import { shrink } from './shrink.ts';
import {
  allSequencesOf,
  type Figures,
  playSequence,
  sequencesOf,
  toWorldLine,
  varietyOf,
} from './small-worlds.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '400' },
    runs: { type: 'string', default: '1' },
    /** Play every sequence of this many operations, in place of random histories. */
    sequences: { type: 'string' },
    /** Play the further operations, too, and every beginning. */
    varied: { type: 'boolean', default: false },
    /** Play the further operations, too, and have each call carried out late; no other fault. */
    late: { type: 'boolean', default: false },
    /** The number of faults in a sequence: 0, 1 or 2. */
    faults: { type: 'string', default: '1' },
    /** Play only every so many-th of the sequences, and of the faults of each. */
    step: { type: 'string', default: '1' },
    'fault-step': { type: 'string', default: '1' },
    /** Print the seeds that fail, and do not shrink them. */
    brief: { type: 'boolean', default: false },
  },
});
const out = (line: string) => void process.stdout.write(`${line}\n`);
const began = process.cpuUsage();
const database = await openSimulator();
if (values.sequences === undefined) await playSeeds();
else await playSequences(Number(values.sequences));
await database.close();

/** Plays the histories of some seeds. One that breaks a promise is shrunk, and its story is printed. */
async function playSeeds(): Promise<void> {
  const [first, runs, operations] = [Number(values.seed), Number(values.runs), Number(values.operations)];
  let failed = 0;
  for (let seed = first; seed < first + runs; seed += 1) {
    const history = historyOf(seed, setupOf(seed), operations);
    let { broken, story } = await play(database, history);
    if (broken.length > 0) {
      failed += 1;
      out(`seed ${seed} breaks a promise: ${broken[0]}`);
      if (values.brief) continue;
      ({ broken, story } = await play(database, await shrink(history, (one) => play(database, one))));
    }
    if (runs > 1 && broken.length === 0) continue;
    for (const line of [...story, ...broken]) out(line);
  }
  if (failed > 0) process.exitCode = 1;
  out(
    `${runs} histories of ${operations} operations, ${failed} failed, ${(seconds() / runs).toFixed(3)} s of CPU each`,
  );
}

async function playSequences(length: number): Promise<void> {
  const figures: Figures = { worlds: 0, all: 0, broken: [] };
  const faults = {
    ...{ faults: Number(values.faults), step: Number(values['fault-step']) },
    ...(values.late ? { only: 'late' as const } : {}),
  };
  for (const one of chosenSequences(length)) await playSequence(database, one, figures, faults);
  for (const { world, played } of figures.broken) out(`${toWorldLine(world)}: ${played.broken.join(' | ')}`);
  for (const line of figures.broken[0]?.played.story ?? []) out(line);
  if (figures.broken.length > 0) process.exitCode = 1;
  out(
    `${figures.worlds} of ${figures.all} small worlds, ${figures.broken.length} failed, ${seconds().toFixed(1)} s of CPU`,
  );
}

function chosenSequences(length: number) {
  const step = Number(values.step);
  if (values.varied) return varietyOf(length, step);
  return values.late
    ? allSequencesOf(length, step)
    : sequencesOf(length, step).map((sequence) => ({ sequence }));
}

function seconds(): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}
