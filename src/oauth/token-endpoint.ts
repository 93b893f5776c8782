import { timingSafeEqual } from 'node:crypto';
import express, { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import {
  clientAddressOf,
  type FailureLimit,
  hashSecret,
  newSecret,
  type RefusalReason,
  TOO_MANY_FAILURES,
} from '../http/authentication.ts';
import { ADDRESS_NOT_ALLOWED, type ConnectionLimits } from '../http/connection-limits.ts';
import { KeysUnavailable, unverifiedClaims, verificationFaultText } from '../http/jwt.ts';
import { addRequestNotes, requestScopeOf } from '../http/log.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../model/unavailable.ts';
import {
  type AssertionDeps,
  AssertionRefused,
  type CheckAssertion,
  createAssertionCheck,
} from './assertions.ts';
import type { AccessTokens, Grant, OAuthClients, TokenHolder } from './clients.ts';
import {
  type AuthenticateFederated,
  type FederationDeps,
  federatedAuthentication,
  federationKey,
} from './federation.ts';

/** Dependencies of the token endpoint. */
export interface TokenEndpointDeps extends AssertionDeps, FederationDeps {
  clients: OAuthClients;
  tokens: AccessTokens;
  /** False if the connection or the admin of the grant no longer exists. */
  doesGrantTargetExist(grant: Grant): Promise<boolean>;
  log: { warn(fields: object, message: string): void };
  /**
   * Counts failures by address alone, because a client can use any client id. Requests with valid credentials are never
   * limited.
   */
  limit: FailureLimit;
  isAllowedFrom: ConnectionLimits['isAllowedFrom'];
}

/** Lifetime of an access token in seconds. Entra ID requires between 60 and 360 minutes. */
const LIFETIME_S = 3_600;

const FORM = 'application/x-www-form-urlencoded';

/** Issues access tokens for client credentials (RFC 6749 §4.4). Mounted at /oauth/token of an `httpApp`. */
export function tokenEndpoint(deps: TokenEndpointDeps): Router {
  const checks = {
    checkOwn: createAssertionCheck(deps),
    authenticateFederated: federatedAuthentication(deps),
  };
  const issue: RequestHandler = async (request, response) => {
    if (request.is(FORM) !== FORM) throw new OAuthError('invalid_request', `The body must be ${FORM}.`);
    const form = parseFormParameters(String(request.body));
    const fault = grantTypeError(form.get('grant_type'));
    const client = await authenticateClient(
      deps,
      { authorization: request.headers.authorization, form },
      checks,
    )
      // A wrong grant type is reported before failed authentication.
      .catch((error: unknown) => Promise.reject(fault ?? error));
    const connection = client.grant.kind === 'scim' ? client.grant.connection : undefined;
    const address = clientAddressOf(response);
    const isAllowed = connection === undefined || deps.isAllowedFrom(connection, address);
    addRequestNotes(response, {
      credential: credentialName(client.id),
      ...(connection !== undefined && { connection }),
      ...(!isAllowed && { reason: ADDRESS_NOT_ALLOWED }),
    });
    if (fault) throw fault;
    if (!isAllowed) {
      const text = `The connection of this client does not accept requests from ${address}.`;
      throw new OAuthError('unauthorized_client', text, { status: 403 });
    }
    response.json(await issueToken(deps, client));
  };
  return Router()
    .use(setNoStore)
    .post('/', express.text({ type: FORM, limit: '16kb' }), issue, limitFailures(deps.limit))
    .all('/', (_request, response) => {
      response.set('Allow', 'POST');
      throw new OAuthError('invalid_request', 'Tokens are asked for by POST.', { status: 405 });
    })
    .use(sendOAuthError);
}

/**
 * "The authorization server MUST include the HTTP Cache-Control response header field with a value of no-store" (RFC
 * 6749 §5.1).
 */
const setNoStore: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  next();
};

/** Counts requests that failed without authentication. After too many from one address, the response is 429. */
function limitFailures(limit: FailureLimit): ErrorRequestHandler {
  return (error, _request, response, next) => {
    const isFailure =
      requestScopeOf(response).notes.credential === undefined && toOAuthError(error).status < 500;
    const retryAfter = isFailure ? limit(clientAddressOf(response), response) : undefined;
    if (error instanceof OAuthError && error.refusal) addRequestNotes(response, error.refusal);
    if (retryAfter === undefined) return next(error);
    addRequestNotes(response, { reason: TOO_MANY_FAILURES });
    response.set('Retry-After', String(retryAfter));
    const text = 'Too many requests failed; try again in a minute.';
    next(new OAuthError('invalid_request', text, { status: 429 }));
  };
}

/** Returns the name of a client in the log. */
function credentialName(id: string): string {
  return `oauth:${id}`;
}

