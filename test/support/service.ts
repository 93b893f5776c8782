import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../../src/config.ts';
import { type Service, type StartOptions, start } from '../../src/start.ts';

/** The repository: where the service finds its own config. */
const home = join(__dirname, '..', '..');

/** The whole service as it is started by `jetbridge serve`, in this process, on a free port and a throw-away database. */
export interface RunningService {
  /** Of the server; SCIM is at `/scim/v2`, the travel API at `/api`. */
  url: string;
  scimToken: string;
  travelApiKey: string;
  /** The folder of its database. */
  data: string;
  people: Service['people'];
  renewCertificate: Service['renewCertificate'];
  close(): Promise<void>;
}

/** Starts a service of one's own; `environment` adds to its settings. */
export async function startService(
  environment: Record<string, string> = {},
  options: StartOptions = {},
): Promise<RunningService> {
  const data = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  const settings = readSettings(
    { PORT: '0', JETBRIDGE_DATA: data, LOG_LEVEL: 'silent', ...environment },
    home,
  );
  const service = await start(settings, options);
  const { scimToken, travelApiKey } = await service.makeSecrets();
  return {
    url: service.url,
    scimToken: scimToken ?? environment.SCIM_TOKEN ?? '',
    travelApiKey: travelApiKey ?? environment.TRAVEL_API_KEY ?? '',
    data: settings.data,
    people: service.people,
    renewCertificate: service.renewCertificate,
    close: async () => {
      await service.close();
      rmSync(data, { recursive: true });
    },
  };
}
