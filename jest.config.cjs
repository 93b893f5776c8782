const { availableParallelism } = require('node:os');
const { behaviour } = require('./jest.projects.cjs');

/** The first ring, `npm test`: the behaviour. */
module.exports = {
  ...behaviour,
  // For a test that hangs. A busy or slow machine must not make a test fail.
  testTimeout: 240_000,
  // Some tests wait, for a timer of the service or for a database, while others compute.
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
};
