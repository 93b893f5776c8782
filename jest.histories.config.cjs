/** The long form of the random test (`npm run histories`); its short form is test/process/histories.slow.test.ts. */
module.exports = {
  ...require('./jest.config.cjs'),
  roots: ['<rootDir>/test/histories'],
  testMatch: ['**/*.hunt.ts'],
  maxWorkers: 1,
};
