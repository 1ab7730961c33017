const base = require('./jest.config.cjs');

/** What `npm run test:coverage` runs: the whole suite, or the part that it is given. */
module.exports = {
  ...base,
  // V8 does not count what our own environment compiles once for several spec files.
  projects: base.projects.map((project) => ({
    ...project,
    testEnvironment: 'node',
    collectCoverageFrom: ['src/**/*.ts', '!src/**/*.spec.ts'],
  })),
  collectCoverage: true,
  coverageProvider: 'v8',
  coverageReporters: ['text-summary', 'json-summary', 'html'],
};
