/** The tests of `npm test` that use the database, on PostgreSQL (`npm run test:postgres`). */
process.env.JETBRIDGE_TEST_STORE = 'postgres';
const fast = require('./jest.config.cjs');

module.exports = {
  ...fast,
  // A test takes two to three times as long as on SQLite.
  testTimeout: 60000,
  testPathIgnorePatterns: [
    ...fast.testPathIgnorePatterns,
    // These use no database.
    '/test/(adapter|config|docs|replay|schema|translator)/',
    // These are about the files of SQLite, and about how it executes queries.
    '/full-disk\\.test\\.ts$',
    '/test/(fixtures/data-folder|store/(admin-plans|group-commit|schema|travel-plans))\\.test\\.ts$',
  ],
};
