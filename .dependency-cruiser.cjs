/**
 * The folders of src, from the lowest to the highest, each with what it may import of others: a whole folder (`schema/`) or files of one
 * (`schema/case-fold`). An import that this file does not name is forbidden. A folder imports only those that stand above it here, so no
 * two folders import each other. `server` alone wires the parts together; the HTTP interfaces do not import each other.
 */
const folders = {
  schema: [],
  contract: ['schema/resource'],
  model: ['schema/'],
  tracing: [],
  // Spans are made by what they measure; `server` alone opens the traces of a process.
  http: ['schema/json-depth', 'model/unavailable', 'tracing/tracing'],
  oauth: ['model/(exchange|unavailable)', 'http/'],
  translator: ['schema/', 'model/'],
  adapter: ['schema/(case-fold|json-depth)', 'model/', 'tracing/tracing', 'translator/fields/fields'],
  travel: [
    'schema/(case-fold|json-depth|pattern-size)',
    'contract/',
    'model/(exchange|unavailable)',
    'http/',
  ],
  // The sample company is written through the embedded travel service, below HTTP.
  'sample-data': ['schema/case-fold', 'travel/'],
  // Of the services above it, the store knows the types of what it stores.
  store: [
    'schema/(case-fold|clean-text|json-depth|name-spellings|resource)',
    'model/',
    'oauth/clients',
    'translator/mapping/mapping-file',
    'travel/(webhooks/)?ports',
  ],
  // The settings contain a mapping, policies and a key, each of which its own folder checks.
  config: [
    'schema/(json-path|similar-words)',
    'model/policies',
    'http/proxies',
    'translator/mapping/mapping-[a-z]+',
    'store/credentials/encryption',
  ],
  // The types of what the store's modules return; `server` hands the modules over.
  provisioning: [
    'schema/',
    'model/',
    'tracing/tracing',
    'translator/',
    'store/(condition-facts|connection-modes|provisioning-store)',
    'store/identities/(imports|people-summaries|shadow-plans)',
    'store/queues/(background-tasks|holds|proposed-rules|rules-in-force)',
  ],
  // An alert is signed like a message of a webhook.
  alerts: [
    'model/',
    'http/proxies',
    'travel/webhooks/attempt',
    'store/queues/(reported-conditions|weekly-mails)',
    'config/alert-settings',
    'provisioning/conditions/(conditions|describe-state|facts)',
  ],
  // Faults of scenarios are told like those of mappings. Recordings keep the names of the schemas, and countries.
  replay: ['schema/', 'translator/(values/countries|mapping/mapping-faults)', 'config/faults'],
  log: ['model/', 'http/(minute-quota|redaction)', 'store/', 'replay/exchanges'],
  // Operations work on the records of the database and on the embedded travel service, below HTTP.
  operations: [
    'schema/',
    'model/',
    'http/',
    'oauth/clients',
    'translator/',
    'travel/',
    'sample-data/(company|removal|sample-data)',
    'store/',
    'config/(connection-schema|faults|settings|stored-connections)',
    'provisioning/',
    'replay/(exchanges|recorder)',
    'log/(erasure|search)',
  ],
  // Signing in, and the HTTP API of operations.
  admin: ['schema/', 'contract/', 'model/', 'http/', 'store/', 'config/(faults|settings)', 'operations/'],
  scim: ['schema/', 'model/', 'http/', 'provisioning/'],
  server: [
    'model/',
    'tracing/',
    'http/',
    'oauth/',
    'adapter/',
    'travel/',
    'store/',
    'config/',
    'provisioning/',
    'alerts/',
    'replay/(report|scenario)',
    'log/',
    'operations/',
    'admin/',
    'scim/',
  ],
  // The checks open what they ask as the server does.
  checks: [
    'schema/resource',
    'model/',
    'http/(log|redaction)',
    'translator/',
    'store/',
    'config/',
    'provisioning/(service|conditions/(conditions|facts))',
    'provisioning/(rules|mapping-changes)/',
    'admin/(sign-in/first-admin|openid/(failures|provider))',
    'server/(embedded|http-server|open-connection|runtime)',
  ],
  // Commands work on the store, or on a service that runs.
  cli: [
    'schema/',
    'model/',
    'http/(authentication|csv)',
    'translator/',
    'travel/(catalog|errors|openapi/document)',
    'sample-data/sample-data',
    'store/',
    'config/',
    'provisioning/conditions/(describe-state|facts)',
    'provisioning/holds/(held-people|hold-texts)',
    'provisioning/import/import',
    'provisioning/mapping-changes/(apply-mapping|mapping-texts|value-texts)',
    'provisioning/people/(explain-person|finding-values|join-people|people|person-texts)',
    'provisioning/shadow/(mode-texts|report|shadow-texts)',
    'alerts/(alert-sender|test-alert)',
    'replay/',
    'log/',
    'operations/',
    'server/(ids|start)',
    'checks/',
  ],
};

/**
 * The parts of folders, from the lowest to the highest. A part imports only those that stand above it here and that its row names; the files
 * beside the parts import every part, and no part imports them.
 */
