import type { ConnectionCheck } from '../../checks/connection.ts';
import type { CheckedConnection, SettingsCheck } from '../../checks/settings.ts';
import { type Fault, SettingsFault } from '../../config/faults.ts';
import { type ConnectionSettings, MAPPING_IN_FORCE, readSettings } from '../../config/settings.ts';
import type { CliCommand } from '../command.ts';
import { readAllSettings } from '../database.ts';
import { countText, printJson, type Shell, toIsoTime, travelFailureText } from '../terminal/output.ts';

/** Defines the command `check`. */
export function defineCheckCommand(command: CliCommand): void {
  command
    .option('--offline', 'leave out what needs a travel API, the database or the OpenID provider')
    .option('--json', 'one JSON object')
    .examples('check', 'check --offline')
    .runs((shell, { offline = false, json }: { offline?: boolean; json?: true }) =>
      check(shell, { isOffline: offline, json }),
    );
}

interface CheckOptions {
  isOffline?: boolean;
  json?: true | undefined;
}

/**
 * Checks the settings and their mapping files, tries the credentials, and looks up each name of the mappings in the travel API. What
 * cannot be checked because the travel API cannot be reached is printed, and is no fault. Throws a SettingsFault with all faults; with
 * `json`, the faults are in the object.
 */
export async function check(shell: Shell, { isOffline = false, json }: CheckOptions = {}): Promise<0 | 1> {
  if (json) return checkAsJson(shell, isOffline);
  const result = await checkAll(shell, isOffline);
  for (const connection of result.connections) shell.print(connectionText(connection));
  shell.print(serverText(result.server));
  if (result.openid) {
    const { label, issuer, isOnlyWay } = result.openid;
    shell.print(`  admin page   ${isOnlyWay ? 'only' : 'also'} by ${label}, ${issuer}`);
  }
  for (const { connection, ...one } of result.unchecked) shell.print(uncheckedText(connection, one));
  if (result.openid?.unchecked !== undefined)
    shell.print(`The OpenID provider of the admin page was not checked: ${result.openid.unchecked}.`);
  for (const warning of result.warnings) shell.print(warningText(warning));
  if (result.faults.length > 0) throw new SettingsFault(result.faults);
  shell.print('The settings and mappings are in order.');
  return 0;
}

async function checkAsJson(shell: Shell, isOffline: boolean): Promise<0 | 1> {
  try {
    const result = await checkAll(shell, isOffline);
    const { certificateEndsAt, ...server } = result.server;
    const unchecked = result.unchecked.map(({ connection, ...one }) => ({
      ...{ connection: connection.id, subject: one.subject, text: uncheckedText(connection, one) },
    }));
    printJson(shell, {
      ...{ ...result, unchecked },
      server: { ...server, certificateEndsAt: toIsoTime(certificateEndsAt) },
    });
    return result.faults.length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof SettingsFault)) throw error;
    printJson(shell, { faults: error.faults });
    return 1;
  }
}

/** Checks the settings, with the connections of the database unless it must not be called. */
async function checkAll(shell: Shell, isOffline: boolean): Promise<SettingsCheck> {
  const { checkSettings } = await import('../../checks/settings.ts');
  const settings = isOffline ? readSettings(shell.environment, shell.home) : await readAllSettings(shell);
  return checkSettings(settings, { isOffline });
}

function connectionText({ id, travelApi, hasScimToken, mapping, policies }: CheckedConnection): string {
  return [
    `connection ${id}`,
    `  travel API   ${travelApi.url}, credential ${travelApi.hasKey ? '********' : 'made at the first start'}`,
    ...(travelApi.isPlainHttp ? ['  plain HTTP   to it, as TRAVEL_API_INSECURE allows'] : []),
    `  SCIM token   ${hasScimToken ? '********' : tokenText(id)}`,
    `  mapping      ${mapping ? `${countText(mapping.rules, 'rule')} of its own` : 'the one in force; no file'}`,
    `  policies     deprovision ${policies.deprovision}, drift ${policies.drift}`,
  ].join('\n');
}

/** Formats a name of a mapping that is allowed but probably misspelled. */
function warningText({ file, path, problem, remedy }: Fault): string {
  return `warning: ${file} ${path}: ${problem}. ${remedy}`;
}

function uncheckedText(
  { id, mappingFile = MAPPING_IN_FORCE }: ConnectionSettings,
  { subject, reason }: Unchecked,
): string {
  const text =
    reason === 'offline' || reason === 'neverStarted'
      ? reasons[reason]
      : `the travel API cannot be asked, as ${travelFailureText(reason)}`;
  if (subject === 'names')
    return `The names in ${mappingFile} were not checked for connection ${id}: ${text}.`;
  return `The credential of connection ${id} was not checked: ${text}.`;
}

type Unchecked = ConnectionCheck['unchecked'][number];

const reasons = {
  offline: 'the option --offline is given',
  neverStarted: 'the embedded travel service has never been started',
};

function serverText({ scheme, host, port, data, ...transport }: SettingsCheck['server']): string {
  const { certificateEndsAt, requireHttps, trustedProxies } = transport;
  const proxies = trustedProxies.length > 0 ? trustedProxies.join(', ') : 'nobody';
  return [
    `serves ${scheme.toUpperCase()} on ${host}:${port}, data in ${data}`,
    ...(certificateEndsAt === undefined ? [] : [`  certificate  until ${toIsoTime(certificateEndsAt)}`]),
    `  plain HTTP   from other machines is ${requireHttps ? 'refused' : 'allowed'}`,
    `  proxies      trusted: ${proxies}`,
  ].join('\n');
}

function tokenText(connection: string): string {
  if (connection === 'default') return 'made at the first start, and by "npx jetbridge tokens create"';
  return `made by "npx jetbridge tokens create --connection ${connection}"`;
}
