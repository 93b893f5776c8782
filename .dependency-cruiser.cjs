/**
 * The allowed doors of the house, as a positive list: an import that no rule here names is forbidden.
 * `start.ts` alone knows everyone; no wing imports another; adapter and store import types only.
 */
const own = (room) => ({ from: { path: `^src/${room}/` }, to: { path: `^src/${room}/` } });
const room = (from, to) => ({ from: { path: `^src/${from}/` }, to: { path: `^src/(${to})` } });
/** The swc parser does not tell a type import from another, so the files are named that hold types (almost) alone. */
const types = (from, to) => ({ from: { path: `^src/${from}/` }, to: { path: `^src/(${to})\\.ts$` } });
const packages = (from, names) => ({
  from: { path: `^src/${from}` },
  to: { path: `^node_modules/(${names})/` },
});
const builtin = (from, names) => ({
  from: { path: `^src/${from}` },
  to: { path: `^(node:)?(${names})$`, dependencyTypes: ['core'] },
});

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-dev-packages',
      severity: 'error',
      from: { path: '^src' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'] },
    },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  allowedSeverity: 'error',
  allowed: [
    ...[
      'schema',
      'translator',
      'bridge',
      'scim',
      'oauth',
      'adapter',
      'travel',
      'store',
      'http',
      'replay',
      'commands',
    ].map(own),

    room('translator', 'schema/'),
    room('bridge', 'translator/|schema/'),
    room('scim', 'bridge/|schema/|http/'),
    room('oauth', 'http/'),
    room('travel', 'http/|schema/fold.ts$'),
    // The one error of the store that every boundary translates; the file imports nothing.
    room('(scim|oauth|travel|http)', 'store/unavailable.ts$'),
    // The commands are hands of the command line: they use what is started, and the pure rooms.
    room(
      'commands',
      'bridge/(identity|import|policies|ports|rehearsed).ts$|[^/]+\\.ts$|replay/|translator/|schema/|http/bearer|store/|oauth/(jwks|ports|register).ts$|travel/(admins|former-travelers|api-keys|catalog|erasure|errors|json|ports|openapi/document|sample-data/sample-data).ts$',
    ),
    types('adapter', 'bridge/ports|translator/(snapshot|travel-user)|schema/fold'),
    types(
      'store',
      'bridge/(ports|identity|list-query)|translator/(result|snapshot|travel-user)|travel/ports|travel/webhooks/ports|oauth/ports|schema/(resource|fold)',
    ),

    packages('translator/', 'libphonenumber-js|i18n-iso-countries|zod|re2js'),
    packages('scim/', 'scimmy|scimmy-routers|express|@types/express'),
    packages('oauth/', 'express|@types/express'),
    packages('travel/sample-data/', '@faker-js/faker'),
    packages('travel/', 'express|@types/express|zod|re2js|ipaddr.js|standardwebhooks'),
    packages('http/', 'express|@types/express|pino|prom-client|ipaddr.js|jose|helmet'),
    packages('bridge/', 'pino'),
    packages('adapter/', 'axios'),
    packages('store/', 'kysely|@photostructure/sqlite'),
    packages('replay/', 'zod'),
    packages('commands/', 'cli-table3|cli-progress'),

    builtin('bridge/', 'crypto|util'),
    builtin('scim/', 'buffer|crypto|http|timers/promises|util'),
    builtin('oauth/', 'crypto'),
    builtin('travel/', 'crypto|dns|events|http|https|net|util'),
    builtin('http/', 'crypto|http|net|querystring'),
    builtin('adapter/', 'http|https'),
    builtin('store/', 'fs|path|sqlite|crypto|timers/promises|util'),
    builtin('commands/', 'fs|path|crypto|events|os|timers/promises'),
    builtin('replay/', 'fs|path|http|https|util|zlib'),

    { from: { path: '^src/[^/]+\\.ts$' }, to: { path: '^src/' } },
    packages('[^/]+\\.ts$', 'commander|zod|pino|express|@types/express|prom-client'),
    builtin(
      '[^/]+\\.ts$',
      'fs|path|crypto|http|https|net|tls|url|v8|process|module|os|child_process|events|fs/promises|readline/promises|timers/promises',
    ),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    includeOnly: undefined,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