const dividedFolders = {
  'src/translator': {
    values: [],
    fields: ['values/'],
    mapping: ['values/', 'fields/'],
    rules: ['values/', 'fields/', 'mapping/'],
    plan: ['values/', 'fields/', 'rules/'],
  },
  'src/provisioning': {
    holds: [],
    shadow: [],
    people: [],
    rules: [],
    calls: ['rules/'],
    import: ['rules/', 'calls/'],
    reconcile: ['people/', 'rules/', 'calls/'],
    users: ['people/', 'rules/', 'calls/', 'import/', 'reconcile/'],
    groups: ['rules/', 'users/'],
    'mapping-changes': ['people/', 'rules/', 'reconcile/'],
    conditions: ['people/', 'rules/', 'import/'],
  },
};

/** Returns the rules of a table. Throws if a row names a folder that does not stand above it. */
function importsIn(root, table) {
  const names = Object.keys(table);
  return Object.entries(table).flatMap(([name, targets], place) => {
    const lower = targets.find((target) => !names.slice(0, place).includes(target.split('/')[0]));
    if (lower)
      throw new Error(`${root}/${name} may not import ${root}/${lower}, which does not stand above it`);
    const own = `${root}/${name}` in dividedFolders ? [] : [`${name}/`];
    return [...own, ...targets].map((target) => ({
      from: { path: `^${root}/${name}/` },
      to: { path: target.endsWith('/') ? `^${root}/${target}` : `^${root}/${target}\\.ts$` },
    }));
  });
}
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
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-dev-packages',
      severity: 'error',
      from: { path: '^src' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'] },
    },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      // Reconciling an identity is a program of effects (docs/decisions/0051-reconciling-is-a-program.md).
      name: 'decisions-without-ports',
      severity: 'error',
      from: {
        path: '^src/provisioning/reconcile/',
        pathNot: '/reconcile/run/',
      },
      to: {
        path: '^src/(store|log)/|/model/runtime-ports\\.ts$|/reconcile/run/(interpreter|reconciler)\\.ts$|/pino/',
      },
    },
  ],
  allowedSeverity: 'error',
  allowed: [
    ...importsIn('src', folders),
    ...Object.entries(dividedFolders).flatMap(([root, parts]) => [
      ...importsIn(root, parts),
      { from: { path: `^${root}/[^/]+$` }, to: { path: `^${root}/` } },
    ]),
    { from: { path: '^src/main.ts$' }, to: { path: '^src/cli/cli.ts$' } },

    packages('translator/', 'libphonenumber-js|i18n-iso-countries|country-to-iso|zod|re2js'),
    packages('scim/', 'scimmy|scimmy-routers|express|@types/express'),
    packages('oauth/', 'express|@types/express'),
    packages('sample-data/', '@faker-js/faker'),
    packages('travel/', 'express|@types/express|zod|re2js|ipaddr.js|standardwebhooks|i18n-iso-countries'),
    packages(
      'http/',
      'express|@types/express|pino|prom-client|ipaddr.js|jose|helmet|proxy-addr|@types/proxy-addr',
    ),
    packages('provisioning/', 'pino'),
    packages('tracing/', '@opentelemetry/(api|core|exporter-trace-otlp-http|resources|sdk-trace-base)'),
    packages('adapter/', 'axios|undici'),
    packages('store/', 'kysely|@photostructure/sqlite'),
    packages('log/', 'kysely'),
    packages('store/sql/postgres', 'pg|@types/pg'),
    packages('operations/', 'zod'),
    packages('contract/', 'zod'),
    packages('replay/', 'zod|@faker-js/faker'),
    packages('config/', 'zod'),
    packages('alerts/', 'nodemailer'),
    packages('admin/', 'express|@types/express|zod|helmet|@zxcvbn-ts/language-common'),
    packages('admin/openid/', 'openid-client'),
    packages('checks/', 'express|@types/express'),
    packages('server/', 'pino|express|@types/express|prom-client'),
    packages('cli/', 'commander|cli-table3|cli-progress|zod'),

    builtin('provisioning/', 'crypto|util'),
    builtin('scim/', 'buffer|crypto|http|timers/promises|util'),
    builtin('oauth/', 'crypto'),
    builtin('sample-data/', 'crypto|util'),
    builtin('travel/', 'crypto|events|http|https|net|util|zlib'),
    builtin('http/', 'crypto|dns|http|https|net|querystring|stream/promises'),
    builtin('adapter/', 'url|util|zlib'),
    builtin('tracing/', 'async_hooks|http'),
    builtin('store/', 'fs|fs/promises|path|sqlite|crypto|stream|stream/promises|timers/promises|util|zlib'),
    builtin('replay/', 'fs|path|http|https|timers/promises|util|zlib'),
    builtin('config/', 'fs|path|crypto|tls'),
    builtin('operations/', 'crypto|timers/promises'),
    builtin('admin/', 'crypto|events|fs|path|timers/promises|worker_threads'),
    builtin('alerts/', 'crypto'),
    builtin('checks/', 'crypto|fs|http|util'),
    builtin('server/', 'crypto|events|fs/promises|http|https|path|util'),
    builtin('cli/', 'fs|path|crypto|events|os|process|readline/promises|timers/promises'),
    builtin('main.ts', 'url|v8'),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    // The page runs in browsers, and Vite bundles it with its packages.
    exclude: { path: '^src/admin/ui/' },
    includeOnly: undefined,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
