import { alertChannels } from '../../alerts/alert-sender.ts';
import { sendTestAlert, type TestResult } from '../../alerts/test-alert.ts';
import { readSettings } from '../../config/settings.ts';
import { type ConditionKind, conditionKinds } from '../../model/conditions.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import { conditionOperations } from '../../operations/settings/conditions.ts';
import type { CliCommand, JsonFlag } from '../command.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import { type Operator, withOperations } from '../operations.ts';
import { choiceParser, parseDuration } from '../terminal/arguments.ts';
import { escapeLine, formatMinute, printJson, type Shell } from '../terminal/output.ts';
import { printResult } from '../terminal/printers.ts';

/** Defines the commands `alerts list`, `alerts acknowledge`, `alerts quiet` and `alerts test`. */
export function defineAlertCommands(alerts: CliCommand): void {
  alerts
    .command('list')
    .description('list what needs attention now, and what is acknowledged or kept quiet')
    .option('--json', 'one JSON object')
    .examples('alerts list')
    .runs((shell, flags: JsonFlag) => withOperations(shell, (operator) => list(shell, operator, flags)));
  addAcknowledgeCommand(alerts);
  addQuietCommand(alerts);
  alerts
    .command('test')
    .description('send a test alert to each channel of the settings, once, and say what each has answered')
    .option('--json', 'one JSON object for each channel')
    .examples('alerts test')
    .runs(testAlerts);
}

function addAcknowledgeCommand(alerts: CliCommand): void {
  addUntilFlags(
    alerts
      .command('acknowledge')
      .description('acknowledge a condition: no alert tells it again for some time, except its end')
      .argument('<kind>', 'the kind of the condition, as listed', choiceParser(conditionKinds))
      .option('--connection <id>', 'the connection, if several have such a condition')
      .option('--subject <text>', 'its subject, if a connection has several of the kind'),
  )
    .examples(
      'alerts acknowledge travelOutage --for 4h',
      'alerts acknowledge hold --connection default --subject safetyValve --for 1d',
      'alerts acknowledge travelOutage --end',
    )
    .runs((shell, kind: ConditionKind, flags: AcknowledgeFlags) =>
      withOperations(shell, (operator) => acknowledge(shell, operator, { kind, ...flags })),
    );
}

function addQuietCommand(alerts: CliCommand): void {
  addUntilFlags(
    alerts
      .command('quiet')
      .description('keep all conditions of a kind quiet for some time: no alert tells that one has opened')
      .argument('<kind>', 'the kind of the conditions', choiceParser(conditionKinds)),
  )
    .examples('alerts quiet findings --for 7d', 'alerts quiet findings --end')
    .runs((shell, kind: ConditionKind, flags: UntilFlags) =>
      withOperations(shell, async ({ call, deps }) => {
        const until = untilOf(flags, deps);
        await call(conditionOperations, 'quietConditions', { kind, until });
        const text = () => resultText(kind, 'is kept quiet', until);
        printResult(shell, flags, { kind, until }, text);
      }),
    );
}

interface UntilFlags extends JsonFlag {
  for?: number;
  end?: true;
}

interface AcknowledgeFlags extends UntilFlags {
  connection?: string;
  subject?: string;
}

function addUntilFlags(command: CliCommand): CliCommand {
  return command
    .option('--for <duration>', 'for how long, e.g. 4h or 7d; at most 90d', parseDuration)
    .option('--end', 'take it back: alerts are sent again')
    .option('--json', 'one JSON object');
}

/** Returns the end of the time; undefined to take it back. */
function untilOf({ for: duration, end }: UntilFlags, { now }: OperationDeps): string | undefined {
  if ((duration === undefined) === (end === undefined)) throw new WrongUse('give --for or --end');
  return duration === undefined ? undefined : new Date(now() + duration).toISOString();
}

type Listed = OperationOutput<typeof conditionOperations.listConditions>;
type ListedCondition = Listed['conditions'][number];

async function list(shell: Shell, { call }: Operator, { json }: JsonFlag): Promise<void> {
  const listed = await call(conditionOperations, 'listConditions', {});
  if (json) return printJson(shell, conditionOperations.listConditions.result.encode(listed));
  const { conditions, quiet } = listed;
  if (conditions.length === 0) shell.printError('Nothing needs attention.');
  for (const condition of conditions) {
    const { kind, connection, subject, text, acknowledged } = condition;
    shell.print(escapeLine([kind, connection, subject].filter((part) => part !== undefined).join(' ')));
    shell.print(escapeLine(`  ${text}`));
    if (acknowledged) shell.print(escapeLine(`  ${acknowledgedText(acknowledged)}`));
  }
  for (const one of quiet)
    shell.print(escapeLine(`${one.kind}: ${acknowledgedText({ ...one, isOfKind: true })}`));
}

function acknowledgedText({ by, until, isOfKind }: NonNullable<ListedCondition['acknowledged']>): string {
  return `${isOfKind ? 'kept quiet' : 'acknowledged'} by ${by} until ${formatMinute(until)} UTC`;
}

async function acknowledge(
  shell: Shell,
  { call, deps }: Operator,
  { kind, connection, subject, ...flags }: AcknowledgeFlags & Pick<ListedCondition, 'kind'>,
): Promise<void> {
  const until = untilOf(flags, deps);
  const { conditions } = await call(conditionOperations, 'listConditions', {});
  const found = conditions.filter(
    (one) =>
      one.kind === kind &&
      one.connection === (connection ?? one.connection) &&
      one.subject === (subject ?? one.subject),
  );
  const [condition] = found;
  if (!condition) throw new Refused('There is no such condition. "npx jetbridge alerts list" lists them.');
  if (found.length > 1)
    throw new WrongUse('there are several: give --connection and --subject, as "alerts list" shows them');
  const key = { kind, connection: condition.connection, subject: condition.subject };
  await call(conditionOperations, 'acknowledgeCondition', { ...key, until });
  printResult(shell, flags, { ...key, until }, () => resultText(kind, 'is acknowledged', until));
}

function resultText(kind: ConditionKind, done: string, until: string | undefined): string {
  return until === undefined
    ? `alerts tell ${kind} again`
    : `${kind} ${done} until ${formatMinute(Date.parse(until))} UTC`;
}

const NO_CHANNEL =
  'No channel for alerts is configured. Set alerts.slack, alerts.teams, alerts.pagerduty, alerts.email or alerts.webhookUrl in the settings; docs/operations/alerts.md says how to make each.';

/** Sends a test alert to all channels at the same time. Returns 1 if one of them has failed, or if there is none. */
async function testAlerts(shell: Shell, { json }: JsonFlag): Promise<0 | 1> {
  const { alerts, publicUrl } = readSettings(shell.environment, shell.home);
  const channels = alertChannels(alerts, { publicUrl, now: Date.now });
  if (channels.length === 0) {
    shell.printError(NO_CHANNEL);
    return 1;
  }
  const results = await Promise.all(channels.map((channel) => sendTestAlert(channel, Date.now())));
  if (json) printJson(shell, ...results);
  else for (const result of results) shell.print(resultLine(result), result.accepted ? 'green' : 'red');
  return results.every(({ accepted }) => accepted) ? 0 : 1;
}

function resultLine({ channel, accepted, text }: TestResult): string {
  return escapeLine(`${accepted ? 'ok' : 'fault'} ${channel}: ${text}`);
}
