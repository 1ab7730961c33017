const { writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');
const TestSequencer = require('@jest/test-sequencer').default;

const FILE = join(__dirname, '..', 'test', 'durations.json');
const seconds = require(FILE);
/** Files that take less are not listed. */
const LONG_SECONDS = 10;

/**
 * Runs long spec files first, so that none of them runs alone at the end. Jest knows only the times of earlier runs
 * on this machine; for other files `test/durations.json` gives a rough time. UPDATE_DURATIONS=1 writes it again.
 */
module.exports = class LongestFirst extends TestSequencer {
  time(test) {
    return super.time(test) ?? (seconds[nameOf(test)] ?? 1) * 1000;
  }

  cacheResults(tests, results) {
    super.cacheResults(tests, results);
    if (process.env.UPDATE_DURATIONS === undefined) return;
    const taken = tests.map((test) => [nameOf(test), Math.round(super.time(test) / 1000)]);
    const long = taken.filter(([, time]) => time >= LONG_SECONDS).sort(([, one], [, other]) => other - one);
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`);
  }
};

function nameOf({ path, context }) {
  return relative(context.config.rootDir, path);
}
