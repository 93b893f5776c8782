// Serves as `jetbridge serve` does, in a process that dies by its own SIGKILL when it passes a named point for the n-th
// time after it was told so: by a message such as "beforeSend 1", or at the start by CRASH_AT. "any" is every point.
import { fileURLToPath } from 'node:url';
import { readSettings } from '../../dist/config.js';
import { start } from '../../dist/start.js';

let doom;
const arm = (text) => {
  const [point, passings] = text.split(' ');
  doom = { point, left: Number(passings) };
};
const checkpoint = (point) => {
  if (!doom || (doom.point !== 'any' && doom.point !== point)) return;
  doom.left -= 1;
  if (doom.left === 0) process.kill(process.pid, 'SIGKILL');
};

if (process.env.CRASH_AT) arm(process.env.CRASH_AT);
process.on('message', (text) => {
  arm(text);
  process.send('armed');
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit());

const home = fileURLToPath(new URL('../..', import.meta.url));
const { url, close } = await start(readSettings(process.env, home), { checkpoint });
process.once('SIGTERM', async () => {
  await close();
  process.exit(0);
});
process.stderr.write(`Jetbridge serves on ${url}\n`);
