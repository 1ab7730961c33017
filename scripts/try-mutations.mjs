// Breaks central lines one by one and runs the specs that must notice. The list is test/mutations.json;
// docs/testing.md has the results. Needs an unmodified src and a build, and leaves both as they were. An argument
// selects mutations by what they break or by file: `npm run test:mutations -- faults`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mutations = JSON.parse(readFileSync('test/mutations.json', 'utf8'));
const wanted = process.argv[2];
const chosen = mutations.filter(
  ({ what, file }) => wanted === undefined || `${what} ${file}`.includes(wanted),
);

if (execFileSync('git', ['status', '--porcelain', 'src'], { encoding: 'utf8' }) !== '') {
  console.error('There are changes in src that are not committed; commit or put them aside first.');
  process.exit(2);
}

// Ctrl-C ends the specs and then the run; the broken line is restored before the exit.
process.on('SIGINT', () => undefined);

/** @returns how many tests of these specs fail */
function failedTests(specs) {
  const counts = join(tmpdir(), `mutation-${process.pid}`);
  spawnSync('npx', ['--no-install', 'jest', ...specs], { env: { ...process.env, JEST_COUNT_FILE: counts } });
  if (!existsSync(counts)) throw new Error(`The run was ended: ${specs.join(' ')}`);
  const [passed, failed] = readFileSync(counts, 'utf8').split(' ').map(Number);
  rmSync(counts);
  if (passed + failed === 0) throw new Error(`No test ran: ${specs.join(' ')}`);
  return failed;
}

/** For specs that start the gateway as a separate process. */
function build() {
  const { status } = spawnSync('npm', ['run', 'build'], { stdio: 'ignore' });
  if (status !== 0) throw new Error('npm run build failed.');
}

/** The number of tests that notice the broken line. With 0, the tests have a gap. */
function noticing({ file, from, to, specs, built }) {
  const source = readFileSync(file, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`${file} does not hold this exactly once: ${from}`);
  writeFileSync(
    file,
    source.replace(from, () => to),
  );
  try {
    if (built) build();
    return failedTests(specs);
  } finally {
    writeFileSync(file, source);
    if (built) build();
  }
}

if (failedTests([...new Set(chosen.flatMap(({ specs }) => specs))]) > 0) {
  console.error('Some of the specs fail already, with every line as it should be.');
  process.exit(2);
}
const results = chosen.map((mutation) => {
  const failed = noticing(mutation);
  console.log(`${failed > 0 ? `${failed} failed` : 'SURVIVED'}  ${mutation.what} (${mutation.file})`);
  return { ...mutation, failed };
});
process.exitCode = results.some(({ failed }) => failed === 0) ? 1 : 0;
