import { parseArgs } from 'node:util';
import { openSimulator } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import { shrink } from './shrink.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '400' },
    runs: { type: 'string', default: '1' },
    /** Print the seeds that fail, and do not shrink them. */
    brief: { type: 'boolean', default: false },
    /** Print the whole story of a seed that fails. */
    whole: { type: 'boolean', default: false },
    /** End at the first seed that fails. */
    stop: { type: 'boolean', default: false },
  },
});
const out = (line: string) => void process.stdout.write(`${line}\n`);
const began = process.cpuUsage();
const database = await openSimulator();
await playSeeds();
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
      if (values.stop) break;
      if (values.brief) continue;
      const shortest = values.whole ? history : await shrink(history, (one) => play(database, one));
      ({ broken, story } = await play(database, shortest));
    }
    if (runs > 1 && broken.length === 0) continue;
    for (const line of [...story, ...broken]) out(line);
  }
  if (failed > 0) process.exitCode = 1;
  out(
    `${runs} histories of ${operations} operations, ${failed} failed, ${(seconds() / runs).toFixed(3)} s of CPU each`,
  );
}

function seconds(): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}
