import { MultiBar, Presets } from 'cli-progress';
import { readSettings } from '../config.ts';
import { start } from '../start.ts';
import type { Shell } from './shell.ts';

/** Reads all travelers of every connection now, with a bar for each; 1 when one could not be read. */
export async function importTravelers(shell: Shell): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  const service = await start({ ...settings, port: 0, host: '127.0.0.1' }, { background: false });
  const bars = new MultiBar({ format: '{id} {bar} {value}/{total} travelers' }, Presets.shades_classic);
  try {
    let exit: 0 | 1 = 0;
    for (const { id } of settings.connections) {
      const bar = bars.create(0, 0, { id });
      const imported = await service.importTravelers(id, (read, total) => {
        bar.setTotal(total);
        bar.update(read);
      });
      if (!('kind' in imported)) continue;
      bars.log(`The travelers of ${id} could not be read: ${imported.kind}.\n`);
      exit = 1;
    }
    return exit;
  } finally {
    bars.stop();
    await service.close();
  }
}
