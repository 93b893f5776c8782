import { createServer } from 'node:http';
import express from 'express';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import { newLog } from '../http/log.ts';
import { newIdentity } from '../provisioning/create-user.ts';
import { unwritten } from '../provisioning/mapping-effect.ts';
import type { MappingPreview, PreviewOptions } from '../provisioning/preview-mapping.ts';
import { resolveReferences } from '../provisioning/references.ts';
import { provisioningService } from '../provisioning/service.ts';
import type { TravelAnswer, TravelFailure } from '../provisioning/travel-ports.ts';
import type { ScimResource } from '../schema/resource.ts';
import { ensureConnection } from '../store/connections.ts';
import { type Database, hasDatabase, openEmbedded } from '../store/database.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { Rules } from '../translator/rules.ts';
import type { Lookups, Reference } from '../translator/snapshot.ts';
import { type Connected, connect, type Embedding } from './connections.ts';
import { listen, stop } from './http-server.ts';
import { systemRuntime } from './runtime.ts';
import { openTravel } from './start.ts';

// What commands do beside a running server: they serve nothing, own nothing, and change nothing that is kept.

/** What is looked up in a connection's travel API, read now. */
export function readLookups(
  settings: Settings,
  connection: ConnectionSettings,
): Promise<TravelAnswer<Lookups>> {
  const ask = (connected: Connected) => connected.connection.lookups.current();
  if (connection.travelApi.url !== 'embedded') return reach({ settings, connection }, nowhere, ask);
  return withDatabase(settings, (database) => reachEmbedded({ settings, database, connection }, ask));
}

/** The managers whom a user's values name, as the people of a connection are kept now. */
export async function readManagers(
  settings: Settings,
  connection: ConnectionSettings,
  { rules, user }: { rules: Rules; user: ScimResource },
): Promise<ReadonlyMap<string, Reference>> {
  if (!hasDatabase(settings.data)) return new Map();
  return withDatabase(settings, async (database) => {
    const { identities, references } = provisioningStore(database);
    const fresh = newIdentity(silent(), connection, user);
    const userName = String(user.userName);
    const found = await identities.find(connection.id, { by: 'userName', value: userName });
    const known = found.find(({ deletedAt }) => deletedAt === undefined);
    const directory = { identities, references: unwritten(references.of) };
    const identity = { ...fresh, id: known?.id ?? fresh.id };
    return (await resolveReferences(directory, identity, rules)).references;
  });
}

/** What other rules would do to the people of a connection. */
export function rehearse(
  settings: Settings,
  connection: ConnectionSettings,
  wish: PreviewOptions,
): Promise<MappingPreview | TravelFailure> {
  return withDatabase(settings, async (database) => {
    await ensureConnection(database, { id: connection.id, account: connection.account });
    const run = ({ connection: one }: Connected) => {
      const { writeBudgetMs } = settings;
      const store = provisioningStore(database);
      return provisioningService({
        store,
        connections: [one],
        runtime: silent(),
        writeBudgetMs,
      }).rehearser.run(one, wish);
    };
    if (connection.travelApi.url !== 'embedded') return reach({ settings, connection }, nowhere, run);
    return reachEmbedded({ settings, database, connection }, run);
  });
}

const nowhere: Embedding = { url: '', key: '' };

function silent() {
  return systemRuntime(newLog('silent'));
}

async function withDatabase<T>(settings: Settings, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openEmbedded(settings.data, false);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

interface Place {
  settings: Settings;
  database: Database;
  connection: ConnectionSettings;
}

/** The embedded travel service is served for the time of the work, to nobody else. */
async function reachEmbedded<T>(
  { settings, database, connection }: Place,
  work: (connected: Connected) => Promise<T>,
): Promise<T> {
  const embedded = await openTravel({ settings, database, log: newLog('silent') }, () => {});
  const server = createServer();
  try {
    const url = await listen({ server, scheme: 'http' }, { port: 0, host: '127.0.0.1' });
    server.on('request', express().use('/api', embedded?.app ?? express()));
    return await reach({ settings, connection }, { url, key: embedded?.bridgeKey ?? '' }, work);
  } finally {
    await stop(server);
  }
}

async function reach<T>(
  { settings, connection }: Pick<Place, 'settings' | 'connection'>,
  embedding: Embedding,
  work: (connected: Connected) => Promise<T>,
): Promise<T> {
  const connected = connect(connection, { embedding, common: settings }, silent());
  try {
    return await work(connected);
  } finally {
    connected.close();
  }
}
