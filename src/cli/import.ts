import { readSettings } from '../config/settings.ts';
import type { Imported } from '../provisioning/import.ts';
import { type Service, start } from '../server/start.ts';
import { failureText, type Shell } from './exit.ts';
import { startBar } from './output.ts';

/** What the command line asks of an import. */
export interface ImportAsked {
  /** Takes travelers that are missing for gone, however many they are. */
  acceptMissing?: boolean;
}

/**
 * Reads all travelers of every connection now, with a bar for each; 1 when one could not be read, or so few of the known
 * travelers were seen that nothing was concluded about the others.
 */
export async function importTravelers(shell: Shell, asked: ImportAsked): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  // What is due is told here, and a log would break the bars.
  const quiet = { ...settings, port: 0, host: '127.0.0.1', tls: undefined, logLevel: 'silent' } as const;
  const service = await start(quiet, { background: false });
  try {
    let exit: 0 | 1 = 0;
    for (const { id } of settings.connections) {
      if ((await importOne(shell, { service, id, asked })) === 1) exit = 1;
    }
    return exit;
  } finally {
    await service.close();
  }
}

async function importOne(
  shell: Shell,
  { service, id, asked }: { service: Service; id: string; asked: ImportAsked },
): Promise<0 | 1> {
  const bar = shell.isTerminal ? startBar(id, 'travelers') : undefined;
  const onPage = (read: number, total: number) => {
    bar?.setTotal(total);
    bar?.update(read);
  };
  const imported = await service.importTravelers(id, onPage, asked);
  bar?.stop();
  if ('kind' in imported) {
    shell.complain(`${id}: the travelers could not be read: ${failureText(imported)}.`);
    return 1;
  }
  shell.print(`${id}: ${travelers(imported.read)} read`);
  if (imported.unreadable !== undefined)
    shell.complain(`${id}: ${travelers(imported.unreadable)} without a readable email passed over.`);
  const doubt = doubtAbout(imported, asked);
  if (doubt === undefined) return 0;
  shell.complain(`${id}: ${doubt}`);
  return 1;
}

/** Why nothing was concluded from who is missing, where that must be known. */
function doubtAbout({ incomplete, complete }: Imported, { acceptMissing }: ImportAsked): string | undefined {
  if (incomplete) {
    const { seen, known } = incomplete;
    return `only ${seen} of ${known} known travelers were seen, so nobody was taken for gone. Check the address and the key of the travel API. If the others are gone indeed, run: jetbridge import --accept-missing`;
  }
  if (!acceptMissing || complete) return undefined;
  return 'the list of travelers changed while it was read, so nobody was taken for gone. Run the same again.';
}

function travelers(count: number): string {
  return `${count} ${count === 1 ? 'traveler' : 'travelers'}`;
}
