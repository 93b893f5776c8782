const { readFileSync, statfsSync } = require('node:fs');

// Databases in memory: a commit of SQLite waits for the disk, which takes longer than the rest of most tests. The tests kill processes,
// not the machine. Another folder is chosen by TMPDIR.
if (!process.env.TMPDIR && isUsable('/dev/shm')) process.env.TMPDIR = '/dev/shm';

// With the usual 16 MB for new objects V8 copies much of what a test makes several times.
process.env.NODE_OPTIONS ??= '--max-semi-space-size=64';

/** True if the folder has room for the databases of all tests, and programs may be started from it, as PostgreSQL may have to be. */
function isUsable(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === folder);
    return bavail * bsize > 4e9 && mount !== undefined && !mount.includes('noexec');
  } catch {
    return false;
  }
}

/** What all tests share. Sources are compiled by swc, which checks no types: `npm run check` does. */
const common = {
  rootDir: __dirname,
  // Modules of `src` and packages are loaded once for each worker (test/README.md).
  runtime: '<rootDir>/test/fixtures/shared-runtime.cjs',
  testEnvironment: '<rootDir>/test/fixtures/shared-environment.cjs',
  // The sources too, so that jest finds the tests that a change concerns (--changedSince, --findRelatedTests).
  roots: ['<rootDir>/src', '<rootDir>/test'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
};

/** A project whose tests run on SQLite: each copies an empty database that is made once. */
const onSqlite = {
  ...common,
  globalSetup: '<rootDir>/test/fixtures/global-setup.ts',
  globalTeardown: '<rootDir>/test/fixtures/global-teardown.ts',
};

/** A project whose tests run on PostgreSQL: on the server of TEST_DATABASE_URL, else on one that is started for them. */
const onPostgres = {
  ...common,
  globalSetup: '<rootDir>/test/fixtures/global-setup-postgres.ts',
  globalTeardown: '<rootDir>/test/fixtures/global-teardown-postgres.ts',
  setupFiles: ['<rootDir>/test/fixtures/on-postgres.ts'],
};

const anyKind = ['**/*.test.ts'];
const otherKinds = ['\\.(slow|release|browser)\\.test\\.ts$'];

/** The behaviour: what the assembled service answers and does, and pure code. These tests need no build and start no process. */
const behaviour = {
  ...onSqlite,
  displayName: 'behaviour',
  testMatch: anyKind,
  testPathIgnorePatterns: ['/node_modules/', ...otherKinds],
};

/** Tests that start or kill processes of `dist/`, fill databases or play at random. */
const processes = { ...onSqlite, displayName: 'processes', testMatch: ['**/*.slow.test.ts'] };

/** The admin page of a running service in the system's Chromium. */
const browser = { ...onSqlite, displayName: 'browser', testMatch: ['**/*.browser.test.ts'] };

/** Tests that are about the files of SQLite, or about how it executes queries. */
const aboutSqlite = [
  'full-disk\\.',
  'fixtures/data-folder\\.test',
  'log/log-plans\\.',
  'store/(admin-plans|group-commit|schema|travel-plans|indexes|list-indexes)\\.',
].map((file) => `/test/.*${file}`);

/** Tests that use a PostgreSQL of their own, or no database. */
const withoutDatabase = [
  '/test/(adapter|config|docs|fixtures|replay|schema|simulator|translator)/',
  '/test/store/postgres(-faults|-tls)?\\.slow',
  '/test/process/(database-restart|frozen-database|release|replicas)\\.release',
];

module.exports = {
  aboutSqlite,
  behaviour,
  browser,
  onPostgres,
  onSqlite,
  otherKinds,
  processes,
  withoutDatabase,
};
