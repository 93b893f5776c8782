import type { Generated } from 'kysely';
import type { ExchangeDirection } from '../log/exchange.ts';
import type { AdminTables } from './admin-table-types.ts';
import type { TravelTables, WebhookTables } from './travel-table-types.ts';

/** All tables. Tables of the bridge and of the travel service do not refer to each other. */
export interface Tables
  extends AdminTables,
    BridgeTables,
    ReplicaTables,
    TravelTables,
    OAuthTables,
    ExchangeTables,
    WebhookTables {}

/**
 * The tables of the bridge. Times are epoch milliseconds, booleans are 0 or 1, JSON is text. Keys begin with the travel
 * account and the connection, see `Scope`.
 */
export interface BridgeTables {
  connection: ConnectionTable;
  database_record: DatabaseRecordTable;
  list_counter: ListCounterTable;
  token: TokenTable;
  identity: IdentityTable;
  identity_email: IdentityEmailTable;
  identity_reference: IdentityReferenceTable;
  scim_group: GroupTable;
  group_member: GroupMemberTable;
  departure: DepartureTable;
  rules_change: RulesChangeTable;
  hold_alarm: HoldAlarmTable;
  erased_traveler: ErasedTravelerTable;
}

interface ConnectionTable {
  account: string;
  id: string;
  /** The log of exchanges holds bodies of reads until that time. */
  read_bodies_until: number | null;
  /** In the mode `paused`, the bridge plans and sends nothing by itself. */
  mode: Generated<'live' | 'paused'>;
  /** The start of the pause, in epoch milliseconds; null unless the connection is paused. */
  paused_at: number | null;
}

/** One row about the database itself, by which an older state of it is recognised. */
interface DatabaseRecordTable {
  id: number;
  /** Made with the database. A copy keeps it, an empty database has another one. */
  database_id: string;
  /** Grows with the writes of IdPs, at most a second after them. */
  writes: number;
  /** The last time at which a server that used the database recorded itself, by `Runtime.now`. */
  alive_at: number;
}

/**
 * Row counts of a connection, updated in the transaction that inserts or deletes rows. The sum over all slots is the
 * count; a single slot may be negative.
 */
interface ListCounterTable {
  account: string;
  connection_id: string;
  /**
   * The rows that are counted. `live`: live identities; `unclaimed`: those of them that no IdP has written; `dead`: tombstones;
   * `group`: groups.
   */
  kind: 'live' | 'unclaimed' | 'dead' | 'group';
  slot: number;
  count: number;
  /** The number of live identities that are active. */
  active: number;
}

