/** The tests of `npm run test:browser`: the admin page of a running service in the system's Chromium. */
module.exports = {
  ...require('./jest.config.cjs'),
  testMatch: ['**/*.browser.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 60000,
};
