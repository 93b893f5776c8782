import { travelFeed } from '../adapter/events.ts';
import { travelClient } from '../adapter/http/client.ts';
import type { CallMeasurement } from '../adapter/http/measured-call.ts';
import { travelLookups } from '../adapter/lookups.ts';
import { profiles } from '../adapter/profiles/profiles.ts';
import { travelUsers } from '../adapter/users.ts';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import type { ExchangeRecorder } from '../model/exchange.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import type { TravelOutage } from '../model/travel-ports.ts';
import type { RunningConnection } from '../operations/deps.ts';
import type { ConnectionWithMapping } from '../provisioning/rules/configured-mapping.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { steadyClock } from './runtime.ts';

/** A connection with its client for the travel API. */
export interface OpenConnection extends RunningConnection {
  connection: ConnectionWithMapping;
  /** The environment variable with the credential, if the travel API refuses it. */
  findRefusedKey(): Promise<string | undefined>;
  /** The travel API's clock in epoch milliseconds; undefined before its first response. */
  serverTime(): number | undefined;
  /** Since when the travel API gives no usable answers; undefined while it gives some, and before the first call. */
  outage(): TravelOutage | undefined;
  close(): void;
}

/** The base URL of the embedded travel service and the bridge's key for it. */
export interface EmbeddedAddress {
  url: string;
  key: string;
}

/** The settings that all connections share. */
type CommonSettings = Pick<Settings, 'parkingDomain' | 'minimumShare' | 'maxImported' | 'tombstoneDays'>;

interface ConnectionDeps {
  embeddedAddress: EmbeddedAddress;
  common: CommonSettings;
  /** The number of replicas, which share the limits of the travel API. */
  sharers(): number;
  /** The log of exchanges; undefined disables it. */
  recorder?: ExchangeRecorder | undefined;
  /** Called at the end of each call of the travel API. */
  onCall?: CallMeasurement['onCall'];
  tracing?: Tracing | undefined;
}

/**
 * Creates a connection with its client for the travel API. The embedded service is called over HTTP like any other travel API,
 * only without a rate limit.
 */
export function openConnection(
  settings: ConnectionSettings,
  { embeddedAddress, common, sharers, recorder, onCall, tracing }: ConnectionDeps,
  runtime: Runtime,
): OpenConnection {
  const { id, account, mapping, mappingFile, policies, travelApi } = settings;
  const { parkingDomain, minimumShare, maxImported, tombstoneDays } = common;
  const { lateMs } = travelApi;
  const isEmbedded = travelApi.url === 'embedded';
  const profile = isEmbedded ? profiles.jetbridge({}) : profiles[travelApi.profile](travelApi);
  // `now` of the runtime follows the clock of the database, which jumps if another server takes over.
  const clock = { ...runtime, now: steadyClock() };
  const client = travelClient({
    url: isEmbedded ? embeddedAddress.url : travelApi.url,
    token: isEmbedded ? embeddedAddress.key : (travelApi.key ?? ''),
    ...{ profile, clock, onCall, tracing },
    connection: id,
    timeoutMs: travelApi.timeoutMs,
    concurrency: travelApi.concurrency,
    recorder: recorder && { recorder, connection: id },
    // The embedded service runs in this process: it has no rate limit, and no other replica calls it.
    ...(isEmbedded ? { perSecond: undefined } : { perSecond: travelApi.perSecond, sharers }),
  });
  const lookups = travelLookups({ client, now: clock.now, log: runtime.log, connection: id });
  const source = travelApi.feed ? travelFeed(client) : undefined;
  return {
    connection: {
      ...{ id, account, mapping, mappingFile, policies },
      ...{ parkingDomain, minimumShare, maxImported, tombstoneDays },
      lateMs,
      callTimeoutMs: travelApi.timeoutMs,
      ...{ travel: travelUsers(client), lookups },
      ...(travelApi.feed && source ? { feed: { ...travelApi.feed, source } } : {}),
    },
    settings,
    staleLookups: lookups.stale,
    lookupAges: lookups.ages,
    findRefusedKey: async () => {
      // The bridge makes its credential for the embedded service itself.
      if (isEmbedded) return undefined;
      const { kind } = await lookups.readOwnUser();
      return kind === 'unauthorized' ? travelApi.keyEnv : undefined;
    },
    serverTime: client.serverTime,
    outage: client.outage,
    close: client.close,
  };
}

/** Tries the credentials, and returns the connections whose travel API refuses theirs. */
export async function findRefusedCredentials(
  connections: OpenConnection[],
): Promise<{ connection: string; keyEnv: string }[]> {
  const tried = connections.map(async ({ connection: { id }, findRefusedKey }) => {
    const keyEnv = await findRefusedKey();
    return keyEnv === undefined ? [] : [{ connection: id, keyEnv }];
  });
  return (await Promise.all(tried)).flat();
}