function grantTypeError(type: string | undefined): OAuthError | undefined {
  if (type === undefined) return new OAuthError('invalid_request', 'grant_type is missing.');
  if (type === 'client_credentials') return undefined;
  return new OAuthError('unsupported_grant_type', 'The grant_type must be client_credentials.');
}

interface AuthenticatedClient {
  id: string;
  grant: Grant;
  holder: TokenHolder;
}

interface AssertionChecks {
  checkOwn: CheckAssertion;
  authenticateFederated: AuthenticateFederated;
}

/** Authenticates the client of a request; throws if that fails. */
async function authenticateClient(
  deps: TokenEndpointDeps,
  { authorization, form }: { authorization: string | undefined; form: Map<string, string> },
  checks: AssertionChecks,
): Promise<AuthenticatedClient> {
  const authentication = readClientAuthentication(authorization, form);
  if (authentication.kind === 'assertion')
    return authenticateByAssertion(deps, authentication, checks).catch((error: unknown) => {
      throw toRefusal(error, deps);
    });
  const client = await findClient(deps.clients, authentication.clientId);
  if (!client) throw invalidClient(unknownClient);
  if (
    client.proof.kind !== 'secret' ||
    !equalsInConstantTime(client.proof.hash, hashSecret(authentication.secret))
  )
    throw invalidClient({ reason: `wrong secret of ${credentialName(client.id)}` });
  return { ...client, holder: { clientId: client.id } };
}

async function authenticateByAssertion(
  { clients }: TokenEndpointDeps,
  { clientId, assertion }: { clientId: string | undefined; assertion: string },
  { checkOwn, authenticateFederated }: AssertionChecks,
): Promise<AuthenticatedClient> {
  const federated = await authenticateFederated(assertion, clientId);
  if (federated) {
    const { connection } = federated;
    const holder = { connection, federation: federationKey(federated.federation) };
    return { id: connection, grant: { kind: 'scim', connection }, holder };
  }
  const claimed = unverifiedClaims(assertion)?.sub;
  // "The client_id … MUST identify the same client as is identified by the client assertion" (RFC 7521 §4.2).
  const isSelf = claimed !== undefined && (clientId ?? claimed) === claimed;
  const client = isSelf ? await findClient(clients, claimed) : undefined;
  if (!client) throw invalidClient(unknownClient);
  await checkOwn(client, assertion);
  return { ...client, holder: { clientId: client.id } };
}

/** Converts the errors of assertions. An error without a cause repeats a failure that was logged some seconds ago. */
function toRefusal(error: unknown, { log, now }: TokenEndpointDeps): unknown {
  if (error instanceof AssertionRefused)
    return invalidClient({ reason: `assertion refused: ${error.message}` }, error);
  if (!(error instanceof KeysUnavailable)) return error;
  if (error.cause) log.warn({ err: error }, 'the public keys of an OAuth client could not be fetched');
  return invalidClient({ reason: `assertion refused: ${verificationFaultText(error, now())}` }, error);
}

const unknownClient = { reason: 'unknown or revoked client' };

/** Ids that were never issued are not looked up, since the database may refuse some characters. */
async function findClient(clients: OAuthClients, id: string): ReturnType<OAuthClients['findActive']> {
  return /^[\w-]{1,100}$/.test(id) ? clients.findActive(id) : undefined;
}

function equalsInConstantTime(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

async function issueToken(
  { tokens, doesGrantTargetExist, now }: TokenEndpointDeps,
  { holder, grant }: AuthenticatedClient,
): Promise<object> {
  if (!(await doesGrantTargetExist(grant)))
    throw new OAuthError('unauthorized_client', 'What this client was registered for is not there any more.');
  const token = newSecret('access');
  const at = now();
  await tokens.save({ hash: hashSecret(token), holder, expiresAt: at + LIFETIME_S * 1000 }, at);
  // The response always contains the scope, because the granted scope does not depend on the requested one (RFC 6749
  // §3.3).
  return { access_token: token, token_type: 'Bearer', expires_in: LIFETIME_S, scope: grant.kind };
}

/** Responds to every error in the format of RFC 6749 §5.2. */
const sendOAuthError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error);
  const oauthError = toOAuthError(error);
  if (oauthError.status >= 500)
    requestScopeOf(response).log.error({ err: error }, 'an access token could not be created');
  // Required for a 401: "… MUST … include the WWW-Authenticate response header field matching the authentication scheme
  // used by the client" (RFC 6749 §5.2).
  if (oauthError.status === 401) response.set('WWW-Authenticate', 'Basic realm="oauth"');
  if (oauthError.status === 503) response.set('Retry-After', String(RETRY_AFTER_S));
  const answer = { error: oauthError.code, error_description: oauthError.message };
  // For the log of exchanges.
  response.locals['refusedTokenRequest'] = answer;
  response.status(oauthError.status).json(answer);
};

