import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

const ofIdentity = `foreign key (account, connection_id, identity_id) references identity (account, connection_id, id)
  on delete cascade on update cascade`;

/** Identities, their email addresses, and their references to each other. */
export const identityTables = {
  /**
   * An identity. Every searchable part has its own column besides the JSON that contains it. The wide columns, which only the
   * reconciler reads, are the last ones: SQLite reads a row from its beginning, page by page.
   */
  identity: {
    columns: {
      ...scopeKey,
      id: 'ordered text',
      /** The position in the stable order of lists. Assigned at the insert and never changed. */
      position: 'bigint',
      user_name_key: 'ordered text?',
      external_id: 'ordered text?',
      display_name_key: 'ordered text?',
      active: 'flag = 0',
      incomplete: 'flag',
      claimed: 'flag',
      state: 'ordered text',
      version: 'integer',
      revision: 'integer',
      /** The generation of the rules; 0 if the identity was never translated. */
      rules_generation: 'bigint',
      travel_id: 'ordered text?',
      travel_email_key: 'ordered text?',
      /** The create that will be sent, or whose outcome is not known, as JSON. */
      creating: 'text?',
      creating_key: 'ordered text?',
      waiting_for: 'ordered text?',
      /** The time of the next read of the traveler; 0 for none. */
      check_at: 'bigint = 0',
      hold_cause: 'ordered text?',
      hold_since: 'bigint?',
      /** An admin's decision as JSON; empty if there is none. */
      decision: "text = ''",
      /** The time of the last decision about this person; null if there was none. */
      decided_at: 'bigint?',
      lease_token: 'text?',
      lease_until: 'bigint?',
      attempts: 'integer',
      /** 0 if the attempt is due at once. Not null, because databases sort nulls differently. */
      next_attempt_at: 'bigint',
      created_at: 'bigint',
      last_modified: 'bigint',
      deleted_at: 'bigint?',
      /** The time at which an import last listed the traveler or an IdP last wrote the identity, by `Runtime.now`; 0 if never. */
      seen_at: 'bigint',
      /** The codes of the findings, each once, sorted, with a space between two: people are counted by it in an index alone. */
      finding_codes: "ordered text = ''",
      /** JSON list of the extension URNs in `desired`; null if not known. */
      extensions: 'text?',
      desired: 'text',
      progress: "text = '{}'",
      origin: "text = '{}'",
      applied: "text = '{}'",
      read_again_at: 'bigint?',
      refused: "text = '{}'",
      observed: 'text?',
      findings: "text = '[]'",
      trace: "text = '[]'",
    },
    constraints: [`primary key (${SCOPE}, id)`, ofConnection],
    indexes: {
      // Unique values. An account has each traveler and each open create once, across its connections.
      live_user_name: { columns: `${SCOPE}, user_name_key`, unique: true, where: 'deleted_at is null' },
      // `travel_id` and `travel_email` have the connection last, because some searches are for all connections of the account.
      travel_id: {
        columns: 'account, travel_id, connection_id',
        unique: true,
        where: 'travel_id is not null',
      },
      link: { columns: 'account, travel_id', unique: true, where: 'claimed = 1 and travel_id is not null' },
      creating: { columns: 'account, creating_key', unique: true, where: 'creating_key is not null' },

      // Lookups. Those of userName and externalId include tombstones, because a deleted user may return.
      // They serve lists, too.
      user_name: `${SCOPE}, user_name_key, id, active, deleted_at`,
      external_id: `${SCOPE}, external_id, id, active, deleted_at`,
      travel_email: {
        columns: 'account, travel_email_key, connection_id',
        where: 'travel_email_key is not null',
      },
      waiting: { columns: 'account, waiting_for', where: 'waiting_for is not null' },

      // Lists: the column that is compared or sorted, the id, and the rest of what a walk along the index reads, so that a
      // skipped row is not read. SQLite reads `deleted_at` from the row if the index does not contain it.
      page: { columns: `${SCOPE}, position, id, active, deleted_at`, where: 'deleted_at is null' },
      id: { columns: `${SCOPE}, id, active, deleted_at`, where: 'deleted_at is null' },
      display_name: {
        columns: `${SCOPE}, display_name_key, id, active, deleted_at`,
        where: 'deleted_at is null',
      },
      created: { columns: `${SCOPE}, created_at, id, active, deleted_at`, where: 'deleted_at is null' },
      // With deleted people, who are listed for admins along it (docs/decisions/0059).
      last_modified: `${SCOPE}, last_modified, id, active, deleted_at`,

      // Lists of people for admins, in the order of userNames. Most people are in none of these indexes.
      archived: { columns: `${SCOPE}, user_name_key, id`, where: '(active = 0 or deleted_at is not null)' },
      with_findings: { columns: `${SCOPE}, user_name_key, id`, where: "finding_codes <> ''" },
      // By it people are counted.
      finding_codes: { columns: `${SCOPE}, deleted_at, finding_codes`, where: "finding_codes <> ''" },
      // The people in one state. Each state has an index of its own, because both databases then see which rows it contains. Dirty people have
      // none: each write makes a person dirty for a moment, and would write the index twice.
      in_state_pending: { columns: `${SCOPE}, user_name_key, id`, where: "state = 'pending'" },
      in_state_refused: { columns: `${SCOPE}, user_name_key, id`, where: "state = 'refused'" },
      in_state_held: { columns: `${SCOPE}, user_name_key, id`, where: "state = 'held'" },

      // Queues of the reconciler. Deactivations have their own, so that other identities do not delay them. The index of all
      // dirty identities also counts those in other states, and has the columns that the overview counts. Both begin with the
      // same columns, so that SQLite prefers the one with fewer rows.
      unsettled: {
        columns: `${SCOPE}, state, next_attempt_at, attempts, last_modified, deleted_at, claimed`,
        where: "state <> 'synced'",
      },
      leaver: {
        columns: `${SCOPE}, state, next_attempt_at`,
        where: "state = 'dirty' and (active = 0 or deleted_at is not null)",
      },
      check: { columns: `${SCOPE}, check_at`, where: 'check_at > 0' },
      // With dirty people, too: a plan that waits for another mode of the connection becomes old with the rules.
      rules: { columns: `${SCOPE}, rules_generation`, where: 'claimed = 1' },
      open: { columns: `${SCOPE}, waiting_for`, where: 'waiting_for is not null' },
      // With the columns that decide whether a person is counted: an active one may be held because of the scope of the mapping.
      held: {
        columns: `${SCOPE}, hold_cause, hold_since, active, deleted_at, travel_id, decision, version, state`,
        where: 'hold_cause is not null',
      },
      leased: { columns: SCOPE, where: 'lease_until is not null' },

      // Imports find what they have not seen; tombstones expire by age.
      seen: `${SCOPE}, seen_at`,
      tombstones: { columns: `${SCOPE}, deleted_at`, where: 'deleted_at is not null' },

      // The people about whom an admin has decided, with their findings, and those of one decision. After the others: of indexes that SQLite
      // estimates alike, it uses the one that was created last.
      decided: { columns: `${SCOPE}, finding_codes`, where: "decision <> ''" },
      decided_at: { columns: `${SCOPE}, decided_at, state, id`, where: 'decided_at is not null' },
    },
  },
  identity_email: {
    columns: {
      ...scopeKey,
      identity_id: 'ordered text',
      email_key: 'ordered text',
    },
    constraints: [`primary key (${SCOPE}, email_key, identity_id)`, ofIdentity],
    isKeyOnly: true,
    indexes: { identity_id: `${SCOPE}, identity_id, email_key` },
  },
  identity_reference: {
    columns: {
      ...scopeKey,
      identity_id: 'ordered text',
      position: 'integer',
      raw: 'text',
      raw_key: 'ordered text',
      target: 'ordered text?',
      travel_id: 'ordered text?',
    },
    constraints: [`primary key (${SCOPE}, identity_id, position)`, ofIdentity],
    isKeyOnly: true,
    // The indexes end with the identity, so that a search for referrers reads no table row.
    indexes: {
      raw_key: `${SCOPE}, raw_key, identity_id`,
      target: `${SCOPE}, target, identity_id`,
    },
  },
} as const satisfies TableDeclarations;
