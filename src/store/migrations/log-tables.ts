import type { TableDeclarations } from './columns.ts';

/** The log of exchanges, and the audit log of what admins change. */
export const logTables = {
  /** A request and its response. */
  exchange: {
    columns: {
      /** A number that follows the order of the commits. */
      position: 'bigint',
      at: 'bigint',
      ms: 'double',
      direction: 'ordered text',
      /** Empty for requests without a valid token, and to the embedded travel service. */
      connection_id: 'ordered text',
      /** A SCIM id. */
      person: 'ordered text?',
      /** The key of the name for which the request searches: an address, a userName or an id. */
      sought: 'ordered text?',
      /** The caller in the embedded travel service. */
      user_id: 'ordered text?',
      credential: 'text?',
      request_id: 'ordered text?',
      method: 'ordered text',
      /** With the query. */
      path: 'ordered text',
      status: 'integer?',
      error: 'text?',
      /** Headers and body as JSON. */
      request: 'text',
      response: 'text',
    },
    constraints: ['primary key (position)'],
    indexes: {
      time: 'at',
      about_person: { columns: 'person, position', where: 'person is not null' },
      search: { columns: 'sought, position', where: 'sought is not null' },
      request: { columns: 'request_id', where: 'request_id is not null' },
    },
  },
  /** A change that an admin made. */
  audit_entry: {
    columns: {
      /** A number that follows the order of commits. */
      position: 'bigint',
      at: 'bigint',
      actor: 'ordered text',
      actor_kind: 'text',
      address: 'text',
      action: 'ordered text',
      /** JSON. */
      details: 'text',
      /** Null until the response was sent. */
      status: 'integer?',
    },
    constraints: ['primary key (position)'],
    indexes: {
      at: 'at',
      actor: { columns: 'actor', where: "actor_kind <> 'nobody'" },
      action: 'action, position',
    },
  },
} as const satisfies TableDeclarations;
