import { gzipSync } from 'node:zlib';
import { type Response, Router } from 'express';
import { catalog } from '../catalog.ts';
import { buildOpenApi } from './document.ts';

/**
 * Serves the OpenAPI document and the page that renders it. Both are the same for every client and hold no secret, so they need no
 * credential.
 */
export function contractRoutes(publicUrl: string | undefined): Router {
  const router = Router({ caseSensitive: true });
  // Made once, at the first request, because everybody may ask for it.
  let document: string | undefined;
  let compressed: Buffer | undefined;
  router.get('/openapi.json', (request, response) => {
    document ??= JSON.stringify(buildOpenApi(catalog, publicUrl));
    response.vary('Accept-Encoding');
    if (request.acceptsEncodings('gzip', 'identity') !== 'gzip')
      return send(response, 'application/json', document);
    compressed ??= gzipSync(document);
    send(response.set('Content-Encoding', 'gzip'), 'application/json', compressed);
  });
  router.get('/docs', (_request, response) => {
    response.set('Content-Security-Policy', POLICY);
    send(response, 'text/html', PAGE);
  });
  return router;
}

/** Scripts and the document from here, nothing from elsewhere. The renderer has style attributes. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The build makes the script of the package openapi-explorer. Addresses are relative, so that a proxy can add a prefix. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Jetbridge travel API</title>
<script type="module" src="../docs/openapi-explorer/openapi-explorer.js"></script>
</head>
<body>
<openapi-explorer spec-url="openapi.json" hide-console="true" hide-authentication="true" hide-server-selection="true"
  hide-components="true" primary-color="#0b5cad" secondary-color="#2f80d0" nav-bg-color="#12161c" nav-text-color="#e4e8ef">
<p slot="overview-footer"><a href="../docs/travel-api">Chapters</a> on keys, paging, errors, retries, idempotency and webhooks, with
code. The same as here for programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). The samples read the
address of the service, the API key and ids from the environment: <code>JETBRIDGE</code>, <code>TRAVEL_API_KEY</code>,
<code>USER_ID</code>.</p>
</openapi-explorer>
</body>
</html>
`;

/**
 * Sends a body without `response.send`: the request log copies every body sent by that method, and unauthenticated requests must not fill
 * the log.
 */
function send(response: Response, type: string, body: string | Buffer): void {
  response.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' });
  response.type(type).end(body);
}
