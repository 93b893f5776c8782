import type { Request, Response } from 'express';
import { bearerToken, clientAddressOf, hashSecret, newSecret } from '../../http/authentication.ts';
import type {
  Admin,
  AdminSession,
  AdminSessions,
  AdminTokens,
  Role,
} from '../../store/credentials/admins.ts';
import { shownName } from '../openid/person.ts';

/** A session ends when it was not used for half an hour, and after twelve hours in any case (OWASP ASVS 3.3.2). */
export const SESSION_IDLE_MS = 30 * 60_000;
export const SESSION_MAX_MS = 12 * 60 * 60_000;
/** The header is stored up to this length. */
const MAX_USER_AGENT_LENGTH = 200;
/** The beginning of the hash of its secret identifies a session. */
const SESSION_ID_LENGTH = 16;
/** The last use is stored at most once in this time. */
const RECORD_USE_EVERY_MS = 60_000;

/** The caller of the admin API: an admin with a session, or a token. */
export interface Caller {
  kind: 'account' | 'token';
  /** The id of the session or token. */
  id: string;
  name: string;
  /** The name as lists and the audit log show it. */
  shownName: string;
  role: Role;
  /** The caller, or who made the token. */
  admin: Omit<Admin, 'role'>;
  /** Only of a session: the hash of its secret, and the value that changes must send in `X-CSRF-Token`. */
  session?: { hash: string; csrfToken: string; createdAt: number };
}

/** Dependencies of sessions. */
export interface SessionDeps {
  sessions: AdminSessions;
  tokens: AdminTokens;
  /** False if only the OpenID provider opens the page. Sessions that began with a password are over then. */
  acceptsPasswords: boolean;
  /** Epoch milliseconds. */
  now(): number;
  /** True if the browser sent the request over HTTPS, as far as proxies are trusted. */
  isSecure(request: Request): boolean;
}

/**
 * Returns the caller: the bearer of an admin token, or the browser of a session. Undefined without a valid credential. A request with an
 * `Authorization` header is judged by it alone.
 */
export async function findCaller(request: Request, deps: SessionDeps): Promise<Caller | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const token = bearerToken(authorization);
    const found = token && (await deps.tokens.findActive(hashSecret(token), deps.now()));
    if (!found) return undefined;
    const { id, name, role, maker } = found;
    return { kind: 'token', id, name, shownName: name, role, admin: maker };
  }
  const secret = readCookie(request, cookieName(deps.isSecure(request)));
  if (secret === undefined) return undefined;
  const session = await deps.sessions.find(hashSecret(secret));
  if (!session || !isRunning(session, deps)) return undefined;
  await recordUse(session, deps);
  const { hash, name, role, subject, createdAt } = session;
  return {
    ...{ kind: 'account', id: sessionId(hash), name, shownName: shownName(session), role },
    admin: { name, subject },
    session: { hash, csrfToken: csrfTokenOf(secret), createdAt },
  };
}

function isRunning(
  { subject, createdAt, lastSeenAt }: AdminSession,
  { acceptsPasswords, now }: SessionDeps,
): boolean {
  if (subject === undefined && !acceptsPasswords) return false;
  return now() < createdAt + SESSION_MAX_MS && now() < lastSeenAt + SESSION_IDLE_MS;
}

/** Identifies a session in lists and in the log. */
function sessionId(hash: string): string {
  return hash.slice(0, SESSION_ID_LENGTH);
}

async function recordUse({ hash, lastSeenAt }: AdminSession, { sessions, now }: SessionDeps): Promise<void> {
  if (now() - lastSeenAt >= RECORD_USE_EVERY_MS) await sessions.recordUse(hash, now());
}

/** Starts a session: stores it, and sends the cookie with its secret. Returns the CSRF token. */
export async function startSession(
  response: Response,
  admin: Admin & { passwordId?: string },
  { sessions, now, isSecure }: SessionDeps,
): Promise<string> {
  const secret = newSecret('session');
  const createdAt = now();
  await sessions.removeExpired({
    createdBefore: createdAt - SESSION_MAX_MS,
    seenBefore: createdAt - SESSION_IDLE_MS,
  });
  await sessions.create({
    ...{ passwordId: undefined, ...admin, hash: hashSecret(secret), createdAt },
    address: clientAddressOf(response),
    userAgent: response.req.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH),
  });
  const secure = isSecure(response.req);
  response.cookie(cookieName(secure), secret, { ...cookieOptions(secure), maxAge: SESSION_MAX_MS });
  return csrfTokenOf(secret);
}

/** A session in the list of a caller. */
interface ListedSession extends AdminSession {
  id: string;
  /** True for a session of the caller. */
  isOwn: boolean;
  /** True for the session of the request. */
  isCurrent: boolean;
}

/** Returns the running sessions that the caller may see and end, the newest first: those of everybody, or a viewer's own. */
export async function listSessions(
  { kind, role, admin, session }: Caller,
  deps: SessionDeps,
): Promise<ListedSession[]> {
  const running = (await deps.sessions.list()).filter((one) => isRunning(one, deps));
  return running
    .map((one) => ({
      ...{ ...one, id: sessionId(one.hash) },
      isOwn: kind === 'account' && one.subject === admin.subject,
      isCurrent: one.hash === session?.hash,
    }))
    .filter(({ isOwn }) => isOwn || role === 'admin');
}

/** Ends a session everywhere, and removes the cookie. */
export async function endSession(
  response: Response,
  { session }: Caller,
  { sessions, isSecure }: SessionDeps,
): Promise<void> {
  if (session) await sessions.remove(session.hash);
  const secure = isSecure(response.req);
  response.clearCookie(cookieName(secure), cookieOptions(secure));
}

/** Browsers accept the prefix `__Host-` only over HTTPS (RFC 6265bis §4.1.3.2). */
export function cookieName(secure: boolean): string {
  return secure ? '__Host-jetbridge' : 'jetbridge';
}

/** `lax`, because the return from an OpenID provider is a navigation from another site. */
export function cookieOptions(secure: boolean) {
  return { httpOnly: true, secure, sameSite: 'lax', path: '/' } as const;
}

/** Derived from the secret of the session, which scripts of the page cannot read. */
function csrfTokenOf(secret: string): string {
  return hashSecret(`csrf ${secret}`);
}

/** Returns the value of a cookie; undefined if the browser has not sent it. */
export function readCookie({ headers }: Request, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
