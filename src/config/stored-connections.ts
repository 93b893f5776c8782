import { toMappingFaults } from '../translator/mapping/mapping-faults.ts';
import { environmentSchema } from './environment.ts';
import { credentialFaults, type Fault } from './faults.ts';
import { storedConnectionSchema } from './schema.ts';
import {
  type ConnectionSettings,
  plainTravelFaults,
  type Settings,
  toConnectionSettings,
} from './settings.ts';

/** A connection of the database, with the faults for which it cannot be served; without settings if it has a fault of form. */
export interface ReadConnection {
  settings: ConnectionSettings | undefined;
  faults: Fault[];
}

/** The message of the log about a connection of the database that this process cannot serve. */
export const NOT_SERVED = 'a connection of the database has faults; this process does not serve it';

/** The place of stored connections in messages. */
const DATABASE = 'database';

/** Reads a connection that is stored in the database, as the settings file is read. Its secrets are in the environment of this process. */
export function readStoredConnection(
  { environment }: Pick<Settings, 'environment'>,
  { id, settings: written }: { id: string; settings: unknown },
): ReadConnection {
  const parsed = storedConnectionSchema.safeParse(written);
  if (!parsed.success) {
    const faults = toMappingFaults(parsed.error, storedConnectionSchema);
    return { settings: undefined, faults: faults.map((fault) => ({ ...fault, file: DATABASE })) };
  }
  const { TRAVEL_API_URL: url, TRAVEL_API_INSECURE: isPlainAllowed } = environmentSchema.parse(environment);
  const faults: Fault[] = [];
  const input = { id, connection: parsed.data, file: DATABASE, present: environment, url, faults };
  const [read] = toConnectionSettings({ ...input, source: 'database' });
  if (!isPlainAllowed) faults.push(...plainTravelFaults(url, { [id]: parsed.data }, DATABASE));
  if (read) faults.push(...credentialFaults([read.credentials]));
  return { settings: read?.settings, faults };
}

/**
 * Returns the settings with the connections of the database besides those of the file. A connection of the file takes precedence over a stored
 * one of the same name. `onFaults` is called for each stored connection with faults; the settings have it only if `includesFaulty` is set.
 */
export function withStoredConnections(
  settings: Settings,
  stored: { id: string; settings: unknown }[],
  {
    includesFaulty = false,
    onFaults = () => {},
  }: { includesFaulty?: boolean; onFaults?: (id: string, faults: Fault[]) => void } = {},
): Settings {
  const ids = settings.connections.map(({ id }) => id);
  const added = stored
    .filter(({ id }) => !ids.includes(id))
    .flatMap((one) => {
      const { settings: read, faults } = readStoredConnection(settings, one);
      if (faults.length > 0) onFaults(one.id, faults);
      return read && (includesFaulty || faults.length === 0) ? [read] : [];
    });
  return { ...settings, connections: [...settings.connections, ...added] };
}
