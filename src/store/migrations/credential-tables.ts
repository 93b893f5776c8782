import type { ColumnTypes } from './column-types.ts';

/** Bearer tokens of IdPs, API keys of the travel service, and OAuth clients with their access tokens. */
export function credentialTables(types: ColumnTypes): string[] {
  return [...tokensAndKeys(types), ...oauth(types)];
}

function tokensAndKeys({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table token (
      id ${orderedText} primary key,
      hash ${orderedText} not null unique,
      name text not null,
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      created_at ${bigint} not null,
      expires_at ${bigint},
      last_used_at ${bigint},
      revoked_at ${bigint},
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    'create index token_connection on token (account, connection_id)',
    `create table travel_api_key (
      id ${orderedText} not null,
      hash ${orderedText} primary key,
      name text not null,
      user_type ${orderedText} not null,
      user_id ${orderedText} not null,
      created_at ${bigint} not null,
      last_used_at ${bigint},
      revoked_at ${bigint},
      foreign key (user_type, user_id) references travel_resource (type, id) on delete cascade
    )`,
    'create unique index travel_api_key_id on travel_api_key (id)',
    'create index travel_api_key_user on travel_api_key (user_type, user_id)',
  ];
}

function oauth({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table oauth_client (
      id ${orderedText} primary key,
      name text not null,
      secret_hash text,
      jwks text,
      jwks_uri text,
      account ${orderedText},
      connection_id ${orderedText},
      user_type ${orderedText},
      user_id ${orderedText},
      created_at ${bigint} not null,
      last_used_at ${bigint},
      revoked_at ${bigint},
      foreign key (account, connection_id) references connection (account, id) on update cascade,
      foreign key (user_type, user_id) references travel_resource (type, id) on delete cascade
    )`,
    // The credentials of a connection.
    'create index oauth_client_connection on oauth_client (account, connection_id)',
    'create index oauth_client_user on oauth_client (user_type, user_id)',
    `create table oauth_token (
      hash ${orderedText} primary key,
      client_id ${orderedText} not null references oauth_client (id) on delete cascade,
      expires_at ${bigint} not null
    )`,
    // The tokens of a deleted client, and those that have expired.
    'create index oauth_token_client on oauth_token (client_id)',
    'create index oauth_token_expiry on oauth_token (expires_at)',
    `create table oauth_assertion (
      client_id ${orderedText} not null references oauth_client (id) on delete cascade,
      used ${orderedText} not null,
      expires_at ${bigint} not null,
      primary key (client_id, used)
    )`,
    'create index oauth_assertion_expiry on oauth_assertion (expires_at)',
  ];
}
