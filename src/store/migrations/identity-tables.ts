import type { ColumnTypes } from './column-types.ts';

/** Identities, their email addresses, and their references to each other. */
export function identityTables(types: ColumnTypes): string[] {
  return [
    identityTable(types),
    ...identityIndexes.map(
      ({ name, columns, unique, where }) =>
        `create ${unique ? 'unique ' : ''}index identity_${name} on identity (${columns})${where ? ` where ${where}` : ''}`,
    ),
    ...emailTable(types),
    ...referenceTable(types),
  ];
}

/**
 * The wide columns, which only the reconciler reads, are the last ones: SQLite reads a row from its beginning, page by
 * page.
 */
function identityTable({ orderedText, bigint }: ColumnTypes): string {
  return `create table identity (
    account ${orderedText} not null,
    connection_id ${orderedText} not null,
    id ${orderedText} not null,
    position ${bigint} not null,
    user_name_key ${orderedText},
    external_id ${orderedText},
    display_name_key ${orderedText},
    active integer not null default 0,
    incomplete integer not null,
    claimed integer not null,
    state ${orderedText} not null,
    version integer not null,
    revision integer not null,
    rules_generation ${bigint} not null,
    travel_id ${orderedText},
    travel_email_key ${orderedText},
    creating text,
    creating_key ${orderedText},
    waiting_for ${orderedText},
    check_at ${bigint} not null default 0,
    hold_cause ${orderedText},
    hold_since ${bigint},
    decision text not null default '',
    lease_token text,
    lease_until ${bigint},
    attempts integer not null,
    next_attempt_at ${bigint} not null,
    created_at ${bigint} not null,
    last_modified ${bigint} not null,
    deleted_at ${bigint},
    seen_at ${bigint} not null,
    finding_codes ${orderedText} not null default '',
    extensions text,
    desired text not null,
    progress text not null default '{}',
    origin text not null default '{}',
    applied text not null default '{}',
    refused text not null default '{}',
    observed text,
    findings text not null default '[]',
    trace text not null default '[]',
    primary key (account, connection_id, id),
    foreign key (account, connection_id) references connection (account, id) on update cascade
  )`;
}

interface Index {
  name: string;
  columns: string;
  unique?: true;
  /** Only these rows are in the index: a queue costs nothing for identities that are not in it. */
  where?: string;
}

