const { availableParallelism } = require('node:os');

/** The tests of `npm run test:slow`: they start or kill processes, fill databases, play at random or let every call fail in turn. */
module.exports = {
  ...require('./jest.config.cjs'),
  testMatch: ['**/*.slow.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // Many of these tests wait: for a back-off, for a process that starts, for a lease that expires.
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
};
