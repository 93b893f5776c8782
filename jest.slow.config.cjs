/** The tests of `npm run test:slow`: they kill processes, fill databases, or play at random. */
module.exports = {
  ...require('./jest.config.cjs'),
  testMatch: ['**/*.slow.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
