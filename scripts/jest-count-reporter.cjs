const { appendFileSync, writeFileSync, writeSync } = require('node:fs');
const { relative } = require('node:path');
const { WARNED } = require('./jest-warned.cjs');

/** Lines of each failure's message that are kept: enough to recognise it in a long log. */
const REASON_LINES = 12;
/** Of what the gateways warned of, which follows the message (scripts/jest-environment.cjs). */
const WARNED_LINES = 6;

/**
 * Ends a run with `N passed, N failed`. Writes both numbers to `JEST_COUNT_FILE` when it is set, and appends the
 * failed tests, with the first lines of their messages, to `JEST_FAILED_FILE`.
 */
module.exports = class JestCountReporter {
  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    // A file that cannot be loaded has no tests, but counts as a failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const { JEST_COUNT_FILE: countFile, JEST_FAILED_FILE: failedFile } = process.env;
    if (countFile) writeFileSync(countFile, `${passed} ${failed}\n`);
    if (failedFile) appendFileSync(failedFile, results.testResults.flatMap(failuresOf).join(''));
    // On exit, because Jest prints its own summary after the last reporter.
    process.once('exit', () => writeSync(1, `${passed} passed, ${failed} failed\n`));
  }
};

function failuresOf({ testFilePath, testExecError, testResults, failureMessage }) {
  const file = relative(process.cwd(), testFilePath);
  if (testExecError)
    return [told(`${file} could not be run`, failureMessage ?? String(testExecError.message))];
  return testResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => told(`${file} › ${fullName}`, failureMessages[0] ?? ''));
}

function told(what, why) {
  const lines = why
    .replace(/\u001b\[\d*m/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const warned = lines.findIndex((line) => line.endsWith(WARNED));
  const reason = lines.slice(0, warned < 0 ? lines.length : warned).slice(0, REASON_LINES);
  const warnings = warned < 0 ? [] : lines.slice(warned + 1).slice(-WARNED_LINES);
  return `${what}\n${[...reason, ...warnings].map((line) => `    ${line}\n`).join('')}`;
}
