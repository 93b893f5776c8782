import type { BridgeTables } from './bridge-tables.ts';
import type { OAuthTables } from './oauth-tables.ts';
import type { RequestLogTables } from './request-log-table.ts';
import type { TravelTables } from './travel-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';

/** Every table; the bridge's and the travel service's know nothing of each other. */
export interface Tables extends BridgeTables, TravelTables, OAuthTables, RequestLogTables, WebhookTables {}
