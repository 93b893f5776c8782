import { once } from 'node:events';
import { readSettings } from '../config/settings.ts';
import { type Service, start } from '../server/start.ts';
import type { Shell } from './exit.ts';

/** Serves until SIGTERM or SIGINT; then finishes what runs, and ends with 0. */
export async function serve({ environment, home, complain }: Shell): Promise<0> {
  const settings = readSettings(environment, home);
  const service = await start(settings);
  // Not through the log, which is kept: what is shown once must not stay anywhere.
  complain(welcome(service.url, await service.makeSecrets()));
  // Without a certificate SIGHUP ends the process, as it does by itself.
  if (settings.tls) process.on('SIGHUP', service.renewCertificate);
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  await service.close();
  return 0;
}

function welcome(url: string, made: Awaited<ReturnType<Service['makeSecrets']>>): string {
  const lines = [
    `Jetbridge serves on ${url}`,
    `  SCIM 2.0        ${url}/scim/v2`,
    `  travel service  ${url}/api`,
  ];
  if (made.scimToken) lines.push(`  SCIM token      ${made.scimToken}`);
  if (made.travelApiKey) lines.push(`  travel API key  ${made.travelApiKey}`);
  if (made.scimToken || made.travelApiKey)
    lines.push('Keep these: they were made at this first start and are shown only now.');
  return lines.join('\n');
}
