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
