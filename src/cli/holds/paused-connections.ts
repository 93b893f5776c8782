import type { Settings } from '../../config/settings.ts';
import { lastImportOf } from '../../provisioning/import/import.ts';
import type { PausedConnection } from '../../store/connection-modes.ts';
import type { ProvisioningStore } from '../../store/provisioning-store.ts';
import { pauseAfterRestore } from '../../store/restore/restore-watch.ts';
import type { CliCommand } from '../command.ts';
import { databaseTime, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { confirm, countText, escapeLine, formatMinute, printJson, type Shell } from '../output.ts';

/** Adds the command `restored`. */
export function addRestoredCommand(program: CliCommand): void {
  program
    .command('restored')
    .description(
      'pause all connections after the database was restored: nothing is sent for people whom the identity provider does not send again',
    )
    .option('--json', 'one JSON object for each connection')
    .examples('restored')
    .runs(pauseConnections);
}

/** Pauses all connections. Works while a server runs, which follows within a second. */
export function pauseConnections(shell: Shell, { json }: { json?: true } = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings, store }) => {
    await pauseAfterRestore(database, settings, await databaseTime(database));
    const paused = await store.modes.listPaused();
    if (json) printJson(shell, ...paused);
    else {
      for (const one of paused) shell.print(pausedText(one));
      shell.printError(nextStepsText);
    }
  });
}

/** Says what happens after a restore, and what the operator does. */
const nextStepsText = [
  'A running server reads all travelers now and counts what would be sent; it sends nothing for people whom the identity provider does not send again.',
  '1. Start a full synchronization in the identity provider.',
  '2. Look at who is left: npx jetbridge connections list',
  '3. Let each connection go on: npx jetbridge connections resume NAME',
].join('\n');

/** The flags of commands that change a connection after a confirmation. */
export interface ChangeFlags {
  yes?: boolean;
  json?: true;
}

/** The texts of such a command if the change is not confirmed. */
export const unconfirmed = {
  declined: 'Nothing was changed.',
  unasked: 'give --yes where nobody can be asked',
};

/** Lets a paused connection go on, after the admin has confirmed what will be sent. Works while a server runs. */
export function resumeConnection(
  shell: Shell,
  { name, yes, json }: ChangeFlags & { name: string },
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, store: { modes, tasks } }) => {
    const paused = (await modes.listPaused()).find(({ connection }) => connection === name);
    if (!paused) throw new Refused(`The connection ${escapeLine(name)} is not paused.`);
    const imports = await tasks.listStates('import');
    const last = lastImportOf(imports.find(({ connection }) => connection === name)?.state);
    shell.printError(`${pausedText(paused)}\n${consequencesText((last?.at ?? 0) > paused.since)}`);
    await confirm(shell, `Let ${name} go on?`, { yes, ...unconfirmed });
    await modes.resume(name, await databaseTime(database));
    if (json) printJson(shell, { connection: name, resumed: true });
    else shell.print('resumed');
  });
}

/** Says of every connection of the settings that is paused what waits. Prints nothing while all are live. */
export async function printPaused(
  shell: Shell,
  { modes }: ProvisioningStore,
  { connections }: Settings,
): Promise<void> {
  for (const paused of await modes.listPaused())
    if (connections.some(({ id }) => id === paused.connection)) shell.print(pausedText(paused));
}

function pausedText({ connection, since, people }: PausedConnection): string {
  const parts = [
    [people.create, 'would be created'] as const,
    [people.reactivate, 'activated again'] as const,
    [people.end, 'archived or deleted'] as const,
    [people.change, 'changed in another way'] as const,
  ].flatMap(([count, text]) => (count > 0 ? [`${count} ${text}`] : []));
  const total = Object.values(people).reduce((sum, one) => sum + one, 0);
  const changes =
    total === 0
      ? 'no changes wait'
      : `the changes of ${countText(total, 'person', 'people')} wait: ${parts.join(', ')}`;
  return `${connection} is paused since ${formatMinute(since)} UTC; ${changes}.`;
}

function consequencesText(isImported: boolean): string {
  const sent =
    'When it goes on, the travelers of these people are read again, and the stored values are sent where they differ.';
  return isImported
    ? sent
    : `${sent} No import has ended since the pause, so more people may be concerned: wait for it if you can.`;
}
