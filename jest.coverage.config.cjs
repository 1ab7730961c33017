const base = require('./jest.config.cjs');

/** What `npm run test:coverage` runs: the whole suite, with V8 counting in every process. */
module.exports = {
  ...base,
  // What is compiled once for several spec files is not counted for each of them.
  projects: base.projects.map((project) => ({ ...project, testEnvironment: 'node' })),
  collectCoverage: true,
  coverageProvider: 'v8',
  // The branches are reported by ours; Jest's own report knows only its own process.
  coverageReporters: ['none'],
  reporters: [...base.reporters, '<rootDir>/scripts/branches/reporter.mjs'],
};
