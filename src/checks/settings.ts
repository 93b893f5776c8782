import { toSignInFailure } from '../admin/openid/failures.ts';
import { discoverProvider } from '../admin/openid/provider.ts';
import type { Fault } from '../config/faults.ts';
import {
  type AdminOpenidSettings,
  type ConnectionSettings,
  isPlainTravelUrl,
  type Settings,
} from '../config/settings.ts';
import { hideUrlCredentials } from '../http/redaction.ts';
import { displayLocation } from '../store/sql/open-database.ts';
import { type ConnectionCheck, checkConnection } from './connection.ts';

/** The settings in effect, without their secrets, and what is wrong with them. */
export interface SettingsCheck {
  connections: CheckedConnection[];
  server: {
    scheme: 'http' | 'https';
    host: string;
    port: number;
    /** The data folder, or the URL of the database without its password. */
    data: string;
    /** The end of the validity of the certificate, in epoch milliseconds; undefined without HTTPS. */
    certificateEndsAt: number | undefined;
    requireHttps: boolean;
    trustedProxies: string[];
  };
  /** The OpenID provider of the admin page; undefined if only passwords open it. */
  openid:
    | {
        label: string;
        issuer: string;
        /** True if passwords do not open the page. */
        isOnlyWay: boolean;
        /** The reason for which the provider was not checked; undefined if it was. */
        unchecked: string | undefined;
      }
    | undefined;
  faults: Fault[];
  /** Names that are allowed but probably misspelled. */
  warnings: Fault[];
  /** The parts of connections that could not be checked, each with the reason. */
  unchecked: (ConnectionCheck['unchecked'][number] & { connection: ConnectionSettings })[];
}

/** The settings of one connection, without its secrets. */
export interface CheckedConnection {
  id: string;
  travelApi: {
    /** `embedded`, or the URL with a user name and password in it hidden. */
    url: string;
    hasKey: boolean;
    /** True if the URL has plain HTTP to another machine, as TRAVEL_API_INSECURE allows. */
    isPlainHttp: boolean;
  };
  /** True if the environment has the SCIM token. */
  hasScimToken: boolean;
  /** The mapping file of the settings and the number of its rules; undefined if they name none. */
  mapping: { file: string | undefined; rules: number } | undefined;
  policies: ConnectionSettings['policies'];
}

/**
 * Describes the settings, tries the credential of each connection, and looks up each name of the mappings in the travel
 * API. With `isOffline`, neither the travel API nor the database is called.
 */
export async function checkSettings(
  settings: Settings,
  { isOffline = false }: { isOffline?: boolean } = {},
): Promise<SettingsCheck> {
  const checked: { connection: ConnectionSettings; check: ConnectionCheck }[] = [];
  // Check one connection after the other: each check of an embedded travel service opens the database.
  for (const connection of settings.connections)
    checked.push({ connection, check: await checkConnection(settings, connection, { isOffline }) });
  const openid = await checkOpenid(settings, isOffline);
  const { tls, host, port, requireHttps, trustedProxies } = settings;
  return {
    connections: settings.connections.map(describeConnection),
    server: {
      ...{ scheme: tls ? 'https' : 'http', host, port, data: displayLocation(settings) },
      ...{ certificateEndsAt: tls?.certificate.validTo, requireHttps, trustedProxies },
    },
    openid: openid.openid,
    faults: [...checked.flatMap(({ check }) => check.faults), ...openid.faults],
    warnings: checked.flatMap(({ check }) => check.warnings),
    unchecked: checked.flatMap(({ connection, check }) =>
      check.unchecked.map((one) => ({ ...one, connection })),
    ),
  };
}

async function checkOpenid(
  { adminOpenid, passwordSignIn }: Settings,
  isOffline: boolean,
): Promise<Pick<SettingsCheck, 'openid' | 'faults'>> {
  if (!adminOpenid) return { openid: undefined, faults: [] };
  const { label, issuer, file } = adminOpenid;
  const problem = isOffline ? undefined : await findOpenidProblem(adminOpenid);
  const offline = isOffline ? 'the option --offline is given' : undefined;
  const unchecked = problem?.isFault === false ? problem.text : offline;
  const fault = {
    ...{ file, path: 'adminPage.openid.issuer' },
    problem: `is of a provider that cannot be used: ${problem?.text}`,
    remedy: 'Give the issuer exactly as in its document <issuer>/.well-known/openid-configuration.',
  };
  return {
    openid: { label, issuer, isOnlyWay: !passwordSignIn, unchecked },
    faults: problem?.isFault ? [fault] : [],
  };
}

/** The reason for which the OpenID provider of the admin page cannot be used. */
export interface OpenidProblem {
  /** True if the settings are wrong; false if the provider does not answer at present. */
  isFault: boolean;
  text: string;
}

/** Reads the description of the OpenID provider. Returns undefined if nothing is wrong with it. */
export async function findOpenidProblem(openid: AdminOpenidSettings): Promise<OpenidProblem | undefined> {
  try {
    await discoverProvider(openid);
    return undefined;
  } catch (error) {
    const { code, message } = toSignInFailure(error);
    return { isFault: code !== 'unavailable', text: message };
  }
}

function describeConnection(connection: ConnectionSettings): CheckedConnection {
  const { id, travelApi, policies, scimToken, mapping, mappingFile } = connection;
  const { url, key } = travelApi;
  return {
    id,
    travelApi: {
      url: hideUrlCredentials(url),
      hasKey: key !== undefined,
      isPlainHttp: isPlainTravelUrl(url),
    },
    hasScimToken: scimToken !== undefined,
    mapping: mapping && { file: mappingFile, rules: mapping.scimUserMapping.length },
    policies,
  };
}