function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!(error instanceof StoreUnavailable)) return fromExpressError(error);
  const text = 'No token can be stored at the moment; try again.';
  return new OAuthError('temporarily_unavailable', text, { cause: error });
}

/** Converts errors of Express and its body parser: bodies that are too large or cannot be read. */
function fromExpressError(error: unknown): OAuthError {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status === 413) return new OAuthError('invalid_request', 'The body is larger than 16 KB.', { status });
  if (status >= 400 && status < 500) return new OAuthError('invalid_request', 'The request cannot be read.');
  return new OAuthError('server_error', 'Something went wrong here.', { cause: error });
}

/** The credentials of a client in a token request. */
export type ClientAuthentication =
  | { kind: 'secret'; clientId: string; secret: string }
  | { kind: 'assertion'; clientId: string | undefined; assertion: string };

/** The type of client assertions that are JWTs (RFC 7523 §2.2). */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Parses a form. "Parameters sent without a value MUST be treated as if they were omitted" (RFC 6749 §3.2). */
export function parseFormParameters(form: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(form)) {
    // Refuse a repeated parameter: "Request and response parameters MUST NOT be included more than once" (RFC 6749
    // §3.2).
    if (parameters.has(name)) throw new OAuthError('invalid_request', 'A parameter is given more than once.');
    parameters.set(name, value);
  }
  return new Map([...parameters].filter(([, value]) => value !== ''));
}

/**
 * Reads the client's credentials. "The client MUST NOT use more than one authentication method in each request" (RFC
 * 6749 §2.3).
 */
export function readClientAuthentication(
  authorization: string | undefined,
  form: Map<string, string>,
): ClientAuthentication {
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  const assertion = form.get('client_assertion');
  const type = form.get('client_assertion_type');
  if ([authorization, secret, assertion].filter((value) => value !== undefined).length > 1)
    throw new OAuthError('invalid_request', 'The client must use one method to show who it is, not several.');
  if (authorization !== undefined) return readBasicCredentials(authorization, clientId);
  if (assertion !== undefined || type !== undefined) return readAssertion(assertion, type, clientId);
  if (clientId === undefined || secret === undefined) throw invalidClient({ reason: 'no credential' });
  return { kind: 'secret', clientId, secret };
}

/**
 * Reads the client id and secret from HTTP Basic. Both are "encoded using the application/x-www-form-urlencoded
 * encoding algorithm" (RFC 6749 §2.3.1).
 */
function readBasicCredentials(authorization: string, formClientId: string | undefined): ClientAuthentication {
  const encoded = /^basic +([a-z0-9+/_-]+=*) *$/i.exec(authorization)?.[1];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) throw invalidClient({ reason: 'malformed credential' });
  const clientId = decodeFormValue(id);
  if (formClientId !== undefined && formClientId !== clientId)
    throw new OAuthError('invalid_request', 'The header and client_id name different clients.');
  return { kind: 'secret', clientId, secret: decodeFormValue(secret) };
}

function decodeFormValue(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw invalidClient({ reason: 'malformed credential' }, error);
  }
}

function readAssertion(
  assertion: string | undefined,
  type: string | undefined,
  clientId: string | undefined,
): ClientAuthentication {
  if (assertion === undefined || type === undefined)
    throw new OAuthError('invalid_request', 'client_assertion and client_assertion_type go together.');
  if (type !== ASSERTION_TYPE)
    throw new OAuthError('invalid_client', `The client_assertion_type must be ${ASSERTION_TYPE}.`, {
      refusal: { reason: 'malformed credential' },
    });
  return { kind: 'assertion', clientId, assertion };
}

/** The error codes of a token endpoint (RFC 6749 §5.2; the last two from §4.1.2.1) with their statuses. */
const statusOfCode = {
  invalid_request: 400,
  invalid_client: 401,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  server_error: 500,
  temporarily_unavailable: 503,
} as const;

/** A refused token request. The message is for the person who configured the client. */
export class OAuthError extends Error {
  readonly code: keyof typeof statusOfCode;
  readonly status: number;
  /** The reason for which the client is refused, for the log only; undefined if its authentication is not the fault. */
  readonly refusal: RefusalReason | undefined;

  constructor(
    code: keyof typeof statusOfCode,
    message: string,
    { status, refusal, ...options }: ErrorOptions & { status?: number; refusal?: RefusalReason } = {},
  ) {
    super(message, options);
    this.name = 'OAuthError';
    this.code = code;
    this.status = status ?? statusOfCode[code];
    this.refusal = refusal;
  }
}

/**
 * Returns the same error for every refused client, so that the response does not reveal which clients exist. The
 * reason is for the log.
 */
export function invalidClient(refusal: RefusalReason, cause?: unknown): OAuthError {
  const text = 'The client is not known, or did not prove who it is.';
  return new OAuthError('invalid_client', text, { refusal, cause });
}
