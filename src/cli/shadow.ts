import { namesById } from '../provisioning/people/explain-fields.ts';
import { type GoLiveResult, goLive, planningText } from '../provisioning/shadow/go-live.ts';
import {
  fieldName,
  type ShadowOutcome,
  type ShadowSums,
  shadowColumns,
  shadowOutcomes,
  shadowRowPages,
  summarizeShadow,
} from '../provisioning/shadow/report.ts';
import type { Shadow } from '../store/connection-modes.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import type { Database } from '../store/sql/database.ts';
import { refuseUnknownCommands } from './arguments.ts';
import { withAuditEntry } from './audit.ts';
import type { CliCommand } from './command.ts';
import { databaseTime, findConnections, withDatabase } from './database.ts';
import { Refused, WrongUse } from './exit-code.ts';
import {
  confirm,
  countText,
  escapeLine,
  formatMinute,
  jsonLine,
  printCsv,
  printJson,
  printTable,
  type Shell,
  toIsoTime,
} from './output.ts';
import { currentUser } from './terminal.ts';

/** Adds the commands `shadow report` and `shadow go-live`. */
export function addShadowCommands(program: CliCommand): void {
  const shadow = program
    .command('shadow')
    .description('connections in shadow mode: what they would do, and how they go live');
  refuseUnknownCommands(shadow);
  shadow
    .command('report')
    .description('show what going live would do, in sums; with --csv or --json also for each person')
    .option('--connection <id>', 'only this connection')
    .option('--csv', 'a line for each changed field, for spreadsheets')
    .option('--json', 'one JSON object for each person, then one with the sums')
    .examples('shadow report', 'shadow report --csv > report.csv')
    .runs(showReport);
  shadow
    .command('go-live')
    .description('go live with the plan that the report shows')
    .option('--connection <id>', 'the connection, if several are in shadow mode')
    .option(
      '--digest <digest>',
      'the plan of an earlier report, as it names it; by default a new report is shown',
    )
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .examples('shadow go-live', 'shadow go-live --connection default --yes')
    .runs(leaveShadow);
}

interface ReportFlags {
  connection?: string;
  csv?: true;
  json?: true;
}

/** Returns the connections in shadow mode, or the chosen one. Throws if there are none. */
async function findShadows(
  database: Database,
  store: ProvisioningStore,
  chosen: string | undefined,
): Promise<Shadow[]> {
  const names = findConnections(database, chosen);
  const found = await Promise.all(names.map(store.modes.readShadow));
  const shadows = found.filter((shadow) => shadow !== undefined);
  if (shadows.length > 0) return shadows;
  const which = chosen === undefined ? 'No connection is' : `The connection ${escapeLine(chosen)} is not`;
  throw new Refused(
    `${which} in shadow mode. To begin: npx jetbridge connections mode ${escapeLine(chosen ?? 'NAME')} shadow`,
  );
}

function showReport(shell: Shell, { connection, csv, json }: ReportFlags): Promise<0 | 1> {
  if (csv && json) throw new WrongUse('give either --csv or --json');
  return withDatabase(shell, async ({ database, store }) => {
    const shadows = await findShadows(database, store, connection);
    const now = await databaseTime(database);
    if (csv) return printReport(shell, store, shadows);
    for (const shadow of shadows) {
      const sums = await summarizeShadow(store.shadowPlans.findPage, shadow, now, (people) => {
        if (json) for (const person of people) shell.print(jsonLine(person));
      });
      if (json) printJson(shell, { connection: shadow.connection, since: toIsoTime(shadow.since), ...sums });
      else printSums(shell, shadow, { sums, names: await readNames(store.rules, shadow.connection) });
    }
  });
}

/** Returns the names in the lookups that are in force. */
async function readNames(
  rules: ProvisioningStore['rules'],
  connection: string,
): Promise<ReadonlyMap<string, string>> {
  const inForce = await rules.find(connection);
  return inForce?.lookups ? namesById(inForce.lookups) : new Map();
}

async function printReport(
  shell: Shell,
  { shadowPlans, rules }: ProvisioningStore,
  shadows: Shadow[],
): Promise<void> {
  async function* pages() {
    for (const shadow of shadows)
      yield* shadowRowPages(shadowPlans.findPage, shadow, await readNames(rules, shadow.connection));
  }
  await printCsv(shell, shadowColumns, pages());
}

/** The effects of going live, in the words of the table. */
const outcomeTexts: Record<ShadowOutcome, string> = {
  create: 'a traveler is created',
  link: 'linked to a traveler that exists',
  change: 'the traveler is changed',
  reactivate: 'the archived traveler is activated',
  end: 'the traveler is archived or deleted',
  leftOut: 'left out, or an admin must decide',
  same: 'nothing changes',
  unplanned: 'not planned yet under the rules in force',
  notSent: 'not sent by the identity provider: stays as it is',
};

