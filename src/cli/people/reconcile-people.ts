import { listPeople } from '../../provisioning/people/people.ts';
import { reconcilePeople } from '../../provisioning/people/reconcile-people.ts';
import { withAuditEntry } from '../audit.ts';
import type { CliCommand } from '../command.ts';
import { databaseTime, findConnections, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { type ChangeFlags, unconfirmed } from '../holds/paused-connections.ts';
import { confirm, countText, printJson, type Shell } from '../output.ts';
import { addFilterOptions, type FilterFlags } from './filter-options.ts';

/** The flags of `people reconcile`. */
type ReconcileFlags = FilterFlags & ChangeFlags & { connection: string };

/** Adds the command `people reconcile`. */
export function addReconcileCommand(people: CliCommand): void {
  const command = people
    .command('reconcile')
    .description('bring the travelers of people up to date now; a running server does the rest')
    .requiredOption('--connection <id>', 'the connection of the people');
  addFilterOptions(command)
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .examples(
      'people reconcile --connection default --state refused',
      'people reconcile --connection default --finding costCenterUnknown --value CC-999 --yes',
    )
    .runs(reconcileSelected);
}

/** Makes the people whom the flags select due now, after a confirmation that states their number. Works while a server runs. */
export function reconcileSelected(
  shell: Shell,
  { yes, json, connection, ...filter }: ReconcileFlags,
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, store }) => {
    const selectPeople = () => listPeople(store.people, findConnections(database, connection), filter);
    let count = 0;
    for await (const page of selectPeople()) count += page.length;
    if (count === 0) throw new Refused('There are no such people.');
    const question = `Reconcile ${countText(count, 'person', 'people')} of connection ${connection}?`;
    await confirm(shell, question, { yes, ...unconfirmed });
    const time = await databaseTime(database);
    const details: Record<string, unknown> = { connection, ...filter };
    await withAuditEntry(database, { action: 'reconcilePeople', details }, async () => {
      details.people = await reconcilePeople(store.reconcileQueue, selectPeople(), () => time);
      return true;
    });
    if (json) printJson(shell, { connection, people: details.people });
    else shell.print(`${countText(Number(details.people), 'person is', 'people are')} due now`);
  });
}
