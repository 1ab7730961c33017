const { writeFileSync, writeSync } = require('node:fs');

/** Ends a run with `N passed, N failed`, and writes both numbers to `JEST_COUNT_FILE` when it is set. */
module.exports = class JestCountReporter {
  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    // A file that cannot be loaded has no tests to count, yet it failed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const countFile = process.env.JEST_COUNT_FILE;
    if (countFile) writeFileSync(countFile, `${passed} ${failed}\n`);
    // Jest prints its own summary after every reporter has run.
    process.once('exit', () => writeSync(1, `${passed} passed, ${failed} failed\n`));
  }
};
