import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable, ofConnection } from './columns.ts';

/** A bearer token of an IdP. */
export const tokenColumns = {
  id: 'ordered text',
  hash: 'ordered text',
  name: 'text',
  account: 'ordered text',
  connection_id: 'ordered text',
  created_at: 'bigint',
  expires_at: 'bigint?',
  last_used_at: 'bigint?',
  revoked_at: 'bigint?',
} as const satisfies Columns;

/** An API key of the travel service: its hash, and the user on whose behalf it acts. */
export const travelApiKeyColumns = {
  id: 'ordered text',
  hash: 'ordered text',
  name: 'text',
  user_type: 'ordered text',
  user_id: 'ordered text',
  created_at: 'bigint',
  last_used_at: 'bigint?',
  revoked_at: 'bigint?',
} as const satisfies Columns;

/** An OAuth client. Exactly one of the three proofs is set, and either the connection or the user. */
export const oauthClientColumns = {
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
} as const satisfies Columns;

/** An access token, of which only the hash is stored. */
export const oauthTokenColumns = {
  hash: 'ordered text',
  client_id: 'ordered text',
  expires_at: 'bigint',
} as const satisfies Columns;

/** An assertion that was used. `used` is a hash that distinguishes it from other assertions of its client. */
export const oauthAssertionColumns = {
  client_id: 'ordered text',
  used: 'ordered text',
  expires_at: 'bigint',
} as const satisfies Columns;

const ofTravelUser =
  'foreign key (user_type, user_id) references travel_resource (type, id) on delete cascade';
const ofClient = 'foreign key (client_id) references oauth_client (id) on delete cascade';

/** Bearer tokens of IdPs, API keys of the travel service, and OAuth clients with their access tokens. */
export function credentialTables(types: ColumnTypes): string[] {
  return [...tokensAndKeys(types), ...oauth(types)];
}

function tokensAndKeys(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'token',
      columns: tokenColumns,
      constraints: ['primary key (id)', 'unique (hash)', ofConnection],
    }),
    'create index token_connection on token (account, connection_id)',
    createTable(types, {
      table: 'travel_api_key',
      columns: travelApiKeyColumns,
      constraints: ['primary key (hash)', ofTravelUser],
    }),
    'create unique index travel_api_key_id on travel_api_key (id)',
    'create index travel_api_key_user on travel_api_key (user_type, user_id)',
  ];
}

function oauth(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'oauth_client',
      columns: oauthClientColumns,
      constraints: ['primary key (id)', ofConnection, ofTravelUser],
    }),
    // The credentials of a connection.
    'create index oauth_client_connection on oauth_client (account, connection_id)',
    'create index oauth_client_user on oauth_client (user_type, user_id)',
    createTable(types, {
      table: 'oauth_token',
      columns: oauthTokenColumns,
      constraints: ['primary key (hash)', ofClient],
    }),
    // The tokens of a deleted client, and those that have expired.
    'create index oauth_token_client on oauth_token (client_id)',
    'create index oauth_token_expiry on oauth_token (expires_at)',
    createTable(types, {
      table: 'oauth_assertion',
      columns: oauthAssertionColumns,
      constraints: ['primary key (client_id, used)', ofClient],
    }),
    'create index oauth_assertion_expiry on oauth_assertion (expires_at)',
  ];
}
