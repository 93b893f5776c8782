import { readSettings } from '../config.ts';
import { type Service, start } from '../start.ts';
import { failureText } from './failure.ts';
import { startBar } from './progress-bar.ts';
import type { Shell } from './shell.ts';

/** Reads all travelers of every connection now, with a bar for each; 1 when one could not be read. */
export async function importTravelers(shell: Shell): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  // What is due is told here, and a log would break the bars.
  const quiet = { ...settings, port: 0, host: '127.0.0.1', tls: undefined, logLevel: 'silent' } as const;
  const service = await start(quiet, { background: false });
  try {
    let exit: 0 | 1 = 0;
    for (const { id } of settings.connections) {
      if ((await importOne(shell, service, id)) === 1) exit = 1;
    }
    return exit;
  } finally {
    await service.close();
  }
}

async function importOne(shell: Shell, service: Service, id: string): Promise<0 | 1> {
  const bar = shell.isTerminal ? startBar(id, 'travelers') : undefined;
  const imported = await service.importTravelers(id, (read, total) => {
    bar?.setTotal(total);
    bar?.update(read);
  });
  bar?.stop();
  if ('kind' in imported) {
    shell.complain(`${id}: the travelers could not be read: ${failureText(imported)}.`);
    return 1;
  }
  shell.print(`${id}: ${imported.read} ${imported.read === 1 ? 'traveler' : 'travelers'} read`);
  return 0;
}
