import type { Generated } from 'kysely';
import type { connectionModeColumns, databaseRecordColumns } from './migrations/0003-connection-modes.ts';
import type { signInFailureColumns } from './migrations/0004-sign-in-failures.ts';
import type {
  openidAttemptColumns,
  sessionOriginColumns,
  tokenMakerColumns,
} from './migrations/0005-admin-access.ts';
import type {
  adminAccountColumns,
  adminSessionColumns,
  adminTokenColumns,
  auditEntryColumns,
} from './migrations/admin-tables.ts';
import type { RowOf } from './migrations/columns.ts';
import type { connectionColumns, listCounterColumns } from './migrations/connection-tables.ts';
import type {
  oauthAssertionColumns,
  oauthClientColumns,
  oauthTokenColumns,
  tokenColumns,
  travelApiKeyColumns,
} from './migrations/credential-tables.ts';
import type { groupColumns, groupMemberColumns } from './migrations/group-tables.ts';
import type {
  departureColumns,
  erasedTravelerColumns,
  holdAlarmColumns,
  rulesChangeColumns,
} from './migrations/hold-tables.ts';
import type {
  identityColumns,
  identityEmailColumns,
  identityReferenceColumns,
} from './migrations/identity-tables.ts';
import type {
  backgroundTaskColumns,
  mappingVersionColumns,
  replicaColumns,
  rulesInForceColumns,
} from './migrations/replica-tables.ts';
import type {
  travelCountColumns,
  travelIndexColumns,
  travelReferenceColumns,
  travelResourceColumns,
  travelTurnColumns,
  travelUniqueColumns,
} from './migrations/travel-tables.ts';
import type {
  travelDeliveryColumns,
  travelDeliveryQueueColumns,
  travelSecretColumns,
} from './migrations/webhook-tables.ts';

/**
 * All tables; the migrations declare their columns. Times are epoch milliseconds, booleans are 0 or 1, JSON is text. Tables of the
 * bridge and of the travel service do not refer to each other. Keys of the bridge's tables begin with the travel account and the
 * connection, see `Scope`.
 */
export interface Tables extends RequestLogTables, ExchangeTables {
  connection: Omit<RowOf<typeof connectionColumns & typeof connectionModeColumns>, 'mode'> & {
    mode: Generated<'live' | 'paused'>;
  };
  database_record: RowOf<typeof databaseRecordColumns>;
  list_counter: Omit<RowOf<typeof listCounterColumns>, 'kind'> & { kind: CounterKind };
  token: RowOf<typeof tokenColumns>;
  identity: IdentityTable;
  identity_email: RowOf<typeof identityEmailColumns>;
  identity_reference: RowOf<typeof identityReferenceColumns>;
  scim_group: RowOf<typeof groupColumns>;
  group_member: RowOf<typeof groupMemberColumns>;
  departure: RowOf<typeof departureColumns>;
  rules_change: RowOf<typeof rulesChangeColumns>;
  hold_alarm: RowOf<typeof holdAlarmColumns>;
  erased_traveler: RowOf<typeof erasedTravelerColumns>;
  rules_in_force: RulesInForceTable;
  mapping_version: Omit<RowOf<typeof mappingVersionColumns>, 'source'> & { source: MappingSource };
  background_task: RowOf<typeof backgroundTaskColumns>;
  replica: RowOf<typeof replicaColumns>;
  oauth_client: RowOf<typeof oauthClientColumns>;
  oauth_token: RowOf<typeof oauthTokenColumns>;
  oauth_assertion: RowOf<typeof oauthAssertionColumns>;
  travel_resource: RowOf<typeof travelResourceColumns>;
  travel_index: RowOf<typeof travelIndexColumns>;
  travel_unique: RowOf<typeof travelUniqueColumns>;
  travel_reference: RowOf<typeof travelReferenceColumns>;
  travel_turn: RowOf<typeof travelTurnColumns>;
  travel_count: RowOf<typeof travelCountColumns>;
  travel_api_key: RowOf<typeof travelApiKeyColumns>;
  travel_secret: RowOf<typeof travelSecretColumns>;
  travel_delivery: RowOf<typeof travelDeliveryColumns>;
  travel_delivery_queue: RowOf<typeof travelDeliveryQueueColumns>;
  admin_account: RowOf<typeof adminAccountColumns>;
  admin_session: RowOf<typeof adminSessionColumns & typeof sessionOriginColumns>;
  admin_token: RowOf<typeof adminTokenColumns & typeof tokenMakerColumns>;
  audit_entry: RowOf<typeof auditEntryColumns>;
  openid_attempt: RowOf<typeof openidAttemptColumns>;
  sign_in_failure: RowOf<typeof signInFailureColumns>;
}

export type IdentityTable = RowOf<typeof identityColumns>;

export type RulesInForceTable = Omit<RowOf<typeof rulesInForceColumns>, 'source'> & { source: MappingSource };

/**
 * The rows that are counted. `live`: live identities; `unclaimed`: those of them that no IdP has written; `dead`: tombstones;
 * `group`: groups.
 */
type CounterKind = 'live' | 'unclaimed' | 'dead' | 'group';

type MappingSource = 'file' | 'command' | 'default';

/** The table of the request log. Times are epoch milliseconds. */
export interface RequestLogTables {
  request_log: RequestLogTable;
}

/** A request to the travel service. */
export interface RequestLogTable {
  /** A number that follows the order of insertion. */
  seq: number;
  time: number;
  ms: number;
  method: string;
  path: string;
  /** The path in the form that is searched: without query, lower case, and truncated. */
  place: string;
  status: number;
  user_id: string | null;
  credential: string | null;
  request_id: string;
  request_body: string | null;
  /** 1 if the body was longer than the stored part. */
  request_cut: number;
  response_body: string | null;
  response_cut: number;
}

/** The tables of the log of exchanges. */
export interface ExchangeTables {
  exchange_segment: ExchangeSegmentTable;
  exchange_person: ExchangePersonTable;
}

/** Exchanges of a connection that were written together. */
export interface ExchangeSegmentTable {
  /** The position of its last exchange; the others have those before it. */
  last: number;
  /** Empty for requests without a valid token. */
  connection_id: string;
  /** The number of exchanges, erased ones included. */
  count: number;
  /** The earliest and the latest time at which one of the exchanges began. */
  began_at: number;
  ended_at: number;
  /** The exchanges, compressed and encrypted, in base64. */
  entries: string;
  /** Their bodies, compressed and encrypted, apart from them: lists do not read bodies. Null if none is kept. */
  bodies: string | null;
}

/** A segment with an exchange about a person, other than a SCIM read that succeeded. */
interface ExchangePersonTable {
  person: string;
  last: number;
}
