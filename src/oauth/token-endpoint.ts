import { timingSafeEqual } from 'node:crypto';
import express, { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { hashSecret, newSecret } from '../http/bearer.ts';
import { claimedSubject } from '../http/jwt.ts';
import { scopeOf } from '../http/scope.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../store/unavailable.ts';
import { assertionCheck, type CheckAssertion } from './assertion.ts';
import { type Presented, parametersOf, presentedBy } from './client-authentication.ts';
import { invalidClient, OAuthError } from './errors.ts';
import { failureLimit } from './failure-limit.ts';
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
    refuseOtherGrants(form.get('grant_type'));
    const presented = presentedBy(request.headers.authorization, form);
    const client = await authenticated(deps, presented, checkAssertion);
    response.json(await issued(deps, client));
  };
  return Router()
    .use(neverKept)
    .post('/', express.text({ type: FORM, limit: '16kb' }), failureLimit(), issue)
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

function refuseOtherGrants(type: string | undefined): void {
  if (type === undefined) throw new OAuthError('invalid_request', 'grant_type is missing.');
  if (type !== 'client_credentials')
    throw new OAuthError('unsupported_grant_type', 'The grant_type must be client_credentials.');
}

interface Client {
  id: string;
  grant: Grant;
}

async function authenticated(
  { clients }: TokenEndpointDeps,
  presented: Presented,
  check: CheckAssertion,
): Promise<Client> {
  if (presented.kind === 'secret') {
    const client = await known(clients, presented.clientId);
    if (client?.proof.kind !== 'secret' || !isSame(client.proof.hash, hashSecret(presented.secret)))
      throw invalidClient();
    return client;
  }
  const claimed = claimedSubject(presented.assertion);
  // "The client_id … MUST identify the same client as is identified by the client assertion" (RFC 7521 §4.2).
  const isSelf = claimed !== undefined && (presented.clientId ?? claimed) === claimed;
  const client = isSelf ? await known(clients, claimed) : undefined;
  if (!client) throw invalidClient();
  await check(client, presented.assertion);
  return client;
}

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
