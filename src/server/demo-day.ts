import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { HttpDeps } from '../http/app.ts';
import { hashSecret, newSecret } from '../http/authentication.ts';
import type { DemoDay } from '../operations/deps.ts';
import { replay } from '../replay/report.ts';
import { readScenarios } from '../replay/scenario.ts';
import { type ScimDeps, scimApp } from '../scim/app.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import { openLoopbackServer } from './http-server.ts';
import type { OpenConnection } from './open-connection.ts';

interface DemoDayDeps {
  /** The folder with the recorded day; undefined: there is no demo day. */
  folder: string | undefined;
  connections: readonly OpenConnection[];
  store: Pick<ProvisioningStore, 'tasks'>;
  log: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
  http: HttpDeps;
  scim: ScimDeps;
}

/** The demo day of a running service. */
export interface ServedDemoDay extends DemoDay {
  /** Interrupts the play. */
  stop(): Promise<void>;
}

/** Creates the demo day of this process. The database remembers that it was played, so that the page says so after a restart, too. */
export function demoDay(deps: DemoDayDeps): ServedDemoDay {
  const { store, log } = deps;
  const end = new AbortController();
  let playing: Promise<void> | undefined;
  return {
    read: async () => {
      if (playing) return 'playing';
      const [played] = await store.tasks.listStates('demoDay');
      if (played) return 'played';
      return deps.folder !== undefined && findTarget(deps) !== undefined ? 'offered' : 'unavailable';
    },
    play: async () => {
      const connection = findTarget(deps);
      if (playing || connection === undefined || deps.folder === undefined) return;
      const path = join(deps.folder, 'demo-day.json');
      const play = async () => {
        await store.tasks.saveState(connection, 'demoDay', {});
        await playDay(deps, { path, connection, signal: end.signal });
      };
      playing = play()
        .catch((error: unknown) => log.error({ err: error }, 'the demo day was interrupted'))
        .finally(() => {
          playing = undefined;
        });
    },
    stop: async () => {
      end.abort();
      await playing;
    },
  };
}

/** The first connection that uses the embedded travel service. */
function findTarget({ connections }: Pick<DemoDayDeps, 'connections'>): string | undefined {
  return connections.find(({ settings }) => settings.travelApi.url === 'embedded')?.connection.id;
}

/**
 * Sends the recorded requests to a SCIM server on a loopback address, whatever certificates and proxies the settings have. Its token is
 * known to this server alone, and to nobody after the play.
 */
async function playDay(
  { http, scim, log }: DemoDayDeps,
  { path, connection, signal }: { path: string; connection: string; signal: AbortSignal },
): Promise<void> {
  const token = newSecret('scim');
  const hash = hashSecret(token);
  const access = { connection, credential: 'token:demo day' };
  const authenticate: ScimDeps['authenticate'] = async (text) =>
    hashSecret(text) === hash ? access : scim.authenticate(text);
  const server = await openLoopbackServer(http, (app) =>
    app.use('/scim/v2', scimApp({ ...scim, authenticate })),
  );
  try {
    const { outcomes } = await replay({
      ...{ scenarios: readScenarios(path), url: `${server.url}/scim/v2`, token, print: () => {} },
      now: () => performance.now(),
      newRun: () => randomBytes(4).toString('hex'),
      afterStep: async () => signal.throwIfAborted(),
    });
    const failed = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? outcome.played : []));
    const mismatches = failed.filter((step) => step.mismatches.length > 0);
    if (mismatches.length > 0)
      log.warn({ mismatches }, 'the demo day was answered differently than expected');
  } finally {
    await server.close();
  }
}
