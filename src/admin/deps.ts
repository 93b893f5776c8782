import type { Request } from 'express';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import type { ExchangeLog } from '../log/exchange.ts';
import type { FoundConditions } from '../provisioning/conditions/conditions.ts';
import type { Connection } from '../provisioning/connection.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import type { ProvisioningService } from '../provisioning/service.ts';
import type { AdminPasswords } from '../store/credentials/admins.ts';
import type { PeopleSummaries, PeopleSummary } from '../store/identities/people-summaries.ts';
import type { GroupPages } from '../store/lists/group-pages.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import type { Database } from '../store/sql/database.ts';
import type { TravelDeps } from '../travel/collection.ts';
import type { Webhooks } from '../travel/webhooks/webhooks.ts';
import type { DemoDay } from './demo-day.ts';
import { AdminError, invalidField } from './errors.ts';
import type { MappingThread } from './mapping-thread/thread.ts';
import type { OpenidDeps } from './openid/sign-in.ts';
import type { PasswordCosts } from './passwords.ts';
import type { RefusedSignIns } from './refused-sign-ins.ts';
import type { RouterDeps } from './router.ts';
import type { ScimCredentials } from './scim-credentials.ts';
import type { SignInLimit } from './sign-in-limit.ts';

/** A connection as this process serves it. */
export interface ServedConnection {
  connection: Connection;
  settings: ConnectionSettings;
  /** Returns the parts of the lookups that can no longer be read, so that older values are used. */
  staleLookups(): string[];
  /** Returns how long ago each part of the lookups was read, in milliseconds. A part that was never read is left out. */
  lookupAges(): ReadonlyMap<string, number>;
}

/** The connections that are stored in the database, as this process serves them. */
export interface StoredConnections {
  /** Reads them again and serves them as they are now. */
  sync(): Promise<void>;
  /** Deletes what belongs to a connection that is no longer stored, in the background, once no process serves it. */
  forget(id: string): void;
  isBeingForgotten(id: string): boolean;
}

/** The embedded travel service below HTTP. Changes pass the checks of its API, and are announced by events. */
export interface EmbeddedService {
  travel: TravelDeps;
  webhooks: Pick<Webhooks, 'replaceSecret' | 'sendTestEvent' | 'redeliver'>;
}

/** The parts of the service that the admin page works with. */
export interface AdminParts {
  settings: Settings;
  database: Database;
  store: ProvisioningStore;
  provisioning: ProvisioningService;
  /** The list changes while the service runs. */
  connections: readonly ServedConnection[];
  storedConnections: StoredConnections;
  demoDay: DemoDay;
  /** The conditions that need attention. Summaries of people that the caller has just read are not read again. */
  conditions: {
    read(summaries: PeopleSummary[]): Promise<FoundConditions>;
    /** Says why the travel API of a connection cannot be used; undefined while it can. */
    findOutage(connection: string): Promise<string | undefined>;
  };
  /** Computes with mappings, beside the requests that do not. */
  tasks: Pick<MappingThread, 'run'>;
  /** Undefined if no connection uses the embedded travel service. */
  embedded: EmbeddedService | undefined;
  exchanges: ExchangeLog;
  limit: SignInLimit;
  /** The costs of the hashes of new passwords. */
  passwordCosts: PasswordCosts;
  refusedSignIns: RefusedSignIns;
  /** 32 bytes that encrypt the cookies of sign-ins. */
  encryptionKey: Uint8Array;
  runtime: Pick<Runtime, 'newId' | 'wallClock' | 'now'>;
  log: RouterDeps['log'];
  /** True if the browser sent the request over HTTPS, as far as proxies are trusted. */
  isSecure(request: Request): boolean;
  /** Returns scheme and host of the URLs that clients use, without a slash at the end. */
  publicUrl(request: Request): string;
  /** The folder with the built page; undefined: only the API is served. */
  page: string | undefined;
}

/** Everything that the handlers of the admin API use. */
export interface AdminDeps extends AdminParts, RouterDeps, OpenidDeps {
  password: AdminPasswords;
  newId(): string;
  credentials: ScimCredentials;
  peopleSummaries: PeopleSummaries;
  groupPages: GroupPages;
  /** Returns the ids of all connections that the database has, sorted. */
  connectionIds(): string[];
}

/** Finds a connection that is served. Throws 404 if there is none of that name. */
export function findConnection(
  { connections }: Pick<AdminParts, 'connections'>,
  id: string,
): ServedConnection {
  const found = connections.find(({ connection }) => connection.id === id);
  if (!found) throw new AdminError('notFound', `There is no connection ${id}.`);
  return found;
}

/** Returns the connection that a filter names, or all that the database has. Throws 422 if there is none of that name. */
export function chosenConnections(
  { connectionIds }: Pick<AdminDeps, 'connectionIds'>,
  chosen: string | undefined,
): string[] {
  const connections = connectionIds();
  if (chosen === undefined) return connections;
  if (!connections.includes(chosen)) throw invalidField('connection', 'There is no such connection.');
  return [chosen];
}

/** Returns the embedded travel service. Throws 404 if no connection uses it. */
export function requireEmbedded({ embedded }: Pick<AdminParts, 'embedded'>): EmbeddedService {
  if (embedded) return embedded;
  throw new AdminError('notFound', 'No connection uses the embedded travel service.');
}
