import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type RequestHandler, Router } from 'express';
import helmet from 'helmet';
import { markRoutine } from '../http/log.ts';
import { documentSearch } from './document-search.ts';

/** In `index.html`; replaced by a new value for each response, which allows the style elements of the page's components. */
const NONCE_PLACEHOLDER = '{{nonce}}';

/**
 * Creates the routes of the page, to be mounted under /admin: assets, and one document for the address of every view. `npm run build`
 * makes the folder: `index.html` and a folder `assets` whose files have a hash in their names.
 */
export function adminPage(folder: string): Router {
  const router = Router({ caseSensitive: true });
  const document = readFileSync(join(folder, 'index.html'), 'utf8');
  router.use(
    '/assets',
    routine,
    express.static(join(folder, 'assets'), { index: false, redirect: false, setHeaders }),
  );
  router.get(['/', '/*view'], isNavigation, ...pageHeaders, (_request, response) => {
    response.type('html').send(document.replaceAll(NONCE_PLACEHOLDER, nonceOf(response)));
  });
  return router;
}

/**
 * Creates the routes of the documents, to be mounted under /docs: the folder `docs` that `npm run build` makes. They need no sign-in,
 * because they say nothing about the installation. A search in them is at `/docs/search?q=`.
 */
export function documentPages(folder: string): Router {
  const router = Router({ caseSensitive: true });
  router.use(routine, pageHeaders);
  router.get('/search', documentSearch(folder));
  router.use(express.static(folder, { extensions: ['html'] }));
  return router;
}

const routine: RequestHandler = (_request, response, next) => {
  markRoutine(response);
  next();
};

const setNonce: RequestHandler = (_request, response, next) => {
  response.locals['nonce'] = randomBytes(16).toString('base64');
  next();
};

/** The type of helmet's responses is that of Node, which has no `locals`. */
function nonceOf(response: object): string {
  return 'locals' in response ? String(Object(response.locals)['nonce']) : '';
}

/** An asset never changes under its name. */
function setHeaders(response: { setHeader(name: string, value: string): void }): void {
  response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
}

/** A path with an extension names a file that does not exist, so that it must not be answered with the document. */
const isNavigation: RequestHandler = ({ path }, _response, next) => {
  next(/\.\w+$/.test(path) || /^\/api(\/|$)/i.test(path) ? 'route' : undefined);
};

/** Nothing from elsewhere, no inline script, no frame. */
const pageHeaders: RequestHandler[] = [
  setNonce,
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", (_request, response) => `'nonce-${nonceOf(response)}'`],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // For browsers that do not know `frame-ancestors`.
    xFrameOptions: { action: 'deny' },
    // Set for every path where HTTPS is in use.
    strictTransportSecurity: false,
  }),
];
