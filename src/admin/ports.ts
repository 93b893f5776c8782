import type { ClientRegistration, Proof } from '../oauth/clients.ts';
import type { IdentityState } from '../provisioning/identity.ts';
import type { Policies } from '../provisioning/policies.ts';
import type { Role } from './contract/operation.ts';

/** A person who may sign in to the admin page. Times are epoch milliseconds, here and below. */
export interface AdminAccount {
  id: string;
  /** The name with which the person signs in: any text or an email address, unique without regard to case. */
  name: string;
  role: Role;
  createdAt: number;
  /** The time at which the account was revoked; undefined while it may sign in. */
  revokedAt: number | undefined;
  lastSignInAt: number | undefined;
  /** False if the person signs in through the OpenID provider only. */
  hasPassword: boolean;
  /** The issuer of the provider that identifies the person; undefined for an account with a password. */
  issuer: string | undefined;
}

/** The accounts of admins. Passwords are stored as hashes only. */
export interface AdminAccounts {
  /** False if an account that is not revoked has this name. */
  create(account: {
    id: string;
    name: string;
    role: Role;
    passwordHash: string;
    createdAt: number;
  }): Promise<boolean>;
  /** All accounts, also revoked ones, in the order of their creation. */
  list(): Promise<AdminAccount[]>;
  /** The account with this name that is not revoked, and the hash of its password. */
  findByName(name: string): Promise<(AdminAccount & { passwordHash: string | undefined }) | undefined>;
  /** Sets the password and ends all sessions of the account. False if there is no such account, or it is revoked. */
  setPassword(id: string, passwordHash: string): Promise<boolean>;
  /**
   * Replaces a password and ends the sessions of the account, apart from one. False if the account has another hash than `from` by now, or
   * is revoked.
   */
  changePassword(change: {
    id: string;
    /** The hash of the password that was verified. */
    from: string;
    to: string;
    /** The hash of the session that goes on. */
    session: string;
  }): Promise<boolean>;
  setRole(id: string, role: Role): Promise<AccountChange>;
  /** Revokes the account and the tokens that it made, and ends its sessions; with `evenOnlyAdmin` also that of the only admin. */
  revoke(id: string, now: number, options?: { evenOnlyAdmin: boolean }): Promise<AccountChange>;
  recordSignIn(id: string, now: number): Promise<void>;
}

/**
 * `gone`: there is no such account, or it was revoked before. `onlyAdmin`: without the account no admin could sign in with a
 * password, also while the OpenID provider is down.
 */
export type AccountChange = 'done' | 'gone' | 'onlyAdmin';

/** The accounts of people who sign in through the OpenID provider. Their subjects identify them; the names are unique among all accounts. */
export interface OpenidAccounts {
  /** Creates the account of a person, or gives it the present name and role. */
  signIn(person: OpenidPerson): Promise<{ accountId: string } | { refused: 'nameTaken' | 'revoked' }>;
  /** Ends the sessions of a subject and revokes the tokens that it made, if it has an account. */
  endAccess(subject: string, now: number): Promise<void>;
  /** Lets a revoked account sign in again. False if there is no such account, or it is not revoked. */
  restore(id: string): Promise<boolean>;
}

/** The sign-ins through the OpenID provider that have come back, for all replicas. */
export interface OpenidAttempts {
  /** Records that an attempt has come back. False if it has done so before. `expiresAt` is the time from which no replica accepts it. */
  useOnce(attempt: { hash: string; expiresAt: number }, now: number): Promise<boolean>;
}

/** A person whom the OpenID provider has identified, at a sign-in. */
export interface OpenidPerson {
  /** The id of the account, if it is created now. */
  id: string;
  /** The issuer, a space, and the claim `sub`, which never changes and is never given to somebody else. */
  subject: string;
  name: string;
  role: Role;
  now: number;
}

/** A signed-in browser. Only a hash of its secret is stored. */
export interface AdminSession {
  hash: string;
  accountId: string;
  name: string;
  role: Role;
  /** False if the person signs in through the OpenID provider. */
  hasPassword: boolean;
  issuer: string | undefined;
  createdAt: number;
  lastSeenAt: number;
}

