import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

const ofTravelUser =
  'foreign key (user_type, user_id) references travel_resource (type, id) on delete cascade';
const ofClient = 'foreign key (client_id) references oauth_client (id) on delete cascade';

/** Credentials of IdPs and of the travel service, and those of admins with their sessions. */
export const credentialTables = {
  /** A bearer token of an IdP. */
  token: {
    columns: {
      id: 'ordered text',
      hash: 'ordered text',
      name: 'text',
      ...scopeKey,
      created_at: 'bigint',
      expires_at: 'bigint?',
      last_used_at: 'bigint?',
      revoked_at: 'bigint?',
    },
    constraints: ['primary key (id)', 'unique (hash)', ofConnection],
    indexes: {
      connection: SCOPE,
    },
  },
  /** An API key of the travel service: its hash, and the user on whose behalf it acts. */
  travel_api_key: {
    columns: {
      id: 'ordered text',
      hash: 'ordered text',
      name: 'text',
      user_type: 'ordered text',
      user_id: 'ordered text',
      read_only: 'integer',
      created_at: 'bigint',
      last_used_at: 'bigint?',
      revoked_at: 'bigint?',
    },
    constraints: ['primary key (hash)', ofTravelUser],
    indexes: {
      id: { columns: 'id', unique: true },
      user: 'user_type, user_id',
    },
  },
  /** An OAuth client. Exactly one of the three proofs is set, and either the connection or the user. */
  oauth_client: {
    columns: {
      id: 'ordered text',
      name: 'text',
      secret_hash: 'text?',
      jwks: 'text?',
      jwks_uri: 'text?',
      account: 'ordered text?',
      connection_id: 'ordered text?',
      user_type: 'ordered text?',
      user_id: 'ordered text?',
      created_at: 'bigint',
      last_used_at: 'bigint?',
      revoked_at: 'bigint?',
    },
    constraints: ['primary key (id)', ofConnection, ofTravelUser],
    indexes: {
      // The credentials of a connection.
      connection: SCOPE,
      user: 'user_type, user_id',
    },
  },
  /** An access token, of which only the hash is stored. It has a client, or a connection with the federation that it was given for. */
  oauth_token: {
    columns: {
      hash: 'ordered text',
      client_id: 'ordered text?',
      account: 'ordered text?',
      connection_id: 'ordered text?',
      federation: 'text?',
      expires_at: 'bigint',
    },
    constraints: ['primary key (hash)', ofClient, ofConnection],
    indexes: {
      // The tokens of a deleted client or connection, and those that have expired.
      client: 'client_id',
      connection: SCOPE,
      expiry: 'expires_at',
    },
  },
  /**
   * An assertion that was used. `used` is a hash that distinguishes it from other assertions of its client, which may be a connection with
   * a federation.
   */
  oauth_assertion: {
    columns: {
      client_id: 'ordered text',
      used: 'ordered text',
      expires_at: 'bigint',
    },
    constraints: ['primary key (client_id, used)'],
    indexes: {
      expiry: 'expires_at',
    },
  },
  /** The password of the built-in admin. */
  admin_password: {
    columns: {
      /** 1 in the only row. */
      one: 'integer',
      /** Another one with each password. */
      id: 'ordered text',
      hash: 'text',
    },
    constraints: ['primary key (one)'],
  },
  /** A session of an admin. */
  admin_session: {
    columns: {
      hash: 'ordered text',
      name: 'text',
      role: 'text',
      /** The issuer, a space, and the claim `sub`; null for the built-in admin. */
      subject: 'ordered text?',
      /** The password with which the built-in admin signed in; null for a person of the OpenID provider. */
      password_id: 'ordered text?',
      created_at: 'bigint',
      last_seen_at: 'bigint',
      address: 'text?',
      /** The header, cut; null if the browser sent none. */
      user_agent: 'text?',
    },
    constraints: ['primary key (hash)'],
  },
  /** A token of the admin API. */
  admin_token: {
    columns: {
      id: 'ordered text',
      hash: 'ordered text',
      name: 'text',
      role: 'text',
      maker_name: 'text',
      /** As `admin_session.subject`. */
      maker_subject: 'ordered text?',
      created_at: 'bigint',
      expires_at: 'bigint',
      revoked_at: 'bigint?',
    },
    constraints: ['primary key (id)', 'unique (hash)'],
  },
  /** A sign-in through the OpenID provider whose return was accepted. */
  openid_attempt: {
    columns: {
      /** Of the state. */
      hash: 'ordered text',
      expires_at: 'bigint',
    },
    constraints: ['primary key (hash)'],
    indexes: { expiry: 'expires_at' },
  },
  /** Counts of refused sign-ins, by which the answers to further ones wait (docs/decisions/0046). */
  sign_in_failure: {
    columns: {
      /** The counter that a name falls to, by a hash of it. */
      bucket: 'integer',
      failures: 'integer',
      failed_at: 'bigint',
    },
    constraints: ['primary key (bucket)'],
  },
} as const satisfies TableDeclarations;
