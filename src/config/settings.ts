import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { isSafeUrl } from '../http/proxies.ts';
import type { Policies } from '../model/policies.ts';
import { toMappingFaults } from '../translator/mapping/mapping-faults.ts';
import { type Mapping, parseMapping } from '../translator/mapping/mapping-file.ts';
import { type AlertSettings, alertSettings } from './alert-settings.ts';
import type { accessSchema, connectionSchema } from './connection-schema.ts';
import { environmentSchema } from './environment.ts';
import {
  type ConnectionCredentials,
  credentialFaults,
  displayPath,
  type Fault,
  readJsonFile,
  requireVariable,
  type SettingsContext,
  SettingsFault,
} from './faults.ts';
import { settingsSchema } from './schema.ts';
import { type TransportSettings, transportSettings } from './transport.ts';

type ConnectionEntry = z.infer<typeof connectionSchema>;

/** One connection with its parsed mapping and its secrets from the environment. */
export interface ConnectionSettings {
  id: string;
  /** The origin of the connection: only one of the database can be changed on the admin page. */
  source: 'file' | 'database';
  /** The content of the mapping file; undefined if the settings name none. */
  mapping: Mapping | undefined;
  /** The mapping file, as a path for messages. */
  mappingFile: string | undefined;
  scimToken: string | undefined;
  /** The name of the travel account. Connections with the same account share its travelers. */
  account: string;
  travelApi: Omit<ConnectionEntry['travelApi'], 'url' | 'account'> & {
    url: string;
    key: string | undefined;
  };
  policies: Policies;
  /** Which requests of its identity provider are accepted. */
  access: AccessSettings;
  /** The mode in which the connection begins when it is new. */
  mode: ConnectionEntry['mode'];
  /** The pilot with which it begins in shadow mode. */
  pilot: ConnectionEntry['pilot'];
  /** The SCIM requests that are accepted. */
  scim: ConnectionEntry['scim'];
}

/** Which requests of an identity provider are accepted. */
export type AccessSettings = { [Name in keyof typeof accessSchema.shape]: ConnectionEntry[Name] };

/** The name, in messages, of the mapping of a connection whose settings name no mapping file. */
export const MAPPING_IN_FORCE = 'the mapping in force';

/** The OpenID provider of the admin page, and the secret of the client that is registered there. */
export type AdminOpenidSettings = AdminOpenidEntry & {
  clientSecret: string;
  /** PUBLIC_URL without a slash at the end. The provider sends browsers back to it. */
  publicUrl: string;
  /** The settings file, as a path for messages. */
  file: string;
};

type AdminOpenidEntry = NonNullable<z.infer<typeof settingsSchema>['adminPage']['openid']>;

/** All settings, checked. */
export interface Settings extends TransportSettings, FileSettings {
  port: number;
  host: string;
  publicUrl: string | undefined;
  data: string;
  /** The PostgreSQL database; undefined: the embedded database in the data folder is used. */
  postgres: { url: string; connections: number } | undefined;
  /** JETBRIDGE_KEY, which encrypts stored secrets; undefined: the key file in the data folder is used. */
  key: string | undefined;
  /** JETBRIDGE_KEY_PREVIOUS, which decrypts secrets from before the key was changed. */
  previousKey: string | undefined;
  /** ADMIN_PASSWORD, the password of the built-in admin; undefined: the first start makes one. */
  adminPassword: string | undefined;
  logLevel: z.infer<typeof environmentSchema>['LOG_LEVEL'];
  connections: ConnectionSettings[];
  /** The environment variables that are set. Connections that are stored in the database name those with their secrets. */
  environment: Record<string, string | undefined>;
  /** The address that traces are sent to; undefined: there are none. */
  traces: { url: string } | undefined;
  /** The channels of alerts. Without any, alerts appear in the log, the metrics and the page only. */
  alerts: AlertSettings;
  /** If undefined, only passwords open the admin page. */
  adminOpenid: AdminOpenidSettings | undefined;
  /** Settings that are accepted, for the log of the start. */
  warnings: string[];
}

