/** The tables of the admin page: accounts, sessions, tokens, used attempts and failures to sign in, and the audit log. Times are epoch milliseconds. */
export interface AdminTables {
  admin_account: AdminAccountTable;
  admin_session: AdminSessionTable;
  admin_token: AdminTokenTable;
  audit_entry: AuditEntryTable;
  openid_attempt: OpenidAttemptTable;
  sign_in_failure: SignInFailureTable;
}

export interface AdminAccountTable {
  id: string;
  name: string;
  /** The name without case; null after the account was revoked. */
  name_key: string | null;
  role: string;
  password_hash: string | null;
  /** The issuer, a space, and the claim `sub`; null for an account with a password. */
  openid_subject: string | null;
  created_at: number;
  revoked_at: number | null;
  last_sign_in_at: number | null;
}

interface AdminSessionTable {
  hash: string;
  account_id: string;
  created_at: number;
  last_seen_at: number;
  /** Null for a session from before it was recorded. */
  address: string | null;
  /** The header, cut; null if the browser sent none. */
  user_agent: string | null;
}

export interface AdminTokenTable {
  id: string;
  hash: string;
  name: string;
  role: string;
  created_at: number;
  /** Null only for a token from before ends were required. */
  expires_at: number | null;
  revoked_at: number | null;
  /** The account that made the token; null for a token from before this was recorded. */
  made_by: string | null;
}

/** A sign-in through the OpenID provider whose return was accepted. */
interface OpenidAttemptTable {
  /** Of the state. */
  hash: string;
  expires_at: number;
}

export interface AuditEntryTable {
  /** A number that follows the order of commits. */
  position: number;
  at: number;
  actor: string;
  actor_kind: string;
  address: string;
  action: string;
  /** JSON. */
  details: string;
  /** Null until the response was sent. */
  status: number | null;
}

interface SignInFailureTable {
  /** The counter that a name falls to, by a hash of it. */
  bucket: number;
  failures: number;
  failed_at: number;
}
