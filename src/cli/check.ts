import type { Command } from 'commander';
import { type Fault, SettingsFault } from '../config/faults.ts';
import {
  type ConnectionSettings,
  isPlainTravelUrl,
  readSettings,
  type Settings,
} from '../config/settings.ts';
import {
  type ConnectionCheck,
  checkConnection,
  checkMappingNames,
  MAPPING_IN_FORCE,
} from '../server/check-connection.ts';
import { displayLocation } from '../store/open-database.ts';
import { examples } from './help.ts';
import { type Action, countText, type Shell, travelFailureText } from './output.ts';

/** Adds the command `check`. */
export function addCheckCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('check')
    .description(
      'check the settings, the mapping files and the credentials, and print every fault with its place',
    )
    .option('--offline', 'leave out what needs the travel API')
    .addHelpText('after', examples('check', 'check --offline'))
    .action(action((options: { offline?: true }) => check(shell, { isOffline: options.offline === true })));
}

/**
 * Checks the settings and their mapping files, tries the credentials, and looks up each name of the mappings in the travel API. What
 * cannot be checked because the travel API cannot be reached is printed, and is no fault. Throws a SettingsFault with all faults.
 */
export async function check(
  { environment, home, print }: Shell,
  { isOffline = false }: { isOffline?: boolean } = {},
): Promise<0> {
  const settings = readSettings(environment, home);
  const checked: { connection: ConnectionSettings; check: ConnectionCheck }[] = [];
  // Check one connection after the other: each check of an embedded travel service opens the database.
  for (const connection of settings.connections)
    checked.push({ connection, check: await checkConnection(settings, connection, { isOffline }) });
  for (const { id, travelApi, policies, scimToken, mapping } of settings.connections) {
    print(
      [
        `connection ${id}`,
        `  travel API   ${redactUrl(travelApi.url)}, credential ${travelApi.key === undefined ? 'made at the first start' : '********'}`,
        ...(isPlainTravelUrl(travelApi.url) ? ['  plain HTTP   to it, as TRAVEL_API_INSECURE allows'] : []),
        `  SCIM token   ${tokenText(id, scimToken)}`,
        `  mapping      ${mapping ? `${countText(mapping.scimUserMapping.length, 'rule')} of its own` : 'the one in force; no file'}`,
        `  policies     onExistingUser ${policies.onExistingUser}, deprovision ${policies.deprovision}`,
      ].join('\n'),
    );
  }
  print(
    [
      `serves ${settings.tls ? 'HTTPS' : 'HTTP'} on ${settings.host}:${settings.port}, data in ${displayLocation(settings)}`,
      ...transportLines(settings),
    ].join('\n'),
  );
  for (const { connection, check } of checked) {
    for (const one of check.unchecked) print(uncheckedText(connection, one));
    for (const { file, path, problem, remedy } of check.warnings)
      print(`warning: ${file} ${path}: ${problem}. ${remedy}`);
  }
  const faults = checked.flatMap(({ check }) => check.faults);
  if (faults.length > 0) throw new SettingsFault(faults);
  print('The settings and mappings are in order.');
  return 0;
}

/** Checks the names in a connection's mapping. `unchecked` says why names could not be looked up. */
export async function checkConnectionNames(
  settings: Settings,
  connection: ConnectionSettings,
): Promise<{ faults: Fault[]; unchecked?: string }> {
  const { faults, unchecked } = await checkMappingNames(settings, connection);
  const [first] = unchecked;
  return first ? { faults, unchecked: uncheckedText(connection, first) } : { faults };
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

function transportLines({ tls, requireHttps, trustedProxies }: Settings): string[] {
  const proxies = trustedProxies.length > 0 ? trustedProxies.join(', ') : 'nobody';
  return [
    ...(tls ? [`  certificate  until ${new Date(tls.certificate.validTo).toISOString()}`] : []),
    `  plain HTTP   from other machines is ${requireHttps ? 'refused' : 'allowed'}`,
    `  proxies      trusted: ${proxies}`,
  ];
}

function tokenText(connection: string, chosen: string | undefined): string {
  if (chosen !== undefined) return '********';
  if (connection === 'default') return 'made at the first start, and by "npx jetbridge tokens create"';
  return `made by "npx jetbridge tokens create --connection ${connection}"`;
}

/** Hides a user name and password in a URL. */
function redactUrl(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//********@');
}
