#!/usr/bin/env node
// Old syntax on purpose: a Node that is too old must get as far as the sentence that says so.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/bundle/agent-gateway.cjs', import.meta.url);

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Whether a version is in a range of `^1.2.3` and `>=1.2.3`, joined by `||`. */
function satisfies(version, range) {
  return range.split('||').some((part) => {
    const match = /^(\^|>=)(\d+)\.(\d+)\.(\d+)$/.exec(part.trim());
    if (match === null) return true;
    const least = match.slice(2).map(Number);
    const have = version.split(/[.-]/).slice(0, 3).map(Number);
    if (match[1] === '^' && have[0] !== least[0]) return false;
    const differs = [0, 1, 2].find((index) => have[index] !== least[index]);
    return differs === undefined || have[differs] > least[differs];
  });
}

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
if (!satisfies(process.versions.node, engines.node)) {
  fail(`agent-gateway needs Node ${engines.node}; this is Node ${process.versions.node}.`);
}
if (!existsSync(fileURLToPath(main))) {
  fail('agent-gateway is not built yet: run `npm run build` (or `npm ci`, which builds too).');
}

try {
  const { load } = createRequire(import.meta.url)('./bundle-loader.cjs');
  await load('agent-gateway.cjs').main(process.argv.slice(2));
} catch (error) {
  fail(`agent-gateway cannot start: ${error.stack}`);
}