/** The browser of a session, as it was at the sign-in. */
export interface SessionBrowser {
  address: string | undefined;
  /** The header `User-Agent`, cut. */
  userAgent: string | undefined;
}

/** The sessions of all replicas. */
export interface AdminSessions {
  /**
   * False, and there is no session, if the account is revoked or its password has another hash by now than the one that was verified;
   * undefined stands for an account without a password.
   */
  create(
    session: Pick<AdminSession, 'hash' | 'accountId' | 'createdAt'> &
      SessionBrowser & { passwordHash: string | undefined },
  ): Promise<boolean>;
  /** The sessions of an account, the newest first, whether their time is over or not. */
  listOf(
    accountId: string,
  ): Promise<(Pick<AdminSession, 'hash' | 'createdAt' | 'lastSeenAt'> & SessionBrowser)[]>;
  /** The session with this hash whose account is not revoked, whether its time is over or not. */
  find(hash: string): Promise<AdminSession | undefined>;
  recordUse(hash: string, now: number): Promise<void>;
  remove(hash: string): Promise<void>;
  /** Removes sessions that were created or used last before these times. */
  removeExpired(limits: { createdBefore: number; seenBefore: number }): Promise<void>;
}

/** Counts the sign-ins that were refused, for all replicas. The number of counters does not grow with the names. */
export interface SignInFailures {
  /** Counts a refusal for a name, and returns the number of them, which begins again after a time without any. */
  count(name: string, now: number): Promise<number>;
}

/** A token with which a script calls the admin API. */
export interface AdminToken {
  id: string;
  name: string;
  /** The role at present: it is never higher than that of the maker. */
  role: Role;
  /** The account that made the token, itself or by another token; undefined for a token of an earlier version. */
  maker: Pick<AdminAccount, 'id' | 'name' | 'issuer'> | undefined;
  createdAt: number;
  /** Undefined for a token of an earlier version that does not expire. */
  expiresAt: number | undefined;
  revokedAt: number | undefined;
}

/** The tokens of scripts. Only their hashes are stored. */
export interface AdminTokens {
  create(
    token: Omit<AdminToken, 'revokedAt' | 'maker'> & { hash: string; makerId: string | undefined },
  ): Promise<void>;
  list(): Promise<AdminToken[]>;
  revoke(id: string, now: number): Promise<boolean>;
  /** The token with this hash, unless it or its maker is revoked, or it has expired. */
  findActive(hash: string, now: number): Promise<AdminToken | undefined>;
}

/** An entry of the audit log: an attempt to change something, and its outcome. */
export interface AuditEntry {
  position: number;
  at: number;
  /** The name of the account or token. For refused sign-ins the name of an account that was given, else empty: it may be a password. */
  actor: string;
  actorKind: 'account' | 'token' | 'command' | 'nobody';
  /** The client's address; empty for a command. */
  address: string;
  /** The operation, e.g. `applyMapping`. */
  action: string;
  /** Facts about the change, e.g. the id of a person or the parameters of the operation. Without secrets. */
  details: Record<string, unknown>;
  /** The status of the response; undefined if the process ended before it. */
  status: number | undefined;
}

/** The audit log. Entries are written durably before the change. */
export interface AuditLog {
  /** Writes an entry, without outcome unless it is known, and returns its position. */
  begin(entry: Omit<AuditEntry, 'position' | 'status'> & { status?: number | undefined }): Promise<number>;
  /** Adds the outcome, and the details and the actor that were not known before. */
  finish(
    position: number,
    outcome: Pick<AuditEntry, 'details'> & { status: number; actor?: string },
  ): Promise<void>;
  /** The newest entries before a position, newest first. */
  list(query: {
    before?: number | undefined;
    /** A part of the name, without case. */
    actor?: string | undefined;
    action?: string | undefined;
    /** Epoch milliseconds, included. */
    since?: number | undefined;
    /** Epoch milliseconds, excluded. */
    until?: number | undefined;
    limit: number;
  }): Promise<AuditEntry[]>;
  /** The names of accounts, tokens and commands that have entries, and the actions, in alphabetical order. */
  listChoices(): Promise<{ actors: string[]; actions: string[] }>;
  /** Removes a number of entries that are older than this, and returns how many there were. */
  removeBefore(at: number, limit: number): Promise<number>;
}

