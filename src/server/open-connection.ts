import { defaultPaths, travelClient } from '../adapter/client.ts';
import { travelFeed } from '../adapter/events.ts';
import { travelLookups } from '../adapter/lookups.ts';
import { travelUsers } from '../adapter/users.ts';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import type { Connection } from '../provisioning/connection.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';

/** A connection with its way to the travel API. */
export interface OpenConnection {
  connection: Connection;
  /** The parts of the lookups that serve as they were read earlier (`CachedLookups`). */
  staleLookups(): string[];
  close(): void;
}

/** Where the embedded travel service is reached, and by which key. */
export interface EmbeddedAddress {
  url: string;
  key: string;
}

/** What all connections have in common. */
export type CommonSettings = Pick<Settings, 'parkingDomain' | 'minimumShare' | 'tombstoneDays'>;

/** Connects one connection of the settings to its travel API; the adapter cannot tell the embedded one from a real one. */
export function openConnection(
  settings: ConnectionSettings,
  { embedding, common }: { embedding: EmbeddedAddress; common: CommonSettings },
  runtime: Runtime,
): OpenConnection {
  const { id, account, mapping, policies, travelApi } = settings;
  const { parkingDomain, minimumShare, tombstoneDays } = common;
  const { lateMs } = travelApi;
  const isEmbedded = travelApi.url === 'embedded';
  const client = travelClient({
    url: isEmbedded ? embedding.url : travelApi.url,
    token: isEmbedded ? embedding.key : (travelApi.key ?? ''),
    clock: runtime,
    timeoutMs: travelApi.timeoutMs,
    atOnce: travelApi.concurrency,
    patchMediaType: travelApi.patchMediaType,
    // Our own service, in this process, needs no sparing.
    perSecond: isEmbedded ? undefined : travelApi.perSecond,
  });
  const paths = { ...defaultPaths, ...omitUndefined(travelApi.paths) };
  const { now, log } = runtime;
  const lookups = travelLookups({ client, paths, now, log, connection: id });
  return {
    connection: {
      ...{ id, account, mapping, policies, parkingDomain, minimumShare, tombstoneDays, lateMs },
      ...{ travel: travelUsers(client, paths), lookups },
      ...(travelApi.feed ? { feed: { ...travelApi.feed, source: travelFeed(client, paths) } } : {}),
    },
    staleLookups: lookups.stale,
    close: client.close,
  };
}

/** Without the entries that are undefined, which would hide a default. */
function omitUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
