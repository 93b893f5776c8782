import type { Generated } from 'kysely';
import type { connectionModeColumns, databaseRecordTables } from './migrations/0003-connection-modes.ts';
import type { signInFailureTables } from './migrations/0004-sign-in-failures.ts';
import type {
  openidAttemptTables,
  sessionOriginColumns,
  tokenMakerColumns,
} from './migrations/0005-admin-access.ts';
import type { adminTables } from './migrations/admin-tables.ts';
import type { RowOf, RowsOf } from './migrations/columns.ts';
import type { connectionTables } from './migrations/connection-tables.ts';
import type { credentialTables } from './migrations/credential-tables.ts';
import type { groupTables } from './migrations/group-tables.ts';
import type { holdTables } from './migrations/hold-tables.ts';
import type { identityTables } from './migrations/identity-tables.ts';
import type { replicaTables } from './migrations/replica-tables.ts';
import type { travelTables } from './migrations/travel-tables.ts';
import type { webhookTables } from './migrations/webhook-tables.ts';

/** The columns that the migrations declare. */
type Declared = RowsOf<
  typeof connectionTables &
    typeof identityTables &
    typeof groupTables &
    typeof holdTables &
    typeof replicaTables &
    typeof travelTables &
    typeof webhookTables &
    typeof credentialTables &
    typeof adminTables &
    typeof databaseRecordTables &
    typeof signInFailureTables &
    typeof openidAttemptTables
>;

/** Tables with columns that a later migration has added, or whose values are a closed list. */
interface Refined {
  connection: Declared['connection'] &
    Omit<RowOf<typeof connectionModeColumns>, 'mode'> & { mode: Generated<'live' | 'paused'> };
  list_counter: Omit<Declared['list_counter'], 'kind'> & { kind: CounterKind };
  rules_in_force: Omit<Declared['rules_in_force'], 'source'> & { source: MappingSource };
  mapping_version: Omit<Declared['mapping_version'], 'source'> & { source: MappingSource };
  admin_session: Declared['admin_session'] & RowOf<typeof sessionOriginColumns>;
  admin_token: Declared['admin_token'] & RowOf<typeof tokenMakerColumns>;
}

/**
 * All tables. Times are epoch milliseconds, booleans are 0 or 1, JSON is text. Tables of the bridge and of the travel service do not refer
 * to each other. Keys of the bridge's tables begin with the travel account and the connection, see `Scope`.
 */
export interface Tables extends Omit<Declared, keyof Refined>, Refined, RequestLogTables, ExchangeTables {}

export type IdentityTable = Tables['identity'];

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
