const { availableParallelism } = require('node:os');
const { aboutSqlite, browser, onPostgres, otherKinds, processes } = require('./jest.projects.cjs');

process.env.JETBRIDGE_TEST_RING ??= 'ci';

/**
 * The conformance of PostgreSQL: the stores, and the files of the bridge that execute statements which no other file here executes, or
 * in which transactions of several processes overlap. Whatever else a file decides is the same on both databases and is tested on one;
 * `npm run test:release` runs every file on both.
 */
const postgres = {
  ...onPostgres,
  displayName: 'postgres',
  testMatch: [
    '**/test/{store,idp}/*.test.ts',
    '**/test/log/exchange-log.test.ts',
    '**/test/docs/metrics.test.ts',
    '**/test/provisioning/{held-departures,import,import-during-reconciliation,references,replicas,returns}.test.ts',
    '**/test/provisioning/{rules-in-force,shadow,strangers,writes}.test.ts',
    '**/test/scim/{filter-equivalence,group-concurrency,lists}.test.ts',
    '**/test/server/rolling-upgrade.test.ts',
    '**/test/travel/webhooks/lease.test.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/', ...otherKinds, ...aboutSqlite],
};

/** Processes, replicas and commands that share a PostgreSQL database. */
const postgresProcesses = {
  ...onPostgres,
  displayName: 'processes on PostgreSQL',
  testMatch: [
    '**/test/process/{feed,import}.slow.test.ts',
    '**/test/cli/connections.slow.test.ts',
    '**/test/scim/group-concurrency.slow.test.ts',
    '**/test/store/{restored,volume}.slow.test.ts',
    '**/test/travel/webhooks/model.slow.test.ts',
  ],
};

/** What `.ci/run` runs beside the first ring: processes, the page in a browser, and the conformance of PostgreSQL. It needs a build. */
module.exports = {
  projects: [processes, browser, postgres, postgresProcesses],
  // For a test that hangs. A busy or slow machine must not make a test fail.
  testTimeout: 240_000,
  // Tests of processes wait: for a back-off, for a process that starts, for a lease that expires. Others compute meanwhile.
  maxWorkers: 2 * availableParallelism(),
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/fixtures/interleaved-projects.cjs',
};