/**
 * Reads the environment, the settings file and its mapping files. The settings file is JETBRIDGE_CONFIG, else config/jetbridge.json in
 * the current folder, else in `home`, the program's folder. Throws a SettingsFault that lists every fault.
 */
export function readSettings(environment: Record<string, string | undefined>, home: string): Settings {
  const faults: Fault[] = [];
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { data, faulty, postgres, transport } = readEnvironment(present, faults);
  const file = findSettingsFile(present, home);
  const written = readSettingsFile(file, faults);
  const url = data.TRAVEL_API_URL;
  const connections = Object.entries(written?.connections ?? {}).flatMap(([id, connection]) =>
    toConnectionSettings({ id, connection, file, present, url, faults, source: 'file' }),
  );
  const plain = plainTravelFaults(url, written?.connections ?? {}, displayPath(file));
  if (!data.TRAVEL_API_INSECURE && !faulty.includes('TRAVEL_API_INSECURE')) faults.push(...plain);
  faults.push(...credentialFaults(connections.map(({ credentials }) => credentials)));
  const context = { file: displayPath(file), present, faults };
  const alerts = written && alertSettings(written.alerts, context);
  const openid = written?.adminPage.openid;
  // One that is faulty is set.
  const publicUrl = faulty.includes('PUBLIC_URL') ? '' : data.PUBLIC_URL;
  const adminOpenid = openid && adminOpenidSettings(openid, publicUrl, context);
  if (faults.length > 0 || !written || !alerts) throw new SettingsFault(faults);
  return {
    port: data.PORT,
    host: data.HOST,
    publicUrl: data.PUBLIC_URL,
    data: data.JETBRIDGE_DATA,
    postgres,
    key: data.JETBRIDGE_KEY,
    previousKey: data.JETBRIDGE_KEY_PREVIOUS,
    adminPassword: data.ADMIN_PASSWORD,
    logLevel: data.LOG_LEVEL,
    traces: traceSettings(data),
    connections: connections.map(({ settings }) => settings),
    environment: present,
    ...{ alerts, adminOpenid, ...transport },
    ...fileSettings(written),
    warnings: plain.map(({ path, problem }) => `${path} ${problem}`),
  };
}

type FileSettings = ReturnType<typeof fileSettings>;

/** The settings that are as the file has them. */
function fileSettings(written: z.infer<typeof settingsSchema>) {
  return {
    writeBudgetMs: written.writeBudgetMs,
    maxConnections: written.maxConnections,
    /** The domain of temporary addresses during a swap; undefined: addresses are not swapped. */
    parkingDomain: written.emailSwap.parkingDomain ?? undefined,
    minimumShare: written.import.minimumShare,
    /** The number of travelers at which an import ends; undefined: twice the known people, at least 100,000. */
    maxImported: written.import.maximum,
    tombstoneDays: written.retention.tombstones,
    requestLog: written.requestLog,
    /** The addresses from which the admin page accepts requests; undefined: all. */
    adminAllowFrom: written.adminPage.allowFrom,
    /** False if passwords do not open the admin page. */
    passwordSignIn: written.adminPage.passwordSignIn,
    oauthClients: written.oauthClients,
    travelService: written.travelService,
  };
}

interface Environment {
  data: z.infer<typeof environmentSchema>;
  /** The names of the variables that have a fault. */
  faulty: string[];
  postgres: Settings['postgres'];
  transport: TransportSettings;
}

/**
 * Reads the environment variables. Faulty ones are reported and have their defaults in the result, so that the faults of all other
 * settings are found in the same run.
 */
function readEnvironment(present: Record<string, string | undefined>, faults: Fault[]): Environment {
  const { data, faulty } = parseVariables(present, faults);
  const dependent: Fault[] = [];
  const postgres = postgresSettings(data, dependent);
  const transport = transportSettings(data, dependent);
  faults.push(...dependent.filter(({ path }) => !faulty.includes(path)));
  return { data, faulty, postgres, transport };
}

