import type { RequestHandler } from 'express';
import { signatureAlgorithms } from '../http/jwt.ts';

/** The path of the metadata, before the path of the issuer if it has one (RFC 8414 §3.1). */
export const METADATA_PATH = '/.well-known/oauth-authorization-server';

/** Answers with the metadata of the authorization server (RFC 8414 §3). Mounted at METADATA_PATH. */
export function serverMetadata(issuer: string, scopes: readonly string[]): RequestHandler {
  const { pathname } = new URL(issuer);
  const metadata = {
    issuer,
    token_endpoint: `${issuer}/oauth/token`,
    scopes_supported: scopes,
    // Required, and empty because there is no authorization endpoint.
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: signatureAlgorithms,
  };
  return (request, response, next) => {
    const isHere = request.path === '/' || request.path === pathname || request.path === `${pathname}/`;
    if (!isHere) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD')
      response.status(405).set('Allow', 'GET, HEAD').json({ error: 'The metadata is read by GET.' });
    else response.json(metadata);
  };
}
