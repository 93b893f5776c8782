/**
 * The allowed imports, as a positive list: an import that no rule here names is forbidden. `server` alone wires the parts
 * together; the HTTP interfaces do not import each other; the adapter and the store import types only.
 */
const within = (folder) => ({ from: { path: `^src/${folder}/` }, to: { path: `^src/${folder}/` } });
const folder = (from, to) => ({ from: { path: `^src/${from}/` }, to: { path: `^src/(${to})` } });
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
    ...[
      'schema',
      'model',
      'translator',
      'provisioning',
      'scim',
      'oauth',
      'adapter',
      'travel',
      'tracing',
      'store',
      'log',
      'http',
      'replay',
      'sample-data',
      'config',
      'contract',
      'operations',
      'admin',
      'alerts',
      'checks',
      'server',
      'cli',
    ].map(within),

    folder('model', 'schema/'),
    folder('translator', 'model/|schema/'),
    folder('provisioning', 'model/|translator/|schema/'),
    folder('scim', 'model/|provisioning/|schema/|http/'),
    // What everybody means by a person, a connection, a finding and an exchange, and the ports.
    folder('(adapter|store|operations|admin|checks|server|alerts|cli)', 'model/'),
    folder('oauth', 'http/'),
    folder('contract', 'schema/resource.ts$'),
    folder('travel', 'contract/|http/|schema/(case-fold|json-depth|pattern-size).ts$'),
    folder('(http|adapter)', 'schema/json-depth.ts$'),
    // Spans are made by what they measure; `server` alone opens the traces of a process.
    folder('(http|adapter|provisioning)', 'tracing/tracing.ts$'),
    // The one error of the store that every boundary translates, and what is recorded of exchanges.
    folder('(oauth|travel|http)', 'model/(unavailable|exchange).ts$'),
    folder('log', 'model/|store/|http/(minute-quota|redaction).ts$|replay/exchanges.ts$'),
    folder('adapter', 'translator/fields/fields.ts$|schema/case-fold.ts$'),
    types(
      'store',
      'translator/mapping/mapping-file|travel/ports|travel/webhooks/ports|oauth/clients|schema/(resource|case-fold|clean-text|json-depth)',
    ),
    // The types of what the store's modules return; `server` hands the modules over.
    types(
      '(provisioning|operations|admin)',
      'store/(queues/(background-tasks|holds|proposed-rules|replicas|rules-in-force)|identities/(imports|people-summaries|shadow-plans)|connection-modes|condition-facts|provisioning-store)',
    ),
    // The settings contain a mapping, policies and a key, each of which its own folder checks.
    folder(
      'config',
      'model/policies.ts$|translator/mapping/mapping-|schema/(json-path|similar-words).ts$|http/proxies.ts$|store/credentials/encryption.ts$',
    ),
    // Operations work on the records of the database and on the embedded travel service, below HTTP.
    folder(
      'operations',
      'provisioning/|translator/|schema/|http/|oauth/clients.ts$|store/|travel/|config/(connection-schema|faults|settings|stored-connections).ts$|log/(erasure|search).ts$|replay/(exchanges|recorder).ts$|sample-data/(company|removal|sample-data).ts$',
    ),
    // Signing in, and the HTTP API of operations.
    folder(
      'admin',
      'operations/|contract/|provisioning/|translator/|schema/|http/|oauth/clients.ts$|store/|config/(faults|settings).ts$|replay/exchanges.ts$',
    ),
    // An alert is signed like a message of a webhook.
    folder(
      'alerts',
      'config/alert-settings.ts$|http/proxies.ts$|provisioning/conditions/(conditions|facts).ts$|store/queues/reported-conditions.ts$|travel/webhooks/attempt.ts$',
    ),
    folder(
      'server',
      'admin/|operations/|alerts/|config/|replay/(report|scenario).ts$|scim/|oauth/|travel/|tracing/|adapter/|store/|log/|http/|provisioning/',
    ),
    // The checks open what they ask as the server does.
    folder(
      'checks',
      'admin/(sign-in/first-admin|openid/(failures|provider)).ts$|config/|http/(log|redaction).ts$|provisioning/(service|conditions/(conditions|facts)).ts$|provisioning/(rules|mapping-changes)/|schema/resource.ts$|server/(embedded|http-server|open-connection|runtime).ts$|store/|translator/',
    ),
    // The sample company is written through the embedded travel service, below HTTP.
    folder('sample-data', 'travel/|schema/case-fold.ts$'),
    // Faults of scenarios are told like those of mappings. Recordings keep the names of the schemas, and countries.
    folder('replay', 'schema/|config/faults.ts$|translator/(values/countries|mapping/mapping-faults).ts$'),
    // Commands work on the store, or on a service that runs.
    folder(
      'cli',
      'admin/passwords.ts$|operations/|alerts/(alert-sender|channel).ts$|checks/|config/|server/(start|ids).ts$|replay/|translator/|schema/|http/(address-guard|authentication|csv|proxies).ts$|store/|log/|oauth/clients.ts$|provisioning/(conditions/(conditions|describe-state|facts)|holds/(held-people|hold-texts)|shadow/(mode-texts|report|shadow-texts)|import/import|rules/mapping-versions|mapping-changes/(apply-mapping|mapping-texts|value-texts)|people/(people|identity-names|explain-person|explain-fields|finding-values|join-people|person-texts)).ts$|sample-data/sample-data.ts$|travel/(authentication|api-keys|catalog|errors|json|ports|openapi/document).ts$',
    ),
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
    builtin('travel/', 'crypto|events|http|https|net|util'),
    builtin('http/', 'crypto|dns|http|https|net|querystring|stream/promises'),
    builtin('adapter/', 'url|util|zlib'),
    builtin('tracing/', 'async_hooks|http'),
    builtin('store/', 'fs|fs/promises|path|sqlite|crypto|timers/promises|util'),
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