function parseVariables(
  present: Record<string, string | undefined>,
  faults: Fault[],
): Pick<Environment, 'data' | 'faulty'> {
  const read = environmentSchema.safeParse(present);
  if (read.success) return { data: read.data, faulty: [] };
  const found = toMappingFaults(read.error, environmentSchema);
  faults.push(...found.map((fault) => ({ ...fault, file: 'environment' })));
  const faulty = read.error.issues.map(({ path }) => String(path[0]));
  const others = Object.entries(present).filter(([name]) => !faulty.includes(name));
  return { data: environmentSchema.parse(Object.fromEntries(others)), faulty };
}

/** The key must be set, because a key file of one process does not decrypt what another process has encrypted. */
function postgresSettings(
  {
    DATABASE_URL: url,
    DATABASE_CONNECTIONS: connections,
    JETBRIDGE_KEY: key,
  }: z.infer<typeof environmentSchema>,
  faults: Fault[],
): Settings['postgres'] {
  if (url === undefined) return undefined;
  const problem = 'is not set, and DATABASE_URL is';
  const remedy =
    'Set it to what "openssl rand -hex 32" prints, the same for all processes that use the database.';
  if (key === undefined) faults.push({ file: 'environment', path: 'JETBRIDGE_KEY', problem, remedy });
  return { url, connections };
}

/** Plain HTTP to another machine would expose the credential and the travelers' data to the network. */
export function plainTravelFaults(
  url: string,
  connections: Record<string, Pick<ConnectionEntry, 'travelApi'>>,
  file: string,
): Fault[] {
  const places = [
    { file: 'environment', path: 'TRAVEL_API_URL', url },
    ...Object.entries(connections).map(([id, { travelApi }]) => ({
      file,
      path: `connections.${id}.travelApi.url`,
      url: travelApi.url ?? 'embedded',
    })),
  ];
  const problem = 'is plain HTTP to another machine, so the credential can be read on the way';
  const remedy = 'Give an https URL, or set TRAVEL_API_INSECURE=true where the network itself is safe.';
  return places
    .filter((place) => isPlainTravelUrl(place.url))
    .map((place) => ({ file: place.file, path: place.path, problem, remedy }));
}

/** Returns true if calls to a travel API cross the network unencrypted. */
export function isPlainTravelUrl(url: string): boolean {
  return url !== 'embedded' && !isSafeUrl(url);
}

