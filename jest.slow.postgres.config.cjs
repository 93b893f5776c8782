/** The tests of `npm run test:slow` that use the database, on PostgreSQL (`npm run test:slow:postgres`). */
module.exports = {
  ...require('./jest.postgres.config.cjs'),
  testMatch: ['**/*.slow.test.ts'],
  maxWorkers: require('./jest.slow.config.cjs').maxWorkers,
  testPathIgnorePatterns: [
    '/node_modules/',
    // These use no database, or one of their own.
    '/test/(adapter|fixtures)/',
    '/test/store/postgres(-faults|-tls)?\\.slow\\.test\\.ts$',
    '/test/process/replicas\\.slow\\.test\\.ts$',
    '/test/process/(database-restart|frozen-database|replicas)\\.slow\\.test\\.ts$',
    // These are about the files of SQLite, and about how it executes queries.
    '/full-disk\\.slow\\.test\\.ts$',
    '/test/store/(list-)?indexes\\.slow\\.test\\.ts$',
  ],
};
