import type { Request, RequestHandler } from 'express';
import { clientAddressOf } from '../http/authentication.ts';
import { unverifiedClaims } from '../http/jwt.ts';
import { type RequestScope, requestScopeOf } from '../http/log.ts';
import { type ExchangeRecorder, pickHeaders } from '../model/exchange.ts';
import { parseFormParameters, readClientAuthentication } from './token-endpoint.ts';

/**
 * Records each request to the token endpoint when its response has ended, without any secret, assertion or token. `isConnection` tells the
 * names of connections, which federated clients have as ids.
 */
export function recordTokenRequests(
  recorder: ExchangeRecorder,
  isConnection: (id: string) => boolean,
): RequestHandler {
  const record: RequestScope['onEnd'] = (request, response, { ms, status }) => {
    const { id, notes } = requestScopeOf(response);
    const refused = refusedAnswer(response.locals['refusedTokenRequest']);
    recorder.record({
      ...{ direction: 'oauth', ms, requestId: id, person: undefined, status },
      // Undefined for a refused client, and for one of the travel service.
      connection: notes.connection,
      address: clientAddressOf(response),
      // The query is left out: it may have what belongs into the body.
      ...{ method: request.method, path: '/oauth/token' },
      error: notes.reason ?? refused?.error,
      requestHeaders: pickHeaders(request.headers, ['content-type', 'user-agent']),
      responseHeaders: pickHeaders(response.getHeaders(), ['content-type', 'retry-after']),
      requestBody: redactedForm(request, (id) => clientId.test(id) || isConnection(id)),
      responseBody: refused && JSON.stringify(refused),
    });
  };
  return (_request, response, next) => {
    requestScopeOf(response).onEnd = record;
    next();
  };
}

function refusedAnswer(answer: unknown): { error: string; error_description: string } | undefined {
  if (answer === undefined) return undefined;
  const { error, error_description } = Object(answer);
  return { error: String(error), error_description: String(error_description) };
}

const grantTypes = ['client_credentials', 'password', 'authorization_code', 'refresh_token'];

/** Ids of registered clients are UUIDs. Whatever else a client sends as its id may be its secret in the wrong field. */
const clientId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the parameters that tell how a client tried to authenticate, as JSON. */
function redactedForm(
  { body, headers: { authorization } }: Request,
  isClientId: (id: string) => boolean,
): string {
  const form = parseOrEmpty(typeof body === 'string' ? body : '');
  const kept = (value: string | undefined, isHarmless: (value: string) => boolean) =>
    value === undefined || isHarmless(value) ? value : '*';
  return JSON.stringify({
    grant_type: kept(form.get('grant_type'), (type) => grantTypes.includes(type)),
    client_id: kept(claimedClient(authorization, form), isClientId),
    client_secret: kept(form.get('client_secret'), () => false),
    client_assertion: kept(form.get('client_assertion'), () => false),
  });
}

function parseOrEmpty(body: string): Map<string, string> {
  try {
    return parseFormParameters(body);
  } catch {
    return new Map();
  }
}

/** Returns the id that the client claims to have. */
function claimedClient(authorization: string | undefined, form: Map<string, string>): string | undefined {
  try {
    const claim = readClientAuthentication(authorization, form);
    return (
      claim.clientId ?? (claim.kind === 'assertion' ? unverifiedClaims(claim.assertion)?.sub : undefined)
    );
  } catch {
    return form.get('client_id');
  }
}
