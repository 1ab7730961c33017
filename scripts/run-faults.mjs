// Shows every promise in its long form, and ends with a table: promise, scenario, figures, verdict. The list is
// test/faults/promises.json. `npm run test:faults` runs all of them, `npm run test:faults -- webhooks` one.
// FAULT_SEED and KILL_SEED repeat a run; each run prints its seed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const promises = JSON.parse(readFileSync('test/faults/promises.json', 'utf8'));
const wanted = process.argv.slice(2);
const chosen = promises.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
if (chosen.length === 0) {
  console.error(`There is no such promise; there are: ${promises.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'agw-faults-'));

/** Runs one spec, and prints its output as it comes. */
function run({ spec, env = {} }) {
  const [figures, counts] = ['figures', 'counts'].map((kind) =>
    join(folder, `${spec.replaceAll('/', '-')}.${kind}`),
  );
  const startedAt = performance.now();
  const sentenceOf = [
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    `npx jest ${spec}`,
  ].join(' ');
  console.log(`\n== ${sentenceOf} --selectProjects gateway`);
  const { status } = spawnSync('npx', ['--no-install', 'jest', spec, '--selectProjects', 'gateway'], {
    stdio: 'inherit',
    env: { ...env, ...process.env, FIGURES_FILE: figures, JEST_COUNT_FILE: counts },
  });
  const [passed = 0, failed = 0] = existsSync(counts)
    ? readFileSync(counts, 'utf8').split(' ').map(Number)
    : [];
  const lines = existsSync(figures) ? readFileSync(figures, 'utf8').trim().split('\n') : [];
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return {
    ok: status === 0 && passed > 0,
    passed,
    failed,
    seconds,
    figures: lines.map((line) => JSON.parse(line)),
  };
}

/** A spec that belongs to several promises runs once. */
const runs = new Map();
for (const { scenarios } of chosen)
  for (const scenario of scenarios) if (!runs.has(scenario.spec)) runs.set(scenario.spec, run(scenario));

console.log('\n| Promise | Scenario | Figures | Verdict |\n|---|---|---|---|');
for (const { name, promise, scenarios } of chosen)
  for (const { spec } of scenarios) {
    const { ok, passed, failed, seconds, figures } = runs.get(spec);
    const own = figures.filter(({ promises: shown }) => shown.includes(name));
    const said = own.map(({ promises: _, ...rest }) => JSON.stringify(rest)).join('<br>');
    const tests = `${passed} passed, ${failed} failed, ${seconds} s`;
    console.log(
      `| ${promise} | \`${spec}\` | ${said === '' ? tests : `${said}<br>${tests}`} | ${ok ? 'ok' : 'FAILED'} |`,
    );
  }
rmSync(folder, { recursive: true });
process.exitCode = [...runs.values()].every(({ ok }) => ok) ? 0 : 1;