interface TokenTable {
  id: string;
  hash: string;
  name: string;
  account: string;
  connection_id: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** An identity. Every searchable part has its own column besides the JSON that contains it. */
export interface IdentityTable {
  account: string;
  connection_id: string;
  id: string;
  desired: string;
  user_name_key: string | null;
  external_id: string | null;
  display_name_key: string | null;
  active: 0 | 1;
  /** JSON list of the extension URNs in `desired`; null if not known. */
  extensions: string | null;
  incomplete: 0 | 1;
  /** The position in the stable order of lists. Assigned at the insert and never changed. */
  position: number;
  claimed: 0 | 1;
  state: string;
  version: number;
  revision: number;
  /** The generation of the rules; 0 if the identity was never translated. */
  rules_generation: number;
  travel_id: string | null;
  applied: string;
  refused: string;
  observed: string | null;
  travel_email_key: string | null;
  creating: string | null;
  creating_key: string | null;
  waiting_for: string | null;
  progress: string;
  /** Time of the next check for late calls; 0 for none. */
  check_at: number;
  origin: string;
  hold_cause: string | null;
  hold_since: number | null;
  /** An admin's decision as JSON; empty if there is none. */
  decision: string;
  findings: string;
  /** The codes of the findings, each once, sorted, with a space between two: people are counted by it in an index alone. */
  finding_codes: string;
  trace: string;
  lease_token: string | null;
  lease_until: number | null;
  attempts: number;
  /** 0 if the attempt is due at once. Not null, because databases sort nulls differently. */
  next_attempt_at: number;
  created_at: number;
  last_modified: number;
  deleted_at: number | null;
  /** The time at which an import last listed the traveler or an IdP last wrote the identity, by `Runtime.now`; 0 if never. */
  seen_at: number;
}

interface IdentityEmailTable {
  account: string;
  connection_id: string;
  identity_id: string;
  email_key: string;
}

interface IdentityReferenceTable {
  account: string;
  connection_id: string;
  identity_id: string;
  position: number;
  raw: string;
  raw_key: string;
  target: string | null;
  travel_id: string | null;
}

interface GroupTable {
  account: string;
  connection_id: string;
  id: string;
  attributes: string;
  display_name_key: string | null;
  external_id: string | null;
  /** The position in the stable order of lists. */
  position: number;
  version: number;
  created_at: number;
  last_modified: number;
}

interface GroupMemberTable {
  account: string;
  connection_id: string;
  group_id: string;
  value: string;
  display: string | null;
  type: string | null;
  position: number;
}

/** A deactivation or deletion that the safety valve counted within its window. */
interface DepartureTable {
  account: string;
  connection_id: string;
  /** The id of the traveler, by which a person counts once whatever SCIM ids they had; without a traveler, the SCIM id. */
  identity_id: string;
  at: number;
}

/** The change of rules or lookups that was checked last. */
interface RulesChangeTable {
  account: string;
  connection_id: string;
  generation: number;
  /** The number of people whom the change affects; counting stops at a limit. */
  people: number;
  since: number;
  /** An admin's answer; null until there is one. */
  answer: string | null;
  /** JSON list of the people whom recent approved changes affected, each with the time of the change. */
  recent: string;
}

/** The tables through which the replicas of a service coordinate. */
interface ReplicaTables {
  rules_in_force: RulesInForceTable;
  mapping_version: MappingVersionTable;
  background_task: BackgroundTaskTable;
  replica: ReplicaTable;
}

/** The mapping and lookups in force of a connection. */
export interface RulesInForceTable extends Omit<MappingVersionTable, 'applied_at' | 'author'> {
  /** The time at which a replica last had a mapping file with this content, or used the mapping without a file. */
  file_seen_at: number;
  /** JSON of the lookups; null until they have been read. */
  lookups: string | null;
}

/** A mapping that was in force since a generation. Mappings are JSON. */
interface MappingVersionTable {
  account: string;
  connection_id: string;
  generation: number;
  edition: number;
  digest: string;
  source: 'file' | 'command' | 'default';
  applied_at: number;
  author: string | null;
  mapping: string;
}

/** Background work of a connection, which one replica at a time does. */
interface BackgroundTaskTable {
  account: string;
  connection_id: string;
  kind: string;
  due_at: number;
  /** True if the work must be done once more, however recently it was done. */
  requested: 0 | 1;
  lease_token: string | null;
  lease_until: number | null;
  /** JSON that the last run has saved; empty before the first one. */
  state: string;
}

interface ReplicaTable {
  id: string;
  seen_at: number;
  /** JSON of the names of the connections that the replica serves. */
  connections: string;
}

/** A hold that was reported to the operator. */
interface HoldAlarmTable {
  account: string;
  connection_id: string;
  cause: string;
  count: number;
  since: number;
  reported_at: number;
}

/** A traveler of an erased person. Imports skip it, and no identity is linked to it. */
interface ErasedTravelerTable {
  account: string;
  /** SHA-256 of the account and the travel id. */
  hash: string;
  erased_at: number;
}

/** The tables of OAuth: clients, access tokens, and used assertions. */
export interface OAuthTables {
  oauth_client: OAuthClientTable;
  oauth_token: OAuthTokenTable;
  oauth_assertion: OAuthAssertionTable;
}

/** A client. Exactly one of the three proofs is set, and either the connection or the user. */
interface OAuthClientTable {
  id: string;
  name: string;
  secret_hash: string | null;
  jwks: string | null;
  jwks_uri: string | null;
  account: string | null;
  connection_id: string | null;
  user_type: string | null;
  user_id: string | null;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** An access token, of which only the hash is stored. */
interface OAuthTokenTable {
  hash: string;
  client_id: string;
  expires_at: number;
}

/** An assertion that was used. `used` is a hash that distinguishes it from other assertions of its client. */
interface OAuthAssertionTable {
  client_id: string;
  used: string;
  expires_at: number;
}

/** The tables of the log of exchanges. */
export interface ExchangeTables {
  exchange: ExchangeTable;
  exchange_name: ExchangeNameTable;
}

/** A request and its response. Query, headers and bodies are encrypted, all else is searched. */
export interface ExchangeTable {
  /** A number that follows the order of the commits. */
  position: number;
  at: number;
  ms: number;
  direction: ExchangeDirection;
  /** Empty for requests without a valid token, and to the embedded travel service. */
  connection_id: string;
  /** A SCIM id. */
  person: string | null;
  /** The caller in the embedded travel service. */
  user_id: string | null;
  credential: string | null;
  request_id: string | null;
  method: string;
  /** Without the query. */
  path: string;
  status: number | null;
  error: string | null;
  /** The id of the key that encrypts the content. */
  key_id: string;
  content: string;
}

/** A name of a person in an exchange: an id, a userName or an address. */
export interface ExchangeNameTable {
  position: number;
  /** A keyed hash. */
  name: string;
  /** 1: the path or query asks for the name. 0: a body has it. */
  asked: number;
}
