/** The tables of OAuth: who may ask for tokens, which were handed out, and which assertions were used. */
export interface OAuthTables {
  oauth_client: OAuthClientTable;
  oauth_token: OAuthTokenTable;
  oauth_assertion: OAuthAssertionTable;
}

/** A client. Exactly one of the three proofs is set, and either the connection or the user. */
interface OAuthClientTable {
  id: string;
  name: string;
  secret_hash: string | null;
  jwks: string | null;
  jwks_uri: string | null;
  connection_id: string | null;
  user_type: string | null;
  user_id: string | null;
  created_at: number;
  revoked_at: number | null;
}

/** An access token: its hash only. */
interface OAuthTokenTable {
  hash: string;
  client_id: string;
  expires_at: number;
}

/** An assertion that was used; `used` is a hash of what makes it another than the rest of its client's. */
interface OAuthAssertionTable {
  client_id: string;
  used: string;
  expires_at: number;
}