function printSums(
  shell: Shell,
  { connection, since }: Shadow,
  { sums: { people, fields, digest }, names }: { sums: ShadowSums; names: ReadonlyMap<string, string> },
): void {
  shell.print(`${connection} is in shadow mode since ${formatMinute(since)} UTC. Going live would do this:`);
  const rows = shadowOutcomes.filter((outcome) => people[outcome] > 0);
  if (rows.every((outcome) => outcome === 'notSent'))
    shell.print('The identity provider has not sent anybody yet.');
  if (rows.length > 0)
    printTable(
      shell,
      ['people', 'what happens'],
      rows.map((outcome) => [String(people[outcome]), outcomeTexts[outcome]]),
    );
  const changed = Object.entries(fields).map(
    ([field, count]) => `${escapeLine(fieldName(field, names))} ${count}`,
  );
  if (changed.length > 0) shell.print(`Fields of existing travelers that change: ${changed.join(', ')}.`);
  if (people.unplanned > 0)
    shell.print(
      `Planning runs: ${countText(people.unplanned, 'person is', 'people are')} not planned yet. Look again in a minute.`,
    );
  shell.print(`Plan ${digest}. --csv lists everybody; npx jetbridge shadow go-live carries it out.`);
}

interface GoLiveFlags {
  connection?: string;
  digest?: string;
  yes?: true;
  json?: true;
}

function leaveShadow(shell: Shell, { connection: chosen, digest, yes, json }: GoLiveFlags): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, store }) => {
    const [shadow, ...others] = await findShadows(database, store, chosen);
    if (!shadow) return;
    const { connection } = shadow;
    if (others.length > 0)
      throw new Refused(`Several connections are in shadow mode. Choose one: --connection ${connection}`);
    const shown = digest ?? (await showPlan(shell, store, { shadow, database }));
    const declined = 'Nothing was changed.';
    await confirm(shell, `Go live with ${connection}?`, { yes, declined });
    const live = async (acceptedChanges?: number) => {
      const now = await databaseTime(database);
      const request = { connection, digest: shown, acceptedChanges, by: currentUser(), now };
      const details = { connection, digest: shown };
      const isLive = ({ outcome }: GoLiveResult) => outcome === 'live';
      return withAuditEntry(database, { action: 'goLive', details }, () => goLive(store, request), isLive);
    };
    let result = await live();
    if (result.outcome === 'changed') {
      shell.printError(changedText(result));
      await confirm(shell, 'Go live nevertheless?', { yes, declined });
      result = await live(result.changed);
    }
    if (result.outcome === 'planning') throw new Refused(planningText(result.left));
    if (result.outcome !== 'live') throw new Refused(refusals[result.outcome](connection));
    if (json) printJson(shell, { connection, ...result });
    else shell.print(liveText(connection, result));
  });
}

async function showPlan(
  shell: Shell,
  store: ProvisioningStore,
  { shadow, database }: { shadow: Shadow; database: Database },
): Promise<string> {
  const sums = await summarizeShadow(store.shadowPlans.findPage, shadow, await databaseTime(database));
  const names = await readNames(store.rules, shadow.connection);
  printSums({ ...shell, print: shell.printError }, shadow, { sums, names });
  return sums.digest;
}

const refusals: Record<
  Exclude<GoLiveResult['outcome'], 'live' | 'planning'>,
  (connection: string) => string
> = {
  changed: (connection) => `More plans of ${connection} have changed. Nothing was done; look again.`,
  notInShadow: (connection) => `The connection ${connection} is not in shadow mode any more.`,
  outdated: (connection) =>
    `The digest is not one of a report since ${connection} went into shadow mode. Nothing was done; make a new report.`,
};

function changedText({ changed, examples: people }: Extract<GoLiveResult, { outcome: 'changed' }>): string {
  const lines = people.map(
    ({ userName, outcome, fields }) =>
      `  ${escapeLine(userName)}: ${outcomeTexts[outcome]}${fields.length === 0 ? '' : ` (${fields.map(({ field }) => field).join(', ')})`}`,
  );
  const more = changed > people.length ? [`  and ${changed - people.length} more`] : [];
  return [
    `${countText(changed, 'plan has', 'plans have')} changed since the report. They are not approved: the safety valve applies to them.`,
    ...lines,
    ...more,
  ].join('\n');
}

function liveText(
  connection: string,
  { approved, changed }: Extract<GoLiveResult, { outcome: 'live' }>,
): string {
  const limits = `${countText(approved, 'change')} that the safety valve counts ${approved === 1 ? 'was' : 'were'} approved as planned`;
  const since =
    changed === 0 ? '' : `; ${countText(changed, 'plan')} changed since go through the safety valve`;
  return `${connection} is live: ${limits}${since}.`;
}
