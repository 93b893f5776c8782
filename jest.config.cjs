/** Unit and assembled-app tests; sources are compiled by swc, so a type fault is found by `npm run check`. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // These come as ES modules only, which jest reads when they are compiled like ours.
  transformIgnorePatterns: ['/node_modules/(?!(jose|@faker-js)/)'],
  transform: {
    '^.+/node_modules/(jose|@faker-js)/.+\\.js$': ['@swc/jest', { module: { type: 'commonjs' } }],
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  testTimeout: 30000,
  // By itself jest leaves a core to whoever watches; here most tests wait for a database or a process of theirs.
  maxWorkers: '100%',
};
