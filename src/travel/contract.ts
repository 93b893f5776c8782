import { createHash } from 'node:crypto';
import { type Response, Router } from 'express';
import { catalog } from './catalog.ts';
import { docsPage } from './docs-page/page.ts';
import { style } from './docs-page/style.ts';
import { openapi } from './openapi/document.ts';

/** The published contract, for programs and for people. It is the same for everybody and holds no secret, so it needs no credential. */
export function contractRoutes(publicUrl: string | undefined): Router {
  const router = Router();
  const document = once(() => openapi(catalog, publicUrl));
  const text = once(() => JSON.stringify(document()));
  const page = once(() => docsPage(document()));
  router.get('/openapi.json', (_request, response) => {
    send(response, 'application/json', text());
  });
  router.get('/docs', (_request, response) => {
    response.set('Content-Security-Policy', policy());
    send(response, 'text/html', page());
  });
  return router;
}

/** Nothing may be loaded or run; of styles only our own. */
function policy(): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** Not by `send`, of which the request log would keep a copy each time: what everybody may ask for must not fill it. */
function send(response: Response, type: string, body: string): void {
  response.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' });
  response.type(type).end(body);
}

/** Made when it is first asked for, and kept. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
