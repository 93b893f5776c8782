import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/** Departures and erased travelers, by which people are held, and the conditions that operators are told. */
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
  /** A condition that was told to the operator or acknowledged by an admin, or that a process has seen by itself; or a kind that is kept quiet. */
  reported_condition: {
    columns: {
      /** Empty for the whole service; `*` for all conditions of a kind that is kept quiet. */
      connection_id: 'ordered text',
      kind: 'ordered text',
      /** Empty if the kind has no subject. */
      subject: 'ordered text',
      /** The number of people when it was told last. */
      people: 'integer',
      since: 'bigint',
      /** Null until it is told. */
      told_at: 'bigint?',
      /** The time at which a process has last seen it by itself; 0 if every process finds it in the database. */
      seen_at: 'bigint',
      /** JSON of what the process knows; empty if every process finds it in the database. */
      fact: 'text',
      /** The admin who knows of it, and the time until which it is not told again. */
      acknowledged_by: 'text?',
      acknowledged_until: 'bigint?',
    },
    constraints: ['primary key (connection_id, kind, subject)'],
  },
  /** A time for which the travel API of a connection could not be used, as far as a process has seen it. */
  travel_outage: {
    columns: { connection_id: 'ordered text', since: 'bigint', ended_at: 'bigint' },
    constraints: ['primary key (connection_id, since)'],
  },
  /** A week whose mail was sent, or is being sent. */
  weekly_mail: {
    columns: {
      /** Its beginning. */
      week: 'bigint',
      /** The id of the mail, which all attempts to send it have. */
      message_id: 'text',
      /** The replica that has claimed it sends it until then. */
      lease_until: 'bigint',
      sent_at: 'bigint?',
    },
    constraints: ['primary key (week)'],
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
