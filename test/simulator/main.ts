import { parseArgs } from 'node:util';
import { connections } from '../histories/identity-providers.ts';
import { memoryDatabase } from './memory-database.ts';
import { historyOf, play } from './play.ts';
import { setupOf } from './setup.ts';
import { shrink } from './shrink.ts';
import { ACCOUNT, keepEmpty } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '400' },
    runs: { type: 'string', default: '1' },
    shrink: { type: 'boolean', default: false },
  },
});
const out = (line: string) => void process.stdout.write(`${line}\n`);
const database = await memoryDatabase(connections.map((id) => ({ id, account: ACCOUNT })));
keepEmpty(database);
const [first, runs, operations] = [Number(values.seed), Number(values.runs), Number(values.operations)];
const began = process.cpuUsage();
let failed = 0;
for (let seed = first; seed < first + runs; seed += 1) {
  let history = historyOf(seed, setupOf(seed), operations);
  let { broken, story } = await play(database, history);
  if (broken.length > 0 && values.shrink) {
    history = await shrink(history, (one) => play(database, one));
    ({ broken, story } = await play(database, history));
  }
  if (runs === 1 || (broken.length > 0 && values.shrink)) for (const line of story) out(line);
  if (broken.length === 0) continue;
  failed += 1;
  out(`seed ${seed}:`);
  for (const line of broken) out(`  ${line.slice(0, 1500)}`);
}
const { user, system } = process.cpuUsage(began);
out(`${runs} histories of ${operations} operations, ${failed} failed, ${((user + system) / 1e6 / runs).toFixed(3)} s of CPU each`);
await database.close();
