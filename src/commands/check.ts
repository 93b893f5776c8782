import { readSettings, type Settings } from '../config.ts';
import type { Shell } from './shell.ts';

/** Checks the settings and every mapping file they name; a fault is told by whoever catches it. */
export async function check({ environment, home, print }: Shell): Promise<0> {
  const settings = readSettings(environment, home);
  for (const { id, travelApi, policies, scimToken, mapping } of settings.connections) {
    print(
      [
        `connection ${id}`,
        `  travel API   ${shownUrl(travelApi.url)}, credential ${travelApi.key === undefined ? 'made at the first start' : '********'}`,
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
  print('The settings and mappings are in order.');
  return 0;
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
function shownUrl(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//********@');
}
