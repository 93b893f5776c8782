import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

export const holdTables = {
  /** A deactivation or deletion that the safety valve counted within its window. */
  departure: {
    columns: {
      ...scopeKey,
      /** The id of the traveler, by which a person counts once whatever SCIM ids they had; without a traveler, the SCIM id. */
      identity_id: 'ordered text',
      at: 'bigint',
    },
    constraints: [`primary key (${SCOPE}, identity_id)`, ofConnection],
    indexes: {
      at: `${SCOPE}, at`,
    },
  },
  /** The change of rules or lookups that was checked last. */
  rules_change: {
    columns: {
      ...scopeKey,
      generation: 'bigint',
      /** The number of people whom the change affects; counting stops at a limit. */
      people: 'integer',
      since: 'bigint',
      /** An admin's answer; null until there is one. */
      answer: 'text?',
      /** JSON list of the people whom recent approved changes affected, each with the time of the change. */
      recent: 'text',
    },
    constraints: [`primary key (${SCOPE})`, ofConnection],
  },
  /** A hold that was reported to the operator. */
  hold_alarm: {
    columns: {
      ...scopeKey,
      cause: 'ordered text',
      count: 'integer',
      since: 'bigint',
      reported_at: 'bigint',
    },
    constraints: [`primary key (${SCOPE}, cause)`, ofConnection],
  },
  /** A traveler of an erased person. Imports skip it, and no identity is linked to it. */
  erased_traveler: {
    columns: {
      account: 'ordered text',
      /** SHA-256 of the account and the travel id. */
      hash: 'ordered text',
      erased_at: 'bigint',
    },
    constraints: ['primary key (account, hash)'],
  },
} as const satisfies TableDeclarations;
