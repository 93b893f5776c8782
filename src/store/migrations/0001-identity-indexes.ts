import { type Kysely, sql } from 'kysely';

/** What identities are found by and unique in, the order of lists, and what waits for something. */
export async function identityIndexes(db: Kysely<unknown>): Promise<void> {
  for (const { name, columns, unique, where } of identity) {
    const create = `create ${unique ? 'unique ' : ''}index identity_${name} on identity (${columns})`;
    await sql.raw(where ? `${create} where ${where}` : create).execute(db);
  }
  for (const { on, columns } of parts) {
    const index = db.schema.createIndex(`identity_${on}_${columns[1]}`).on(`identity_${on}`);
    await index.columns(columns).execute();
  }
}

interface Index {
  name: string;
  columns: string;
  unique?: true;
  /** Only these rows stand in the index: a queue costs nothing for those who are not in it. */
  where?: string;
}

const identity: Index[] = [
  {
    name: 'live_user_name',
    columns: 'connection_id, user_name_key',
    unique: true,
    where: 'deleted_at is null',
  },
  { name: 'travel_id', columns: 'connection_id, travel_id', unique: true },
  { name: 'link', columns: 'account, travel_id', unique: true, where: 'claimed = 1' },
  { name: 'unclaimed', columns: 'account, travel_id', where: 'claimed = 0' },
  // The unique one covers the living only; a return looks among the tombstones too.
  { name: 'user_name', columns: 'connection_id, user_name_key' },
  { name: 'external_id', columns: 'connection_id, external_id', where: 'external_id is not null' },
  {
    name: 'travel_email',
    columns: 'connection_id, travel_email_key',
    where: 'travel_email_key is not null',
  },
  { name: 'link_email', columns: 'account, travel_email_key', where: 'claimed = 1' },
  // With all that the search for a page reads, so that what it skips costs no look at the rows.
  {
    name: 'page',
    columns: 'connection_id, incomplete, created_at, id, deleted_at',
    where: 'deleted_at is null',
  },
  { name: 'due', columns: 'connection_id, next_attempt_at', where: "state = 'dirty'" },
  { name: 'unsettled', columns: 'connection_id, state', where: "state <> 'synced'" },
  {
    name: 'rules',
    columns: 'connection_id, rules_version',
    where: "claimed = 1 and state <> 'dirty'",
  },
  { name: 'leased', columns: 'connection_id', where: 'lease_until is not null' },
  { name: 'creating', columns: 'account, creating_key', unique: true, where: 'creating_key is not null' },
  { name: 'waiting', columns: 'account, waiting_for', where: 'waiting_for is not null' },
  { name: 'open', columns: 'connection_id, waiting_for', where: 'waiting_for is not null' },
  { name: 'seen', columns: 'connection_id, seen_at' },
];

/** Each ends with what is looked for: an index that has it all is taken by every planner. */
const parts = [
  { on: 'email', columns: ['connection_id', 'identity_id', 'email_key'] },
  { on: 'reference', columns: ['connection_id', 'raw_key', 'identity_id'] },
  { on: 'reference', columns: ['connection_id', 'target', 'identity_id'] },
];
