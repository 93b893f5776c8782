import { toMappingFaults } from '../translator/mapping/mapping-faults.ts';
import { storedConnectionSchema } from './connection-schema.ts';
import { environmentSchema } from './environment.ts';
import { credentialFaults, type Fault } from './faults.ts';
import {
  type CheckedConnection,
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
  { environment, connections }: Pick<Settings, 'environment' | 'connections'>,
  { id, settings: written }: { id: string; settings: unknown },
): ReadConnection {
  const parsed = storedConnectionSchema.safeParse(written);
  if (!parsed.success) {
    const faults = toMappingFaults(parsed.error, storedConnectionSchema);
    return { settings: undefined, faults: faults.map((fault) => ({ ...fault, file: DATABASE })) };
  }
  const { TRAVEL_API_URL: url, TRAVEL_API_INSECURE: isPlainAllowed } = environmentSchema.parse(environment);
  const undeclared = variableFaults(id, parsed.data.travelApi.keyEnv, { environment, connections });
  if (undeclared.length > 0) return { settings: undefined, faults: undeclared };
  const faults: Fault[] = [];
  const input = { id, connection: parsed.data, file: DATABASE, present: environment, url, faults };
  const [read] = toConnectionSettings({ ...input, source: 'database' });
  if (!isPlainAllowed) faults.push(...plainTravelFaults(url, { [id]: parsed.data }, DATABASE));
  if (read)
    faults.push(
      ...credentialFaults([read.credentials]),
      ...addressFaults(read, { environment, connections }),
    );
  return { settings: read?.settings, faults };
}

/**
 * The variable must be declared as the credential of a travel API: by a connection of the settings file, or by a variable with its URL.
 * Faults about any other variable would tell an admin of the page whether it is set, and how its value is made.
 */
function variableFaults(
  id: string,
  keyEnv: string,
  { environment, connections }: Pick<Settings, 'environment' | 'connections'>,
): Fault[] {
  const variable = `${keyEnv}_URL`;
  const isOfFile = connections.some(
    ({ source, travelApi }) => source === 'file' && travelApi.keyEnv === keyEnv,
  );
  const isOwn =
    Object.hasOwn(environmentSchema.shape, variable) || Object.hasOwn(environmentSchema.shape, keyEnv);
  if (keyEnv === 'TRAVEL_API_KEY' || isOfFile || (environment[variable] !== undefined && !isOwn)) return [];
  return [
    {
      ...{ file: DATABASE, path: `connections.${id}.travelApi.keyEnv` },
      problem: `names ${keyEnv}, which is not declared as the credential of a travel API`,
      remedy: `Name a variable of a connection of the settings file, or set ${variable} to the URL that its credential belongs to where Jetbridge runs.`,
    },
  ];
}

/**
 * An admin of the page must not be able to send a secret of the environment to an address of their own: the settings file or the
 * environment says where each credential belongs.
 */
function addressFaults(
  { settings: { id, travelApi }, credentials: { keyEnv } }: CheckedConnection,
  { environment, connections }: Pick<Settings, 'environment' | 'connections'>,
): Fault[] {
  const { url } = travelApi;
  const isKnown = connections.some(
    ({ source, travelApi: other }) => source === 'file' && other.url === url && other.keyEnv === keyEnv,
  );
  const variable = `${keyEnv}_URL`;
  const place = { file: DATABASE, path: `connections.${id}.travelApi.url` };
  if (url === 'embedded') return [];
  const { username, password } = new URL(url);
  if (username + password !== '')
    return [
      {
        ...place,
        problem: 'has a user name or a password, which would be stored',
        remedy: 'Leave it out: the credential is in the variable.',
      },
    ];
  if (isKnown || environment[variable] === url) return [];
  return [
    {
      ...place,
      problem: `is not where the credential in ${keyEnv} belongs`,
      remedy: `Give the URL that a connection of the settings file uses with it, or set ${variable} to this URL where Jetbridge runs.`,
    },
  ];
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
