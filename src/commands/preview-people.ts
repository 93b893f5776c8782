import { resolve } from 'node:path';
import { rehearse } from '../beside.ts';
import { readMapping, readSettings } from '../config.ts';
import { type Fault, SettingsFault } from '../settings-fault.ts';
import { inLine } from './escape.ts';
import { failureText } from './failure.ts';
import { startBar } from './progress-bar.ts';
import { rehearsalText } from './rehearsal-text.ts';
import type { Shell } from './shell.ts';

/** What of the people is to be shown. */
interface Asked {
  connection: string;
  mapping?: string | undefined;
  /** How many examples at most. */
  limit: number;
}

/**
 * Shows what a mapping would change for the people who are kept; without one, what the present mapping would still
 * change. Names, addresses and phone numbers stand in it on purpose, and go nowhere but to the terminal.
 */
export async function previewPeople(
  shell: Shell,
  { connection: id, mapping: file, limit }: Asked,
): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  const connection = settings.connections.find((one) => one.id === id);
  if (!connection) {
    const known = settings.connections.map((one) => one.id).join(', ');
    shell.complain(`There is no connection ${inLine(id)}; the settings have ${known}.`);
    return 1;
  }
  const faults: Fault[] = [];
  const mapping = file === undefined ? undefined : readMapping(resolve(file), faults);
  if (faults.length > 0) throw new SettingsFault(faults);
  const bar = shell.isTerminal ? startBar(id, 'people') : undefined;
  const onBatch = (looked: number, total: number) => {
    bar?.setTotal(total);
    bar?.update(looked);
  };
  const rehearsal = await rehearse(settings, connection, { mapping, examples: limit, onBatch }).finally(() =>
    bar?.stop(),
  );
  if ('kind' in rehearsal) {
    shell.complain(
      `No names or custom fields can be looked up in the travel API: ${failureText(rehearsal)}.`,
    );
    return 1;
  }
  shell.print(rehearsalText(rehearsal, { connection: id, mapping: file }));
  return 0;
}