function traceSettings(data: z.infer<typeof environmentSchema>): Settings['traces'] {
  if (data.OTEL_SDK_DISABLED || data.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const base = data.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '');
  const url = data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`);
  return url === undefined ? undefined : { url };
}

/** Without a public URL, the address to which the provider sends people would come from a header of the request. */
function adminOpenidSettings(
  openid: AdminOpenidEntry,
  publicUrl: string | undefined,
  context: SettingsContext,
): AdminOpenidSettings | undefined {
  const { file, faults } = context;
  const variable = openid.clientSecretEnv;
  const remedy = 'Set it to the secret that the provider has made for the client.';
  const clientSecret = requireVariable(context, 'adminPage.openid.clientSecretEnv', { variable, remedy });
  if (publicUrl === undefined)
    faults.push({
      ...{ file: 'environment', path: 'PUBLIC_URL' },
      problem: `is not set, and adminPage.openid in ${file} is`,
      remedy: 'Set it to the address at which browsers open the admin page, e.g. https://bridge.example.com.',
    });
  if (clientSecret === undefined || publicUrl === undefined) return undefined;
  return { ...openid, clientSecret, publicUrl: publicUrl.replace(/\/+$/, ''), file };
}

function findSettingsFile(environment: Record<string, string | undefined>, home: string): string {
  const chosen = environment['JETBRIDGE_CONFIG'];
  if (chosen) return resolve(chosen);
  const local = resolve('config/jetbridge.json');
  return existsSync(local) ? local : join(home, 'config/jetbridge.json');
}

function readSettingsFile(file: string, faults: Fault[]): z.infer<typeof settingsSchema> | undefined {
  const read = readJsonFile(file);
  if (!('json' in read)) {
    const remedy = read.isMissing ? 'Create it, or correct JETBRIDGE_CONFIG.' : read.remedy;
    faults.push({ file: displayPath(file), path: '$', problem: read.problem, remedy });
    return undefined;
  }
  const parsed = settingsSchema.safeParse(read.json);
  if (parsed.success) return parsed.data;
  const found = toMappingFaults(parsed.error, settingsSchema);
  faults.push(...found.map((fault) => ({ ...fault, file: displayPath(file) })));
  return undefined;
}

interface ConnectionInput extends Pick<ConnectionSettings, 'source'> {
  id: string;
  connection: ConnectionEntry;
  file: string;
  present: Record<string, string | undefined>;
  url: string;
  faults: Fault[];
}

/** A connection, and its credentials as they are checked. */
export interface CheckedConnection {
  settings: ConnectionSettings;
  credentials: ConnectionCredentials;
}

/** Returns an empty list if the mapping has faults. */
export function toConnectionSettings({
  id,
  source,
  connection,
  file,
  present,
  url,
  faults,
}: ConnectionInput): CheckedConnection[] {
  const place = { file: displayPath(file), path: `connections.${id}` };
  const mappingFile =
    connection.mapping === undefined ? undefined : resolve(dirname(file), connection.mapping);
  const mapping = mappingFile === undefined ? undefined : readConnectionMapping(mappingFile, place, faults);
  if (mappingFile !== undefined && !mapping) return [];
  if (connection.pilot !== undefined && connection.mode !== 'shadow')
    faults.push({
      ...{ file: place.file, path: `${place.path}.pilot` },
      problem: 'is a pilot of a connection that does not begin in shadow mode',
      remedy: 'Write "mode": "shadow" beside it, or remove it.',
    });
  const { url: own, account, ...travelApi } = connection.travelApi;
  const { keyEnv } = travelApi;
  const api = { ...travelApi, url: own ?? url, key: present[keyEnv] };
  const ownAccount = api.url === 'embedded' ? 'embedded' : accountOf(api.url, keyEnv);
  const tokenEnv = connection.scimTokenEnv ?? (id === 'default' ? 'SCIM_TOKEN' : undefined);
  const scimToken = tokenEnv && present[tokenEnv];
  return [
    {
      settings: {
        ...{ id, source, mapping },
        mappingFile: mappingFile && displayPath(mappingFile),
        account: account ?? ownAccount,
        scimToken,
        travelApi: api,
        policies: toPolicies(connection.policies),
        access: toAccess(connection),
        mode: connection.mode,
        pilot: connection.pilot,
        scim: connection.scim,
      },
      credentials: { id, place, tokenEnv, scimToken, keyEnv, api },
    },
  ];
}

/**
 * Returns the name of the account behind a URL and the variable with its credential: 12 characters of a hash, because the name is
 * part of each key and of each index entry in the database.
 */
function accountOf(url: string, keyEnv: string): string {
  return createHash('sha256').update(`${url} ${keyEnv}`).digest('base64url').slice(0, 12);
}

function toPolicies({ safetyValve: valve, ...others }: ConnectionEntry['policies']): Policies {
  const safetyValve = valve && {
    share: valve.share,
    minimum: valve.minimum,
    windowMs: valve.windowMinutes * 60_000,
  };
  return { ...others, safetyValve: safetyValve || undefined };
}

function toAccess({ federation, requestsPerSecond, allowFrom }: ConnectionEntry): AccessSettings {
  return { federation, requestsPerSecond, allowFrom };
}

function readConnectionMapping(
  file: string,
  place: ConnectionCredentials['place'],
  faults: Fault[],
): Mapping | undefined {
  if (existsSync(file)) return readMapping(file, faults);
  faults.push({
    file: place.file,
    path: `${place.path}.mapping`,
    problem: `names ${displayPath(file)}, which does not exist`,
    remedy: 'Create it, or name another; the name is relative to the settings file.',
  });
  return undefined;
}

/** Reads one mapping file. Adds its faults to `faults` and then returns undefined. */
export function readMapping(file: string, faults: Fault[]): Mapping | undefined {
  const read = readJsonFile(file);
  if (!('json' in read)) {
    faults.push({ file: displayPath(file), path: '$', problem: read.problem, remedy: read.remedy });
    return undefined;
  }
  const parsed = parseMapping(read.json);
  if ('mapping' in parsed) return parsed.mapping;
  faults.push(...parsed.faults.map((fault) => ({ ...fault, file: displayPath(file) })));
  return undefined;
}
