import type { ConnectionSettings, Settings } from '../config/settings.ts';
import type { Connection } from '../model/connection.ts';
import type { ExchangeLog } from '../model/exchange.ts';
import type { FoundConditions } from '../provisioning/conditions/conditions.ts';
import type { ProvisioningService } from '../provisioning/service.ts';
import { type AuditLog, auditLog } from '../store/credentials/audit-log.ts';
import {
  type PeopleSummaries,
  type PeopleSummary,
  peopleSummaries,
} from '../store/identities/people-summaries.ts';
import { type GroupPages, groupPages } from '../store/lists/group-pages.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import type { Database } from '../store/sql/database.ts';
import type { TravelDeps } from '../travel/collection.ts';
import { type ScimCredentials, scimCredentials } from './credentials/scim-credentials.ts';
import { invalidField, OperationError } from './errors.ts';
import type { MappingTasks } from './mappings/mapping-tasks.ts';
import type { ActivityReader } from './traffic/activity.ts';

/** A connection of the settings or of the database. */
export interface ConfiguredConnection {
  settings: ConnectionSettings;
}

/** The parts from which operations are made, by the service or by a command. */
export interface OperationParts {
  settings: Settings;
  database: Database;
  store: ProvisioningStore;
  /** The list changes while the service runs. */
  connections: readonly ConfiguredConnection[];
  /** The conditions that need attention. Summaries of people that the caller has just read are not read again. */
  conditions: {
    read(summaries: PeopleSummary[]): Promise<FoundConditions>;
    /** Says why the travel API of a connection cannot be used; undefined while it can. */
    findOutage(connection: string): Promise<string | undefined>;
  };
  exchanges: ExchangeLog;
  /** Makes the service look for people who are due. A command leaves that to the running service, which looks each second. */
  wake(): void;
  /** Epoch milliseconds, by the clock that all processes of the database share. */
  now(): number;
  newId(): string;
}

/** Everything that the handlers of operations on stored data use. */
export interface OperationDeps extends OperationParts {
  audit: AuditLog;
  credentials: ScimCredentials;
  peopleSummaries: PeopleSummaries;
  groupPages: GroupPages;
  /** Returns the ids of all connections that the database has, sorted. */
  connectionIds(): string[];
}

/** Adds the modules of the store to the parts. */
export function operationDeps<Parts extends OperationParts>(parts: Parts): Parts & OperationDeps {
  const { database, now } = parts;
  return {
    ...parts,
    audit: auditLog(database),
    credentials: scimCredentials(database, now),
    peopleSummaries: peopleSummaries(database),
    groupPages: groupPages(database),
    connectionIds: () => database.scopes.ids(),
  };
}

/** A connection with its client for the travel API. */
export interface ServedConnection extends ConfiguredConnection {
  connection: Connection;
}

/** The dependencies of operations that read the travel API or put rules in force. */
export interface MappingDeps extends OperationDeps {
  connections: readonly ServedConnection[];
  provisioning: Pick<ProvisioningService, 'currentRules' | 'applyMapping' | 'refreshRules'>;
  /** Computes with mappings, beside the requests that do not. */
  tasks: MappingTasks;
}

/** A connection as a service serves it. */
export interface RunningConnection extends ServedConnection {
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

/** How far the demo day is. `unavailable`: no connection uses the embedded travel service, or the recording is not installed. */
export const demoDayStates = ['unavailable', 'offered', 'playing', 'played'] as const;

/** A recorded day of an invented identity provider, which is sent to the first connection that uses the embedded travel service. */
export interface DemoDay {
  read(): Promise<(typeof demoDayStates)[number]>;
  /** Begins to send it. */
  play(): Promise<void>;
}

/** The dependencies of operations that a running service alone can carry out. */
export interface ServiceDeps extends MappingDeps {
  connections: readonly RunningConnection[];
  provisioning: Pick<ProvisioningService, 'currentRules' | 'applyMapping' | 'refreshRules' | 'mappingFaults'>;
  storedConnections: StoredConnections;
  demoDay: DemoDay;
  activity: ActivityReader;
  alertChannels: readonly AlertChannel[];
  /** Undefined if no connection uses the embedded travel service. */
  embedded: EmbeddedService | undefined;
  /** Runs work on the sample company. Throws 409 while other work on it runs. */
  withSampleCompany<T>(work: () => Promise<T>): Promise<T>;
}

/** A channel on which operators get alerts. */
export interface AlertChannel {
  name: string;
  /** Sends a test alert, once. Returns the answer, or why there was none. */
  test(): Promise<{ accepted: boolean; text: string }>;
}

/** The embedded travel service below HTTP. Changes pass the checks of its API, and are announced by events. */
export interface EmbeddedService {
  travel: TravelDeps;
}

/** Finds a connection that is configured. Throws 404 if there is none of that name. */
export function findConnection<C extends ConfiguredConnection>(
  { connections }: { connections: readonly C[] },
  id: string,
): C {
  const found = connections.find(({ settings }) => settings.id === id);
  if (!found) throw new OperationError('notFound', `There is no connection ${id}.`);
  return found;
}

/** Returns the connection that a filter names, or all that the database has. Throws 422 if there is none of that name. */
export function chosenConnections(
  { connectionIds }: Pick<OperationDeps, 'connectionIds'>,
  chosen: string | undefined,
): string[] {
  const connections = connectionIds();
  if (chosen === undefined) return connections;
  if (!connections.includes(chosen)) {
    const known = connections.length === 0 ? 'there is none yet' : `there is ${connections.join(', ')}`;
    throw invalidField('connection', `There is no connection ${chosen}; ${known}.`);
  }
  return [chosen];
}

/** Returns the embedded travel service. Throws 404 if no connection uses it. */
export function requireEmbedded({ embedded }: Pick<ServiceDeps, 'embedded'>): EmbeddedService {
  if (embedded) return embedded;
  throw new OperationError('notFound', 'No connection uses the embedded travel service.');
}
