const { readFileSync, statfsSync } = require('node:fs');

// Databases in memory: a commit of SQLite waits for the disk, which takes longer than the rest of most tests. The tests kill processes,
// not the machine. Another folder is chosen by TMPDIR.
if (!process.env.TMPDIR && isUsable('/dev/shm')) process.env.TMPDIR = '/dev/shm';

/** True if the folder has room for the databases of all tests, and programs may be started from it, as PostgreSQL may have to be. */
function isUsable(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === folder);
    return bavail * bsize > 4e9 && mount !== undefined && !mount.includes('noexec');
  } catch {
    return false;
  }
}

/**
 * The tests of `npm test`. Sources are compiled by swc, which checks no types: `npm run check` does.
 * Tests that start or kill processes, fill databases, play at random or let every call fail in turn are named `*.slow.test.ts`:
 * `npm run test:slow` runs them.
 */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '\\.(slow|browser)\\.test\\.ts$'],
  // These packages are ES modules only; jest loads them when they are compiled like our sources.
  transformIgnorePatterns: ['/node_modules/(?!(jose|openid-client|oauth4webapi|@faker-js)/)'],
  transform: {
    '^.+/node_modules/(jose|openid-client|oauth4webapi|@faker-js)/.+\\.js$': [
      '@swc/jest',
      { module: { type: 'commonjs' } },
    ],
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  globalSetup: '<rootDir>/test/fixtures/global-setup.ts',
  globalTeardown: '<rootDir>/test/fixtures/global-teardown.ts',
  testTimeout: 30000,
  // Most tests wait for a database or a process, so a worker for each core is not too many (the default leaves one core free).
  maxWorkers: '100%',
};
