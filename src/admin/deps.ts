import type { Request } from 'express';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import type { Connection } from '../provisioning/connection.ts';
import type { ExchangeLog } from '../provisioning/exchange-ports.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import type { ProvisioningService, ProvisioningStore } from '../provisioning/service.ts';
import type { AdminAccounts } from '../store/admins.ts';
import type { PeopleSummaries } from '../store/people-summaries.ts';
import type { WriteHealth } from '../store/write-health.ts';
import type { DemoDay } from './demo-day.ts';
import type { MappingTasks } from './mapping-tasks.ts';
import type { OpenidDeps } from './openid/sign-in.ts';
import type { RouterDeps } from './router.ts';
import type { ScimCredentials } from './scim-credentials.ts';
import type { SignInLimit } from './sign-in-limit.ts';

/** A connection as this process serves it. */
export interface ServedConnection {
  connection: Connection;
  settings: ConnectionSettings;
  /** Returns the parts of the lookups that can no longer be read, so that older values are used. */
  staleLookups(): string[];
}

/** Everything that the handlers of the admin API use. */
export interface AdminDeps extends RouterDeps, OpenidDeps {
  settings: Settings;
  store: ProvisioningStore;
  provisioning: ProvisioningService;
  /** The list changes while the service runs. */
  connections: readonly ServedConnection[];
  /** Returns the ids of all connections that the database has, sorted. */
  connectionIds(): string[];
  demoDay: DemoDay;
  /** Computes with mappings, beside the requests that do not. */
  tasks: MappingTasks;
  writes: Pick<WriteHealth, 'failure'>;
  runtime: Pick<Runtime, 'newId' | 'wallClock' | 'now'>;
  exchanges: ExchangeLog;
  peopleSummaries: PeopleSummaries;
  credentials: ScimCredentials;
  accounts: AdminAccounts;
  limit: SignInLimit;
  /** Returns scheme and host of the URLs that clients use, without a slash at the end. */
  publicUrl(request: Request): string;
}