const identityIndexes: Index[] = [
  // Unique values. An account has each traveler and each open create once, across its connections.
  {
    name: 'live_user_name',
    columns: 'account, connection_id, user_name_key',
    unique: true,
    where: 'deleted_at is null',
  },
  // `travel_id` and `travel_email` have the connection last, because some searches are for all connections of the account.
  {
    name: 'travel_id',
    columns: 'account, travel_id, connection_id',
    unique: true,
    where: 'travel_id is not null',
  },
  {
    name: 'link',
    columns: 'account, travel_id',
    unique: true,
    where: 'claimed = 1 and travel_id is not null',
  },
  { name: 'creating', columns: 'account, creating_key', unique: true, where: 'creating_key is not null' },

  // Lookups. Those of userName and externalId include tombstones, because a deleted user may return.
  // They serve lists, too.
  { name: 'user_name', columns: 'account, connection_id, user_name_key, id, active, deleted_at' },
  { name: 'external_id', columns: 'account, connection_id, external_id, id, active, deleted_at' },
  {
    name: 'travel_email',
    columns: 'account, travel_email_key, connection_id',
    where: 'travel_email_key is not null',
  },
  { name: 'waiting', columns: 'account, waiting_for', where: 'waiting_for is not null' },

  // Lists: the column that is compared or sorted, the id, and the rest of what a walk along the index reads, so that a
  // skipped row is not read. SQLite reads `deleted_at` from the row if the index does not contain it.
  { name: 'page', columns: 'account, connection_id, position, id, deleted_at', where: 'deleted_at is null' },
  {
    name: 'active',
    columns: 'account, connection_id, active, position, id, deleted_at',
    where: 'deleted_at is null',
  },
  { name: 'id', columns: 'account, connection_id, id, active, deleted_at', where: 'deleted_at is null' },
  {
    name: 'display_name',
    columns: 'account, connection_id, display_name_key, id, active, deleted_at',
    where: 'deleted_at is null',
  },
  {
    name: 'created',
    columns: 'account, connection_id, created_at, id, active, deleted_at',
    where: 'deleted_at is null',
  },
  {
    name: 'last_modified',
    columns: 'account, connection_id, last_modified, id, active, deleted_at',
    where: 'deleted_at is null',
  },

  // Lists of people for admins, in the order of userNames. Most people are in none of these indexes.
  {
    name: 'archived',
    columns: 'account, connection_id, user_name_key, id',
    where: '(active = 0 or deleted_at is not null)',
  },
  {
    name: 'with_findings',
    columns: 'account, connection_id, user_name_key, id',
    where: "finding_codes <> ''",
  },
  // By it people are counted.
  {
    name: 'finding_codes',
    columns: 'account, connection_id, deleted_at, finding_codes',
    where: "finding_codes <> ''",
  },
  // The people in one state. Each state has an index of its own, because both databases then see which rows it contains. Dirty people have
  // none: each write makes a person dirty for a moment, and would write the index twice.
  ...['pending', 'refused', 'held'].map((state) => ({
    name: `in_state_${state}`,
    columns: 'account, connection_id, user_name_key, id',
    where: `state = '${state}'`,
  })),

  // Queues of the reconciler. Deactivations have their own, so that other identities do not delay them. The index of all
  // dirty identities also counts those in other states, and has the columns that the overview counts. Both begin with the
  // same columns, so that SQLite prefers the one with fewer rows.
  {
    name: 'unsettled',
    columns: 'account, connection_id, state, next_attempt_at, attempts, last_modified, deleted_at, claimed',
    where: "state <> 'synced'",
  },
  {
    name: 'leaver',
    columns: 'account, connection_id, state, next_attempt_at',
    where: "state = 'dirty' and (active = 0 or deleted_at is not null)",
  },
  { name: 'check', columns: 'account, connection_id, check_at', where: 'check_at > 0' },
  {
    name: 'rules',
    columns: 'account, connection_id, rules_generation',
    where: "claimed = 1 and state <> 'dirty'",
  },
  { name: 'open', columns: 'account, connection_id, waiting_for', where: 'waiting_for is not null' },
  // With the columns that decide whether a person is counted.
  {
    name: 'held',
    columns:
      'account, connection_id, hold_cause, hold_since, active, deleted_at, travel_id, decision, version',
    where: 'hold_cause is not null',
  },
  { name: 'leased', columns: 'account, connection_id', where: 'lease_until is not null' },

  // Imports find what they have not seen, and the repair of times in the future what is later than now; tombstones expire by age.
  { name: 'seen', columns: 'account, connection_id, seen_at' },
  { name: 'tombstones', columns: 'account, connection_id, deleted_at', where: 'deleted_at is not null' },
];

function emailTable({ orderedText, keyOnly }: ColumnTypes): string[] {
  return [
    `create table identity_email (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      identity_id ${orderedText} not null,
      email_key ${orderedText} not null,
      primary key (account, connection_id, email_key, identity_id),
      foreign key (account, connection_id, identity_id) references identity (account, connection_id, id)
        on delete cascade on update cascade
    ) ${keyOnly}`,
    'create index identity_email_identity_id on identity_email (account, connection_id, identity_id, email_key)',
  ];
}

/** The indexes end with the identity, so that a search for referrers reads no table row. */
function referenceTable({ orderedText, keyOnly }: ColumnTypes): string[] {
  return [
    `create table identity_reference (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      identity_id ${orderedText} not null,
      position integer not null,
      raw text not null,
      raw_key ${orderedText} not null,
      target ${orderedText},
      travel_id ${orderedText},
      primary key (account, connection_id, identity_id, position),
      foreign key (account, connection_id, identity_id) references identity (account, connection_id, id)
        on delete cascade on update cascade
    ) ${keyOnly}`,
    'create index identity_reference_raw_key on identity_reference (account, connection_id, raw_key, identity_id)',
    'create index identity_reference_target on identity_reference (account, connection_id, target, identity_id)',
  ];
}
