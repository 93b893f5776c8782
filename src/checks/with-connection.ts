import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import { createLog } from '../http/log.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import { openEmbeddedTravel } from '../server/embedded.ts';
import { listen, stopServer } from '../server/http-server.ts';
import { type EmbeddedAddress, type OpenConnection, openConnection } from '../server/open-connection.ts';
import { systemRuntime } from '../server/runtime.ts';
import type { Database } from '../store/sql/database.ts';
import { withDatabaseAt } from '../store/sql/open-database.ts';

/** A connection that the settings have. */
export interface ConnectionDeps {
  settings: Settings;
  connection: ConnectionSettings;
  /** The database of the settings, if the caller has opened it: the embedded travel service needs it. */
  database?: Database | undefined;
}

/**
 * Opens a connection for the work of a command, beside a running server or without one. The embedded travel service is served to it
 * alone, on a free loopback port, until the work is done. Stores nothing.
 */
export async function withConnection<T>(
  { settings, connection, database }: ConnectionDeps,
  work: (opened: OpenConnection) => Promise<T>,
): Promise<T> {
  if (connection.travelApi.url !== 'embedded')
    return withClient({ settings, connection }, { url: '', key: '' }, work);
  if (!database)
    return withDatabaseAt(settings, (opened) =>
      withConnection({ settings, connection, database: opened }, work),
    );
  const embedded = await openEmbeddedTravel(settings, {
    ...{ database, log: createLog('silent') },
    // Nothing is encrypted or decrypted here, so that the key file is not needed.
    encryptionKey: randomBytes(32),
    onChange: () => {},
  });
  const server = createServer();
  try {
    const url = await listen({ server, scheme: 'http' }, { port: 0, host: '127.0.0.1' });
    server.on('request', express().use('/api', embedded?.app ?? express()));
    return await withClient({ settings, connection }, { url, key: embedded?.bridgeKey ?? '' }, work);
  } finally {
    await stopServer(server);
  }
}

async function withClient<T>(
  { settings, connection }: ConnectionDeps,
  embeddedAddress: EmbeddedAddress,
  work: (opened: OpenConnection) => Promise<T>,
): Promise<T> {
  const deps = { embeddedAddress, common: settings, sharers: () => 1 };
  const opened = openConnection(connection, deps, silentRuntime());
  try {
    return await work(opened);
  } finally {
    opened.close();
  }
}

/** The runtime of a command, which logs nothing. */
export function silentRuntime(): Runtime {
  return systemRuntime(createLog('silent'));
}
