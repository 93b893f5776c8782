import type { Command } from 'commander';
import { type Fault, SettingsFault } from '../config/faults.ts';
import {
  type ConnectionSettings,
  isPlainTravelUrl,
  readSettings,
  type Settings,
} from '../config/settings.ts';
import { readConnectionMapping, readLookups } from '../server/offline.ts';
import { displayLocation, hasDatabase } from '../store/open-database.ts';
import { checkNames, type NameFault } from '../translator/check-names.ts';
import { compileRules } from '../translator/rules.ts';
import { noLookups } from '../translator/translation.ts';
import { type Action, type Shell, travelFailureText } from './output.ts';

/** Adds the command `check`. */
export function addCheckCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('check')
    .description('check the settings and the mapping files, and print every fault with its place')
    .action(action(() => check(shell)));
}

/**
 * Checks the settings and their mapping files, and looks up each name of the mappings in the travel API. If the travel API cannot be
 * reached, the names are reported as not checked, which is no fault. Throws a SettingsFault with all faults.
 */
export async function check({ environment, home, print }: Shell): Promise<0> {
  const settings = readSettings(environment, home);
  const checked: NameCheck[] = [];
  // Check one connection after the other: each check of an embedded travel service opens the database.
  for (const connection of settings.connections)
    checked.push(await checkConnectionNames(settings, connection));
  for (const { id, travelApi, policies, scimToken, mapping } of settings.connections) {
    print(
      [
        `connection ${id}`,
        `  travel API   ${redactUrl(travelApi.url)}, credential ${travelApi.key === undefined ? 'made at the first start' : '********'}`,
        ...(isPlainTravelUrl(travelApi.url) ? ['  plain HTTP   to it, as TRAVEL_API_INSECURE allows'] : []),
        `  SCIM token   ${tokenText(id, scimToken)}`,
        `  mapping      ${mapping ? `${ruleCount(mapping.scimUserMapping.length)} of its own` : 'the one in force; no file'}`,
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
  for (const { unchecked } of checked) if (unchecked !== undefined) print(unchecked);
  const faults = checked.flatMap((check) => check.faults);
  if (faults.length > 0) throw new SettingsFault(faults);
  print('The settings and mappings are in order.');
  return 0;
}

/** The result of a check of a connection's mapping. */
export interface NameCheck {
  faults: Fault[];
  /** If the names could not be looked up: a message with the reason. */
  unchecked?: string;
}

/** Checks the names in a connection's mapping. Calls the travel API only if the mapping names something in it. */
export async function checkConnectionNames(
  settings: Settings,
  connection: ConnectionSettings,
): Promise<NameCheck> {
  const { id, mappingFile = 'the mapping in force', travelApi } = connection;
  const mapping = await readConnectionMapping(settings, connection);
  const toFaults = (found: NameFault[]): Fault[] =>
    found.map(({ path, problem, remedy, origin }) => {
      const file = origin === 'file' ? mappingFile : `connection ${id}:`;
      return { file, path, problem, remedy };
    });
  const withoutLookups = checkNames(compileRules(mapping, []), noLookups);
  if (!withoutLookups.some(({ isUnknown }) => isUnknown)) return { faults: toFaults(withoutLookups) };
  const knownFaults = toFaults(withoutLookups.filter(({ isUnknown }) => !isUnknown));
  const unchecked = (reason: string): NameCheck => ({
    faults: knownFaults,
    unchecked: `The names in ${mappingFile} were not checked for connection ${id}: ${reason}.`,
  });
  if (travelApi.url === 'embedded' && !hasDatabase(settings))
    return unchecked('the embedded travel service has never been started');
  const lookups = await readLookups(settings, connection);
  if (lookups.kind !== 'ok')
    return unchecked(`the travel API cannot be asked, as ${travelFailureText(lookups)}`);
  const rules = compileRules(mapping, lookups.value.scimUserMappings);
  return { faults: toFaults(checkNames(rules, lookups.value)) };
}

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
  if (connection === 'default') return 'made at the first start, and by "jetbridge tokens create"';
  return `made by "jetbridge tokens create --connection ${connection}"`;
}

function ruleCount(count: number): string {
  return `${count} ${count === 1 ? 'rule' : 'rules'}`;
}

/** Hides a user name and password in a URL. */
function redactUrl(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//********@');
}
