/** What the tokens of a client open: SCIM for a connection, or the travel API on behalf of an admin. */
export type Grant = { kind: 'scim'; connection: string } | { kind: 'travel'; userId: string };

/** How a client shows who it is: by a secret, of which only a hash is kept, or by what it signs with a private key. */
export type Proof =
  | { kind: 'secret'; hash: string }
  | { kind: 'jwks'; jwks: { keys: object[] } }
  | { kind: 'jwksUri'; uri: string };

/** A client as it is listed. Times are epoch milliseconds. */
export interface OAuthClient {
  id: string;
  /** What an admin calls it. */
  name: string;
  grant: Grant;
  proof: Proof['kind'];
  createdAt: number;
  revokedAt: number | undefined;
}

/** The registered clients. */
export interface Clients {
  add(client: Omit<OAuthClient, 'proof' | 'revokedAt'> & { proof: Proof }): Promise<void>;
  /** All there ever were, oldest first; clients for an admin go with the admin. */
  list(): Promise<OAuthClient[]>;
  /** What is needed to let one in; undefined when there is none, or it was revoked. */
  active(id: string): Promise<{ id: string; grant: Grant; proof: Proof } | undefined>;
  /** False when there is no such client, or it was revoked before. Its tokens open nothing any more. */
  revoke(id: string, now: number): Promise<boolean>;
}

/** The access tokens that were handed out; of each only a hash is kept. */
export interface AccessTokens {
  /** Keeps a token, and forgets those that have expired. */
  keep(token: { hash: string; clientId: string; expiresAt: number }, now: number): Promise<void>;
  /** What a token with this hash opens; undefined for an unknown or expired one, and for one of a revoked client. */
  find(hash: string, now: number): Promise<{ clientId: string; grant: Grant } | undefined>;
}

/** The assertions that were used already. */
export interface Assertions {
  /** True when this is the first use. Forgets those that have expired, which are refused for that. */
  useOnce(assertion: { clientId: string; key: string; expiresAt: number }, now: number): Promise<boolean>;
}
