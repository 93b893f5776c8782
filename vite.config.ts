import { defineConfig } from 'vite';
import { adminOperations } from './src/admin/catalog.ts';
import type { Route } from './src/admin/ui/requests/api.ts';
import type { Operation } from './src/operations/operation.ts';

/** The page needs the paths of the operations only. Their schemas would be a fifth of its program. */
const routes = Object.entries<Operation>(adminOperations).map(
  ([name, { method, path, body }]): [string, Route] => [
    name,
    { method: method.toUpperCase(), path, hasBody: body !== undefined },
  ],
);

/** Builds the admin page into dist/admin/ui. `npm run build` calls it after the program is bundled. */
export default defineConfig({
  root: 'src/admin/ui',
  base: '/admin/',
  define: { OPERATIONS: JSON.stringify(Object.fromEntries(routes)) },
  // The server replaces it for each response (src/admin/page.ts).
  html: { cspNonce: '{{nonce}}' },
  build: {
    // Its packages ask for their notices with every copy.
    license: { fileName: 'third-party-notices.md' },
    outDir: '../../../dist/admin/ui',
    emptyOutDir: true,
    // The policy of the page allows no data URLs but for images.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
    rolldownOptions: {
      // Directives such as "use client" mean nothing here.
      onLog: (level, log, handler) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handler(level, log);
      },
    },
  },
});