/** A bearer token with which an IdP opens a connection. */
export interface ListedToken {
  id: string;
  name: string;
  connection: string;
  createdAt: number;
  /** Undefined for a token that does not expire. */
  expiresAt: number | undefined;
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
  state: 'active' | 'expired' | 'revoked';
}

/** An OAuth client. It opens a connection, or the embedded travel service on behalf of an admin. */
export interface ListedClient {
  id: string;
  name: string;
  opens: { connection: string } | { travelAdmin: string; travelUserId: string };
  proof: Proof['kind'];
  createdAt: number;
  /** The time of the last token; undefined if the client never got one. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

/** The credentials of IdPs. Only hashes of secrets are stored. */
export interface ScimCredentials {
  listTokens(): Promise<ListedToken[]>;
  /** Creates a token for a connection of the settings and returns its text, which cannot be read again later. */
  createToken(request: {
    connection: string;
    name: string;
    /** The days until it expires; undefined: never. */
    days: number | undefined;
  }): Promise<Omit<ListedToken, 'lastUsedAt' | 'revokedAt' | 'state'> & { token: string }>;
  /** False if there is no such token, or it was revoked before. */
  revokeToken(id: string): Promise<boolean>;
  listClients(): Promise<ListedClient[]>;
  /** Registers a client for a connection. Returns its secret, unless it has keys. */
  createClient(
    request: Pick<ClientRegistration, 'name' | 'keys'> & { connection: string },
  ): Promise<{ id: string; secret: string | undefined }>;
  revokeClient(id: string): Promise<boolean>;
}

/** A connection, as the page describes it. */
export interface ConfiguredConnection {
  id: string;
  /** `embedded`, or the URL of a travel API. */
  travelApi: string;
  policies: Policies;
  /** True if an environment variable gives it a token, which is in no list. */
  hasEnvironmentToken: boolean;
}

/** The people of one connection in numbers. */
export interface PeopleSummary {
  connection: string;
  /** The users that are not deleted, and the deleted ones for whom work remains, by state. */
  states: Record<IdentityState, number>;
  /** The people whose departure an admin has discarded, deleted ones included. They are counted among the synced ones, too. */
  keptActive: number;
  /** The people whose last attempt has failed, and when the oldest of their changes was written; among the first ones in the queue. */
  failing: { people: number; oldest: number } | undefined;
  /** False as long as all people were imported and none was written by an IdP. */
  hasUsers: boolean;
  /** The number of people with each kind of finding, by its code. */
  findings: ReadonlyMap<string, number>;
  /** True if there are more people with findings than were counted. */
  areFindingsCut: boolean;
}

/** Counts people for the overview and the filters of lists. The work does not depend on the number of people who need none. */
export interface PeopleSummaries {
  read(): Promise<PeopleSummary[]>;
}

/** The connection of the demo day, which no settings have. Nothing that it does concerns the people of other connections. */
export const DEMO_CONNECTION = 'demo';

/** The phase of the demo day, and its progress. */
export interface DemoDayState {
  /** `interrupted`: the process that played or removed it has ended. */
  phase: 'none' | 'playing' | 'interrupted' | 'played' | 'removing';
  /** Requests that were sent, and all requests of the day. */
  done: number;
  total: number;
  /** The reason for which the demo day cannot be played on this service; undefined if it can. */
  refusal: string | undefined;
}

/**
 * A recorded day of an invented identity provider. It is played through the SCIM interface to a connection of its own, which
 * exists only as long as the demo day.
 */
export interface DemoDay {
  read(): Promise<DemoDayState>;
  /** Begins to play it. Does nothing if it is being played or was played. */
  play(): Promise<DemoDayState>;
  /** Removes everything that it has made. */
  undo(): Promise<DemoDayState>;
  /** The number of removals since the process has started: their exchanges are in the log no longer. */
  removals(): number;
}
