import { readSettings } from '../config.ts';
import type { Shell } from './shell.ts';

/** Checks the settings and every mapping file they name; a fault is told by whoever catches it. */
export async function check({ environment, home, print }: Shell): Promise<0> {
  const settings = readSettings(environment, home);
  for (const { id, travelApi, policies, scimToken, mapping } of settings.connections) {
    print(
      [
        `connection ${id}`,
        `  travel API   ${travelApi.url}, credential ${secret(travelApi.key)}`,
        `  SCIM token   ${secret(scimToken)}`,
        `  mapping      ${mapping.scimUserMapping.length} rules of its own`,
        `  policies     onExistingUser ${policies.onExistingUser}, deprovision ${policies.deprovision}`,
      ].join('\n'),
    );
  }
  print(`serves on ${settings.host}:${settings.port}, data in ${settings.data}`);
  print('The settings and mappings are in order.');
  return 0;
}

function secret(value: string | undefined): string {
  return value === undefined ? 'made at first start' : '********';
}
