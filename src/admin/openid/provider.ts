import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type IDToken,
  ResponseBodyError,
} from 'openid-client';
import { CLOCK_TOLERANCE_S } from '../../http/jwt.ts';
import { fetchLimited } from '../../http/limited-fetch.ts';
import { isSafeUrl } from '../../http/proxies.ts';
import { SignInFailure } from './failures.ts';

/** The provider, and the client that is registered there. */
export interface OpenidClient {
  issuer: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  timeoutMs: number;
}

/** The values of one sign-in that the way back from the provider is checked against. */
export interface SignInAttempt {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** An OpenID provider in the role that it has for a sign-in. Every method throws a `SignInFailure`. */
export interface OpenidProvider {
  /** The URL at which the browser signs in, and from which it returns to `redirectUri`. */
  authorizationUrl(attempt: SignInAttempt, redirectUri: string): Promise<string>;
  /** Exchanges the code in the URL of the return for an ID token, and returns its claims after all checks. */
  readClaims(attempt: SignInAttempt, returned: URL): Promise<IDToken>;
}

/** The description of the provider is read again after this time, in milliseconds. */
const REFRESH_AFTER_MS = 60 * 60_000;
/** Pause after a description that could not be read, in milliseconds: a failing provider must not be flooded. */
const RETRY_MS = 5_000;

/** Returns the provider. Nothing is read before the first sign-in. `now` returns milliseconds of a monotonic clock. */
export function openidProvider(client: OpenidClient, now: () => number): OpenidProvider {
  const configuration = configurationReader(client, now);
  return {
    authorizationUrl: async ({ state, nonce, codeVerifier }, redirectUri) => {
      const code_challenge = await calculatePKCECodeChallenge(codeVerifier);
      const parameters = {
        ...{ redirect_uri: redirectUri, scope: client.scope, state, nonce },
        ...{ code_challenge, code_challenge_method: 'S256' },
      };
      return buildAuthorizationUrl(await configuration(), parameters).href;
    },
    readClaims: async ({ state, nonce, codeVerifier }, returned) => {
      const expected = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
      const tokens = await authorizationCodeGrant(await configuration(), returned, expected).catch(
        (error: unknown) => {
          throw toFailure(error, 'invalidAnswer');
        },
      );
      const claims = tokens.claims();
      if (!claims) throw new SignInFailure('invalidAnswer', 'its answer has no ID token');
      // OpenID Connect Core 1.0 §3.1.3.7 (5). The library compares it only in a token for several clients.
      if (claims.azp !== undefined && claims.azp !== client.clientId)
        throw new SignInFailure('invalidAnswer', 'another client has requested its ID token (azp)');
      return claims;
    },
  };
}

/** Keeps the configuration for a while, so that a sign-in needs one request fewer. */
function configurationReader(client: OpenidClient, now: () => number): () => Promise<Configuration> {
  let latest: Promise<Configuration> | undefined;
  let readAgainAt = 0;
  return () => {
    if (latest && now() < readAgainAt) return latest;
    const reading = discoverProvider(client);
    latest = reading;
    readAgainAt = now() + REFRESH_AFTER_MS;
    reading.catch(() => {
      if (latest === reading) readAgainAt = now() + RETRY_MS;
    });
    return reading;
  };
}

/**
 * Reads the description of a provider (OpenID Connect Discovery 1.0 §4). Throws a `SignInFailure` whose message says what is wrong
 * with it.
 */
export async function discoverProvider(client: OpenidClient): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = client;
  const isPlain = new URL(issuer).protocol === 'http:';
  // The settings accept plain HTTP only for an issuer on this machine.
  const execute = [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])];
  const metadata = { [clockTolerance]: CLOCK_TOLERANCE_S };
  const options = { execute, timeout: client.timeoutMs / 1000, [customFetch]: providerFetch(client) };
  const read = await discovery(
    new URL(issuer),
    clientId,
    metadata,
    clientAuthentication(clientSecret),
    options,
  ).catch((error: unknown) => {
    throw toFailure(error, 'misconfigured');
  });
  const { issuer: named, authorization_endpoint: endpoint } = read.serverMetadata();
  // The library accepts any issuer for some providers, and the issuer is what the ID token is compared with.
  if (named !== issuer) throw new SignInFailure('misconfigured', `its issuer is ${JSON.stringify(named)}`);
  if (endpoint === undefined || !isSafeUrl(endpoint))
    throw new SignInFailure('misconfigured', 'it names no https authorization_endpoint');
  return read;
}

/** RFC 8414 §2: a provider that lists no methods accepts the secret in the header. */
function clientAuthentication(secret: string): ClientAuth {
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? [];
    const authenticate = methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic;
    authenticate(secret)(server, ...request);
  };
}

/** Sends the requests of the library under the limits of all requests to other services. */
function providerFetch({ timeoutMs }: OpenidClient): CustomFetch {
  return async (url, { body = null, headers, method, redirect }) => {
    if (!isSafeUrl(url)) throw new SignInFailure('misconfigured', 'it names a URL that is no https URL');
    // The library types a body like fetch, but without the buffer of an array.
    const init = { body, headers, method, redirect } as RequestInit;
    const answer = await fetchLimited(url, init, timeoutMs).catch((error: unknown) => {
      throw new SignInFailure('unavailable', `it does not answer (${networkFault(error)})`);
    });
    if (answer.status >= 500 || answer.status === 429)
      throw new SignInFailure('unavailable', `it answers ${answer.status}`);
    return answer;
  };
}

/** The code of a failed connection, or the name of the error, e.g. `ECONNREFUSED` or `TimeoutError`. */
function networkFault(error: unknown): string {
  const { name, cause } = Object(error);
  return String(Object(cause).code ?? name);
}

/** Reads the failure from the library's error. Its message may quote a token, so that it is not repeated. */
function toFailure(error: unknown, otherwise: 'misconfigured' | 'invalidAnswer'): SignInFailure {
  const { cause, code } = Object(error);
  if (error instanceof SignInFailure) return error;
  if (cause instanceof SignInFailure) return cause;
  if (error instanceof AuthorizationResponseError) return refusalOf(error.error);
  if (error instanceof ResponseBodyError) return tokenFailure(error);
  if (cause instanceof Response) return new SignInFailure('misconfigured', `it answers ${cause.status}`);
  const { claim, attribute } = Object(Object(cause).cause ?? cause);
  const part = claim ?? attribute;
  const place = part === undefined ? '' : ` (${String(part)})`;
  return new SignInFailure(otherwise, `its answer is not valid: ${String(code ?? 'UNKNOWN')}${place}`);
}

/** The provider has sent the browser back with an error (RFC 6749 §4.1.2.1, OpenID Connect Core 1.0 §3.1.2.6). */
function refusalOf(error: string): SignInFailure {
  const isAway = error === 'server_error' || error === 'temporarily_unavailable';
  const isOurs = ['invalid_request', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope'];
  const code = isAway ? 'unavailable' : isOurs.includes(error) ? 'misconfigured' : 'denied';
  return new SignInFailure(code, `it answers ${JSON.stringify(error.slice(0, 60))}`);
}

/** The provider has refused the code (RFC 6749 §5.2). An `invalid_grant` comes from a code that is used twice or too late. */
function tokenFailure({ error, status }: ResponseBodyError): SignInFailure {
  const code = error === 'invalid_grant' ? 'expired' : 'misconfigured';
  return new SignInFailure(code, `it answers ${status} ${JSON.stringify(error.slice(0, 60))}`);
}
