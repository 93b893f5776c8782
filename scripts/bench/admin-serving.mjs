// Starts the built service without background work: node admin-serving.mjs. The settings come from the environment. The first
// message has its URL. It answers `longest` with the CPU time of its longest turn of the event loop since the last one, in
// milliseconds, and `stop` when it has stopped.
import { start } from '../../dist/server/start.js';
import { readBenchSettings } from './admin-settings.mjs';

const service = await start(readBenchSettings(), { background: false });
let longest = 0;
let isWatched = false;
process.on('message', async (message) => {
  if (message === 'longest') {
    if (!isWatched) watch(process.cpuUsage());
    isWatched = true;
    process.send({ longest });
    longest = 0;
  }
  if (message !== 'stop') return;
  await service.close();
  process.send({ stopped: true });
  process.disconnect();
});
process.send({ url: service.url });

/** Measures CPU time, because other work of the machine lengthens wall time. The loop never waits once it is watched. */
function watch(before) {
  const { user, system } = process.cpuUsage(before);
  longest = Math.max(longest, (user + system) / 1000);
  setImmediate(watch, process.cpuUsage());
}
