import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BranchLedger } from './branch-ledger.mjs';
import { darkArms, tableOf } from './branch-report.mjs';

/**
 * Jest reporter of `npm run test:coverage`: how many arms of the branches in `src` were taken, by area, in this process
 * and in all that the tests started. `BRANCHES_MERGE=1` adds to what an earlier run found.
 */
export default class BranchReporter {
  #processes = process.env.NODE_V8_COVERAGE;
  #root;
  #ledger;

  constructor({ rootDir }) {
    this.#root = rootDir;
    this.#ledger = new BranchLedger(rootDir);
  }

  onTestResult(_test, result) {
    this.#ledger.addJest(result.v8Coverage ?? []);
    // Jest would keep it to the end for a report of its own.
    result.v8Coverage = undefined;
    this.#ledger.addProcesses(this.#processes);
  }

  onRunComplete() {
    this.#ledger.addProcesses(this.#processes);
    const folder = join(this.#root, 'coverage');
    const counts = join(folder, 'branches.json');
    mkdirSync(folder, { recursive: true });
    if (process.env.BRANCHES_MERGE) this.#ledger.addEarlier(JSON.parse(readFileSync(counts, 'utf8')));
    writeFileSync(counts, JSON.stringify(this.#ledger));
    writeFileSync(join(folder, 'dark-branches.txt'), darkArms(this.#ledger));
    process.stdout.write(`\n${tableOf(this.#ledger)}\nArms never taken: coverage/dark-branches.txt\n`);
    if (this.#ledger.unplaced.size > 0)
      process.stdout.write(`Without a place in any compiled text: ${[...this.#ledger.unplaced].join(' ')}\n`);
  }
}
