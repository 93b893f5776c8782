import { type Fault, SettingsFault } from '../config/faults.ts';
import {
  type ConnectionSettings,
  isPlainTravelUrl,
  readSettings,
  type Settings,
} from '../config/settings.ts';
import { readLookups } from '../server/offline.ts';
import { hasDatabase } from '../store/database.ts';
import { checkNames, type NameFault } from '../translator/check-names.ts';
import { compileRules } from '../translator/rules.ts';
import { noLookups } from '../translator/translation.ts';
import { type Shell, travelFailureText } from './output.ts';

/**
 * Checks the settings and every mapping file they name, and asks the travel API for each name in the mappings. A travel API
 * that cannot be asked is no fault of the settings: the names are then reported as not checked. A fault is told by whoever
 * catches it.
 */
export async function check({ environment, home, print }: Shell): Promise<0> {
  const settings = readSettings(environment, home);
  const checked: NameCheck[] = [];
  // One after the other: the embedded travel service opens the database for each.
  for (const connection of settings.connections)
    checked.push(await checkConnectionNames(settings, connection));
  for (const { id, travelApi, policies, scimToken, mapping } of settings.connections) {
    print(
      [
        `connection ${id}`,
        `  travel API   ${redactUrl(travelApi.url)}, credential ${travelApi.key === undefined ? 'made at the first start' : '********'}`,
        ...(isPlainTravelUrl(travelApi.url) ? ['  plain HTTP   to it, as TRAVEL_API_INSECURE allows'] : []),
        `  SCIM token   ${tokenText(id, scimToken)}`,
        `  mapping      ${mapping.scimUserMapping.length} rules of its own`,
        `  policies     onExistingUser ${policies.onExistingUser}, deprovision ${policies.deprovision}`,
      ].join('\n'),
    );
  }
  print(
    [
      `serves ${settings.tls ? 'HTTPS' : 'HTTP'} on ${settings.host}:${settings.port}, data in ${settings.data}`,
      ...transportLines(settings),
    ].join('\n'),
  );
  for (const { unchecked } of checked) if (unchecked !== undefined) print(unchecked);
  const faults = checked.flatMap((one) => one.faults);
  if (faults.length > 0) throw new SettingsFault(faults);
  print('The settings and mappings are in order.');
  return 0;
}

interface NameCheck {
  faults: Fault[];
  /** Says that the names could not be looked up, and why. */
  unchecked?: string;
}

/** A mapping that names nothing of the travel service needs no travel API. */
async function checkConnectionNames(settings: Settings, connection: ConnectionSettings): Promise<NameCheck> {
  const { id, mapping, mappingFile, travelApi } = connection;
  const told = (found: NameFault[]): Fault[] =>
    found.map(({ path, problem, remedy, origin }) => {
      const file = origin === 'file' ? mappingFile : `connection ${id}:`;
      return { file, path, problem, remedy };
    });
  const alone = checkNames(compileRules(mapping, []), noLookups);
  if (!alone.some(({ isUnknown }) => isUnknown)) return { faults: told(alone) };
  const own = told(alone.filter(({ isUnknown }) => !isUnknown));
  const unchecked = (reason: string): NameCheck => ({
    faults: own,
    unchecked: `The names in ${mappingFile} were not checked for connection ${id}: ${reason}.`,
  });
  if (travelApi.url === 'embedded' && !hasDatabase(settings.data))
    return unchecked('the embedded travel service has never been started');
  const lookups = await readLookups(settings, connection);
  if (lookups.kind !== 'ok')
    return unchecked(`the travel API cannot be asked, as ${travelFailureText(lookups)}`);
  const rules = compileRules(mapping, lookups.value.scimUserMappings);
  return { faults: told(checkNames(rules, lookups.value)) };
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

/** A URL may hold a password, though ours should not. */
function redactUrl(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//********@');
}
