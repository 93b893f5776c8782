import { defineConfig } from 'vite';

/** Builds the admin page into dist/admin/ui. `npm run build` calls it after the compiler. */
export default defineConfig({
  root: 'src/admin/ui',
  base: '/admin/',
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
