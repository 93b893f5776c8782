/** Every table; the bridge's and the travel service's know nothing of each other. */
export interface Tables extends BridgeTables, TravelTables, OAuthTables, RequestLogTables, WebhookTables {}

/** Every table of the bridge. Times are epoch milliseconds, booleans 0 or 1, JSON is text. */
export interface BridgeTables {
  connection: ConnectionTable;
  tally: TallyTable;
  token: TokenTable;
  identity: IdentityTable;
  identity_block: IdentityBlockTable;
  identity_email: IdentityEmailTable;
  identity_reference: IdentityReferenceTable;
  scim_group: GroupTable;
  group_member: GroupMemberTable;
  departure: DepartureTable;
  rules_change: RulesChangeTable;
  erased_traveler: ErasedTravelerTable;
}

interface ConnectionTable {
  id: string;
  account: string;
}

/** How many rows of a kind a connection has, kept in the transaction that adds or removes them. */
interface TallyTable {
  connection_id: string;
  /** Identities that are `live`, tombstones (`dead`), and groups. */
  kind: 'live' | 'dead' | 'group';
  count: number;
  /** Of the live ones, those that are active. */
  active: number;
  /** The last position in the stable order that was given away, of groups or, under `live`, of identities. */
  last: number;
}

interface TokenTable {
  id: string;
  hash: string;
  name: string;
  connection_id: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

/** An identity. Each part that is searched for stands in a column of its own beside the JSON that it comes from. */
export interface IdentityTable {
  connection_id: string;
  id: string;
  /** The connection's travel account, for what is unique or searched across connections. */
  account: string;
  desired: string;
  user_name_key: string | null;
  external_id: string | null;
  display_name_key: string | null;
  active: 0 | 1;
  /** JSON text of the list of extensions in `desired`; null: not known. */
  extensions: string | null;
  incomplete: 0 | 1;
  /** The stable key of lists: given when it is inserted, and fixed, so that a list never reorders. */
  position: number;
  claimed: 0 | 1;
  state: string;
  version: number;
  revision: number;
  /** Empty when it was never translated. */
  rules_version: string;
  travel_id: string | null;
  applied: string;
  refused: string;
  observed: string | null;
  travel_email_key: string | null;
  creating: string | null;
  creating_key: string | null;
  waiting_for: string | null;
  progress: string;
  /** When a late call must be looked for; 0 for never. */
  check_at: number;
  origin: string;
  hold_cause: string | null;
  hold_since: number | null;
  /** Empty while no admin has decided. */
  decision: string;
  findings: string;
  trace: string;
  lease_token: string | null;
  lease_until: number | null;
  attempts: number;
  /** 0 means at once: databases do not agree where nulls sort. */
  next_attempt_at: number;
  created_at: number;
  last_modified: number;
  deleted_at: number | null;
  /** When an import last saw its traveler, or an IdP last wrote it, by `Runtime.now`; 0 for never. */
  seen_at: number;
}

/** How many identities live, and how many of them are active, of 1,024 positions. */
interface IdentityBlockTable {
  connection_id: string;
  /** The position divided by 1,024. */
  block: number;
  live: number;
  active: number;
}

interface IdentityEmailTable {
  connection_id: string;
  identity_id: string;
  email_key: string;
}

interface IdentityReferenceTable {
  connection_id: string;
  identity_id: string;
  position: number;
  raw: string;
  raw_key: string;
  target: string | null;
  travel_id: string | null;
}

interface GroupTable {
  connection_id: string;
  id: string;
  attributes: string;
  display_name_key: string | null;
  external_id: string | null;
  /** The stable key of lists. */
  position: number;
  version: number;
  created_at: number;
  last_modified: number;
}

interface GroupMemberTable {
  connection_id: string;
  group_id: string;
  value: string;
  display: string | null;
  type: string | null;
  position: number;
}

/** A person whose archive or deletion the safety valve let pass, within its window. */
interface DepartureTable {
  connection_id: string;
  identity_id: string;
  at: number;
}

/** The change of rules or lookups that was judged last. */
interface RulesChangeTable {
  connection_id: string;
  version: string;
  /** How many people it would change, as far as they were counted. */
  people: number;
  since: number;
  /** Null while an admin must decide. */
  answer: string | null;
}

/** A traveler of a person who was erased: imports and links pass them over. */
interface ErasedTravelerTable {
  account: string;
  /** SHA-256 of the account and the travel id. */
  hash: string;
  erased_at: number;
}

/** The travel service's tables: every resource is a row with a document; what is searched, unique or referred to are rows beside it. */
export interface TravelTables {
  travel_resource: TravelResourceTable;
  travel_index: TravelIndexTable;
  travel_unique: TravelUniqueTable;
  travel_reference: TravelReferenceTable;
  travel_turn: TravelTurnTable;
  travel_count: TravelCountTable;
  travel_block: TravelBlockTable;
  travel_api_key: TravelApiKeyTable;
}

/** One resource. `parent_id` is '' where its type has no parent; `seq` orders what was created in the same second. */
interface TravelResourceTable {
  type: string;
  id: string;
  parent_id: string;
  created_at: number;
  seq: number;
  archived: number;
  doc: string;
}

/** The columns of a resource without its document: what index, counters and references of the resource need. */
export type TravelRow = Omit<TravelResourceTable, 'doc'>;

/** A value that a resource is found or sorted by, with what its pages need, so that one index answers them. */
interface TravelIndexTable {
  type: string;
  id: string;
  name: string;
  value: string;
  archived: number;
  seq: number;
  /** What is paged by it; null: it is only looked up. */
  list: 'sorted' | 'counted' | null;
}

/** A value that only one resource of its type may have. */
interface TravelUniqueTable {
  type: string;
  name: string;
  value: string;
  id: string;
}

/** Who refers to whom. */
interface TravelReferenceTable {
  from_type: string;
  from_id: string;
  to_type: string;
  to_id: string;
}

/** The writes of one type take turns on its row, which also hands out the sequence. */
interface TravelTurnTable {
  type: string;
  seq: number;
}

/**
 * How many there are, kept in the transaction of each write: lists tell an exact total without counting. `parent_id`
 * names the list: the parent of the collection, or a counted index.
 */
interface TravelCountTable {
  type: string;
  parent_id: string;
  archived: number;
  count: number;
}

/**
 * A long list is cut into blocks, each of all that stands from its first place on up to the next block's, so that a
 * page far in is found without passing by all before it. `list` is an index, or `=` and the parent in order of creation.
 */
interface TravelBlockTable {
  type: string;
  list: string;
  /** The place, as text of one length for a time of creation. */
  value: string;
  seq: number;
  /** How many are in it, by whether they are archived. */
  others: number;
  archived: number;
}

/** An API key: its hash only, and the user on whose behalf it acts. */
interface TravelApiKeyTable {
  hash: string;
  name: string;
  user_type: string;
  user_id: string;
  created_at: number;
  id: string;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** The tables of webhooks; the webhooks themselves are resources. Times are epoch milliseconds. */
export interface WebhookTables {
  travel_secret: TravelSecretTable;
  travel_delivery: TravelDeliveryTable;
  travel_delivery_queue: TravelDeliveryQueueTable;
}

/** A secret of a resource, encrypted. It goes with its resource. */
interface TravelSecretTable {
  type: string;
  id: string;
  sealed: string;
  /** When it ends, as another has replaced it; null: it is the one of today. */
  until: number | null;
}

/** An event on its way to a webhook, and what became of it. */
export interface TravelDeliveryTable {
  id: string;
  webhook_id: string;
  /** From the sequence of the events, so that it tells their order. */
  seq: number;
  event_id: string;
  kind: string;
  created_at: number;
  /** 1: asked for by somebody, and in no order with the others. */
  redelivery: number;
  status: string;
  /** JSON, the oldest first. */
  attempts: string;
  /** Null: it is not tried any more. */
  next_attempt_at: number | null;
}

/** The deliveries of one webhook as a whole: how many are in each state, and who works on them. */
export interface TravelDeliveryQueueTable {
  webhook_id: string;
  pending: number;
  succeeded: number;
  failed: number;
  canceled: number;
  /** The first failure since the last success. */
  failing_since: number | null;
  lease_token: string | null;
  /** Once nobody holds the lease: when it was given back. */
  lease_until: number | null;
}

/** The tables of OAuth: who may ask for tokens, which were handed out, and which assertions were used. */
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
  connection_id: string | null;
  user_type: string | null;
  user_id: string | null;
  created_at: number;
  revoked_at: number | null;
}

/** An access token: its hash only. */
interface OAuthTokenTable {
  hash: string;
  client_id: string;
  expires_at: number;
}

/** An assertion that was used; `used` is a hash of what makes it another than the rest of its client's. */
interface OAuthAssertionTable {
  client_id: string;
  used: string;
  expires_at: number;
}

/** The request log's table. Times are epoch milliseconds. */
export interface RequestLogTables {
  request_log: RequestLogTable;
}

/** One request to the travel service. */
export interface RequestLogTable {
  /** In the order in which they were kept. */
  seq: number;
  time: number;
  ms: number;
  method: string;
  path: string;
  /** The path as it is searched: without its query, folded, and no longer than is useful. */
  place: string;
  status: number;
  user_id: string | null;
  credential: string | null;
  request_id: string;
  request_body: string | null;
  /** 1: the body was longer than what is kept of it. */
  request_cut: number;
  response_body: string | null;
  response_cut: number;
}
