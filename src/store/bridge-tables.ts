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
  /** When an import last saw its traveler, or an IdP last wrote it, by `Surroundings.now`; 0 for never. */
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
