import { countedField } from '../../model/value-texts.ts';
import { connectionRecordOperations } from '../../operations/connections/connection-records.ts';
import { shadowOperations } from '../../operations/connections/shadow.ts';
import { chosenConnections } from '../../operations/deps.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import { shadowColumns, shadowOutcomes } from '../../provisioning/shadow/report.ts';
import { changedText, liveText, outcomeTexts, pilotText } from '../../provisioning/shadow/shadow-texts.ts';
import type { CliCommand } from '../command.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import { downloadPages, listPages, type Operator, withOperations } from '../operations.ts';
import { refuseUnknownCommands } from '../terminal/arguments.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from '../terminal/confirmation.ts';
import { countText, escapeLine, formatMinute, printJson, type Shell } from '../terminal/output.ts';
import { printList, printResult, printRows } from '../terminal/printers.ts';

/** Defines the commands `shadow report` and `shadow go-live`. */
export function defineShadowCommands(shadow: CliCommand): void {
  refuseUnknownCommands(shadow);
  shadow
    .command('report')
    .description('show what going live would do, in sums; with --csv or --json also for each person')
    .option('--connection <id>', 'only this connection')
    .option('--csv', 'a line for each changed field, for spreadsheets')
    .option('--json', 'one JSON object for each person, then one with the sums')
    .examples('shadow report', 'shadow report --csv > report.csv')
    .runs((shell, { csv, json, connection }: ReportFlags) => {
      if (csv && json) throw new WrongUse('give either --csv or --json');
      return withOperations(shell, async (operator) => {
        const ids = await findShadows(operator, connection);
        if (csv) return printAsCsv(shell, operator, ids);
        for (const id of ids) await (json ? printAsJson : printSums)(shell, operator, id);
      });
    });
  const command = shadow
    .command('go-live')
    .description('go live with the plan that the report shows')
    .option('--connection <id>', 'the connection, if several are in shadow mode')
    .option(
      '--digest <digest>',
      'the plan of an earlier report, as it names it; by default a new report is shown',
    );
  addChangeFlags(command)
    .examples('shadow go-live', 'shadow go-live --connection default --yes')
    .runs((shell, flags: GoLiveFlags) => withOperations(shell, (operator) => goLive(shell, operator, flags)));
}

interface ReportFlags {
  connection?: string;
  csv?: true;
  json?: true;
}

/** Returns the connections in shadow mode, or the chosen one. Throws if there are none. */
async function findShadows({ call, deps }: Operator, chosen: string | undefined): Promise<string[]> {
  const wanted = chosenConnections(deps, chosen);
  const { connections } = await call(connectionRecordOperations, 'listConnectionRecords', {});
  const inShadow = connections.filter(({ id, mode }) => mode === 'shadow' && wanted.includes(id));
  if (inShadow.length > 0) return inShadow.map(({ id }) => id);
  const which = chosen === undefined ? 'No connection is' : `The connection ${escapeLine(chosen)} is not`;
  throw new Refused(
    `${which} in shadow mode. To begin: npx jetbridge connections mode ${escapeLine(chosen ?? 'NAME')} shadow`,
  );
}

function printAsCsv(shell: Shell, operator: Operator, ids: string[]): Promise<void> {
  async function* pages() {
    for (const id of ids) yield* downloadPages(operator, [shadowOperations, 'downloadShadow'], { id });
  }
  return printList(shell, { csv: true }, pages(), { columns: shadowColumns, none: 'There is nobody.' });
}

async function printAsJson(shell: Shell, operator: Operator, id: string): Promise<void> {
  const list = [shadowOperations, 'listShadowPeople', 'people'] as const;
  for await (const { json } of listPages(operator, list, { id })) {
    if (shell.isOutputClosed?.()) return;
    printJson(shell, ...json);
  }
  const sums = await operator.call(shadowOperations, 'summarizeShadow', { id });
  printJson(shell, { connection: id, ...shadowOperations.summarizeShadow.result.encode(sums) });
}

/** Prints the sums of a report. Returns the digest of its plan. */
async function printSums(shell: Shell, { call }: Operator, id: string): Promise<string> {
  const { since, pilot, people, fields, names, digest } = await call(shadowOperations, 'summarizeShadow', {
    id,
  });
  shell.print(`${id} is in shadow mode since ${formatMinute(since)} UTC. Going live would do this:`);
  if (pilot !== undefined) shell.print(escapeLine(`With the pilot ${pilot}: ${pilotText(people)}.`));
  const rows = shadowOutcomes.filter((outcome) => people[outcome] > 0);
  if (rows.every((outcome) => outcome === 'notSent'))
    shell.print('The identity provider has not sent anybody yet.');
  const columns = {
    people: (outcome: Outcome) => people[outcome],
    'what happens': (outcome: Outcome) => outcomeTexts[outcome],
  };
  if (rows.length > 0) printRows(shell, rows, columns);
  const changed = Object.entries(fields).map(([field, count]) => countedField(String(count), field, names));
  if (changed.length > 0)
    shell.print(escapeLine(`Fields of existing travelers that change: ${changed.join(', ')}.`));
  if (people.unplanned > 0)
    shell.print(
      `Planning runs: ${countText(people.unplanned, 'person is', 'people are')} not planned yet. Look again in a minute.`,
    );
  shell.print(`Plan ${digest}. --csv lists everybody; npx jetbridge shadow go-live carries it out.`);
  return digest;
}

type Outcome = (typeof shadowOutcomes)[number];

type GoLiveFlags = ChangeFlags & { connection?: string; digest?: string };

async function goLive(
  shell: Shell,
  operator: Operator,
  { connection, digest, ...flags }: GoLiveFlags,
): Promise<void> {
  const [id = '', ...others] = await findShadows(operator, connection);
  if (others.length > 0)
    throw new Refused(`Several connections are in shadow mode. Choose one: --connection ${id}`);
  const shown = digest ?? (await printSums({ ...shell, print: shell.printError }, operator, id));
  await confirmChange(shell, `Go live with ${id}?`, flags);
  let result = await operator.call(shadowOperations, 'goLive', { id, digest: shown });
  if (result.outcome === 'changed') {
    shell.printError(changesText(result));
    await confirmChange(shell, 'Go live nevertheless?', flags);
    const acceptedChanges = result.changed;
    result = await operator.call(shadowOperations, 'goLive', { id, digest: shown, acceptedChanges });
  }
  if (result.outcome === 'changed')
    throw new Refused(`More plans of ${id} have changed. Nothing was done; look again.`);
  const json = { connection: id, ...shadowOperations.goLive.result.encode(result) };
  printResult(shell, flags, json, () => liveText(id, result));
}

/** Describes some of the changed plans. */
function changesText({ changed, examples }: OperationOutput<typeof shadowOperations.goLive>): string {
  const lines = examples.map(({ userName, outcome, fields }) => {
    const names = fields.length === 0 ? '' : ` (${fields.map(({ field }) => field).join(', ')})`;
    return escapeLine(`  ${userName}: ${outcomeTexts[outcome]}${names}`);
  });
  const more = changed > lines.length ? [`  and ${changed - lines.length} more`] : [];
  return [changedText(changed), ...lines, ...more].join('\n');
}
