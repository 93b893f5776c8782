process.env.JETBRIDGE_TEST_RING ??= 'release';
const ci = require('./jest.ci.config.cjs');
const {
  aboutSqlite,
  behaviour,
  browser,
  onPostgres,
  onSqlite,
  otherKinds,
  withoutDatabase,
} = require('./jest.projects.cjs');

const processFiles = ['**/*.{slow,release}.test.ts'];

/** The third ring, `npm run test:release`: every test with many random inputs, on both databases. */
module.exports = {
  ...ci,
  projects: [
    behaviour,
    browser,
    { ...onSqlite, displayName: 'processes', testMatch: processFiles },
    {
      ...onPostgres,
      displayName: 'postgres',
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...otherKinds, ...aboutSqlite, ...withoutDatabase],
    },
    {
      ...onPostgres,
      displayName: 'processes on PostgreSQL',
      testMatch: processFiles,
      testPathIgnorePatterns: ['/node_modules/', ...aboutSqlite, ...withoutDatabase],
    },
  ],
};
