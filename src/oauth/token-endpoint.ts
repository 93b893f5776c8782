import { timingSafeEqual } from 'node:crypto';
import express, { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { hashSecret, newSecret } from '../http/bearer.ts';
import { addressOf, type FailureLimit, TOO_MANY } from '../http/failed-authentication.ts';
import { claimedSubject } from '../http/jwt.ts';
import { noteOf, scopeOf } from '../http/scope.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../store/unavailable.ts';
import { assertionCheck, type CheckAssertion } from './assertion.ts';
import { parametersOf, presentedBy } from './client-authentication.ts';
import { invalidClient, OAuthError } from './errors.ts';
import type { AccessTokens, Assertions, Clients, Grant } from './ports.ts';

/** What the token endpoint needs from the house. */
export interface TokenEndpointDeps {
  clients: Clients;
  tokens: AccessTokens;
  assertions: Assertions;
  /** Whether what a grant names is still there to be opened. */
  isOpen(grant: Grant): Promise<boolean>;
  /** The address of this endpoint as clients know it, for whom they make their assertions. */
  audience: string;
  now(): number;
  log: { warn(fields: object, message: string): void };
  /** Counts failures by address alone: another client id does not help, and a client that proves who it is is served. */
  limit: FailureLimit;
}

/** How long an access token opens anything, in seconds; Entra ID wants between 60 and 360 minutes. */
const LIFETIME_S = 3_600;

const FORM = 'application/x-www-form-urlencoded';

/** Hands out access tokens for client credentials (RFC 6749 §4.4), to be mounted at /oauth/token of an `httpApp`. */
export function tokenEndpoint(deps: TokenEndpointDeps): Router {
  const checkAssertion = assertionCheck(deps);
  const issue: RequestHandler = async (request, response) => {
    if (request.is(FORM) !== FORM) throw new OAuthError('invalid_request', `The body must be ${FORM}.`);
    const form = parametersOf(String(request.body));
    const fault = grantFault(form.get('grant_type'));
    const client = await clientOf(
      deps,
      { authorization: request.headers.authorization, form },
      checkAssertion,
    )
      // The grant type is the first thing to be put right.
      .catch((error: unknown) => Promise.reject(fault ?? error));
    noteOf(response, { credential: nameOf(client.id) });
    if (fault) throw fault;
    response.json(await issued(deps, client));
  };
  return Router()
    .use(neverKept)
    .post('/', express.text({ type: FORM, limit: '16kb' }), issue, limitFailures(deps.limit))
    .all('/', (_request, response) => {
      response.set('Allow', 'POST');
      throw new OAuthError('invalid_request', 'Tokens are asked for by POST.', { status: 405 });
    })
    .use(answerError);
}

/** "The authorization server MUST include the HTTP Cache-Control response header field with a value of no-store" (RFC 6749 §5.1). */
const neverKept: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  next();
};

/** Counts requests of clients that did not prove who they are; after too many of an address they are answered 429. */
function limitFailures(limit: FailureLimit): ErrorRequestHandler {
  return (error, _request, response, next) => {
    const isFailure = scopeOf(response).notes.credential === undefined && toOAuthError(error).status < 500;
    const retryAfter = isFailure ? limit(addressOf(response)) : undefined;
    if (error instanceof OAuthError && error.refusal) noteOf(response, error.refusal);
    if (retryAfter === undefined) return next(error);
    noteOf(response, { reason: TOO_MANY });
    response.set('Retry-After', String(retryAfter));
    const text = 'Too many requests failed; try again in a minute.';
    next(new OAuthError('invalid_request', text, { status: 429 }));
  };
}

/** A client as the log names it. */
function nameOf(id: string): string {
  return `oauth:${id}`;
}

function grantFault(type: string | undefined): OAuthError | undefined {
  if (type === undefined) return new OAuthError('invalid_request', 'grant_type is missing.');
  if (type === 'client_credentials') return undefined;
  return new OAuthError('unsupported_grant_type', 'The grant_type must be client_credentials.');
}

interface Client {
  id: string;
  grant: Grant;
}

/** The client that proved who it is; else it throws. */
async function clientOf(
  { clients }: TokenEndpointDeps,
  { authorization, form }: { authorization: string | undefined; form: Map<string, string> },
  check: CheckAssertion,
): Promise<Client> {
  const presented = presentedBy(authorization, form);
  if (presented.kind === 'secret') {
    const client = await known(clients, presented.clientId);
    if (!client) throw invalidClient(unknownClient);
    if (client.proof.kind !== 'secret' || !isSame(client.proof.hash, hashSecret(presented.secret)))
      throw invalidClient({ reason: `wrong secret of ${nameOf(client.id)}` });
    return client;
  }
  const claimed = claimedSubject(presented.assertion);
  // "The client_id … MUST identify the same client as is identified by the client assertion" (RFC 7521 §4.2).
  const isSelf = claimed !== undefined && (presented.clientId ?? claimed) === claimed;
  const client = isSelf ? await known(clients, claimed) : undefined;
  if (!client) throw invalidClient(unknownClient);
  await check(client, presented.assertion);
  return client;
}

const unknownClient = { reason: 'unknown or revoked client' };

/** Nobody is looked for by a name that no client was ever given, and that a database may not take. */
async function known(clients: Clients, id: string): ReturnType<Clients['active']> {
  return /^[\w-]{1,100}$/.test(id) ? clients.active(id) : undefined;
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

async function issued({ tokens, isOpen, now }: TokenEndpointDeps, { id, grant }: Client): Promise<object> {
  if (!(await isOpen(grant)))
    throw new OAuthError('unauthorized_client', 'What this client was registered for is not there any more.');
  const token = newSecret('access');
  const at = now();
  await tokens.keep({ hash: hashSecret(token), clientId: id, expiresAt: at + LIFETIME_S * 1000 }, at);
  // Told always, as whatever scope was asked for, this is what was given (§3.3).
  return { access_token: token, token_type: 'Bearer', expires_in: LIFETIME_S, scope: grant.kind };
}

/** Every failure in the form of RFC 6749 §5.2. */
const answerError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error);
  const told = toOAuthError(error);
  if (told.status >= 500) scopeOf(response).log.error({ err: error }, 'no access token could be made');
  // "… MUST … include the WWW-Authenticate response header field matching the authentication scheme used by the client."
  if (told.status === 401) response.set('WWW-Authenticate', 'Basic realm="oauth"');
  if (told.status === 503) response.set('Retry-After', String(RETRY_AFTER_S));
  response.status(told.status).json({ error: told.code, error_description: told.message });
};

function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!(error instanceof StoreUnavailable)) return fromExpress(error);
  const text = 'No token can be stored at the moment; try again.';
  return new OAuthError('temporarily_unavailable', text, { cause: error });
}

/** What express and its body parser refuse: a body that is too large, or cannot be read. */
function fromExpress(error: unknown): OAuthError {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status === 413) return new OAuthError('invalid_request', 'The body is larger than 16 KB.', { status });
  if (status >= 400 && status < 500) return new OAuthError('invalid_request', 'The request cannot be read.');
  return new OAuthError('server_error', 'Something went wrong here.', { cause: error });
}
