import { once } from 'node:events';
import { join } from 'node:path';
import { readSettings } from '../../config/settings.ts';
import type { Service } from '../../server/start.ts';
import type { CliCommand } from '../command.ts';
import type { Shell } from '../terminal/output.ts';
import { bannerText } from './banner.ts';

/** Defines the command `serve`. */
export function defineServeCommand(command: CliCommand): void {
  command.examples('serve').runs(serve);
}

/** Serves until SIGTERM or SIGINT, then stops gracefully and returns 0. */
export async function serve({ environment, home, printError: complain }: Shell): Promise<0> {
  const settings = readSettings(environment, home);
  const { start } = await import('../../server/start.ts');
  const service = await start(settings, {
    page: join(home, 'dist/admin/ui'),
    documents: join(home, 'dist/docs'),
    demo: join(home, 'demo'),
    mappingProgram: join(home, 'dist/admin/mapping-thread/worker.js'),
    measuresProcess: true,
  });
  try {
    // A listener is needed without a certificate, too: by default, SIGHUP ends the process.
    process.on('SIGHUP', () => {
      service.renewCertificate();
      void service.reloadMappingFiles();
    });
    // Print the secrets to standard error instead of the log, because the log is stored.
    const created = { ...(await service.makeSecrets()), adminPassword: await service.makeFirstAdmin() };
    // A supervisor may send a signal as soon as it sees the banner.
    const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
    complain(bannerText(settings, service.url, created));
    void warnOfRefusedCredentials(service, complain);
    await stopped;
  } finally {
    await service.close();
    // Connections to a database that does not answer would keep the process alive. Without any, it ends before.
    setTimeout(() => process.exit(), EXIT_MS).unref();
  }
  return 0;
}

/** The time after which the process ends although something is still open, in milliseconds. The exit code has been set by then. */
const EXIT_MS = 200;

/** Does not delay the start, because the travel API may be slow or out of reach. */
async function warnOfRefusedCredentials(service: Service, complain: Shell['printError']): Promise<void> {
  for (const { connection, keyEnv } of await service.findRefusedCredentials())
    complain(
      `ERROR: the travel API of the connection ${connection} refuses the credential in ${keyEnv} (401). Set ${keyEnv} to a valid one and start again.`,
    );
}
