// Imports all travelers into a data folder like `jetbridge import`, and reports the duration of each import:
// node importing.mjs TIMES. The settings come from the environment.
import { readSettings } from '../../dist/config/settings.js';
import { start } from '../../dist/server/start.js';
import { home } from './program.mjs';

const settings = {
  ...readSettings(process.env, home),
  ...{ port: 0, host: '127.0.0.1', logLevel: 'silent' },
  // The default is 100,000 for the first import.
  maxImported: 10_000_000,
};
const service = await start(settings, { background: false });
const imports = [];
for (let time = 0; time < Number(process.argv[2]); time += 1) {
  const began = performance.now();
  const imported = await service.importTravelers('default', (read, total) => {
    process.send({ page: { read, total } });
  });
  if ('kind' in imported) throw new Error(`the travelers could not be read: ${imported.kind}`);
  imports.push({ read: imported.read, ms: performance.now() - began });
}
await service.close();
process.send({ imports });
