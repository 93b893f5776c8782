import { alertChannels } from '../../alerts/alert-sender.ts';
import { sendTestAlert, type TestResult } from '../../alerts/test-alert.ts';
import { readSettings } from '../../config/settings.ts';
import type { CliCommand } from '../command.ts';
import { escapeLine, printJson, type Shell } from '../terminal/output.ts';

/** Adds the command `alerts`. */
export function addAlertCommands(program: CliCommand): void {
  program
    .command('alerts')
    .description('the channels on which operators get alerts')
    .command('test')
    .description('send a test alert to each channel of the settings, once, and say what each has answered')
    .option('--json', 'one JSON object for each channel')
    .examples('alerts test')
    .runs(testAlerts);
}

const NO_CHANNEL =
  'No channel for alerts is configured. Set alerts.slack, alerts.teams, alerts.email or alerts.webhookUrl in the settings; docs/operations/alerts.md says how to make each.';

/** Sends a test alert to all channels at the same time. Returns 1 if one of them has failed, or if there is none. */
async function testAlerts(shell: Shell, { json }: { json?: true }): Promise<0 | 1> {
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
