import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { USAGE_DIMENSIONS } from '../../src/areas/usage/usage-period.js';
import { usageStatement } from '../../src/areas/usage/usage-report.sql.js';
import { declaredStatements } from './declared-statements.js';

/** The source files, as paths below `src`. */
const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => ({ file, text: readFileSync(join('src', file), 'utf8') }));

export const DECLARED = declaredStatements(SOURCES);

/** What is declared on demand, with examples: usage is reported by any dimensions, in any order. */
export const EXAMPLES: Readonly<Record<string, () => void>> = {
  usageStatement: () => {
    for (const by of [[], ...USAGE_DIMENSIONS.map((one) => [one]), USAGE_DIMENSIONS]) usageStatement(by);
  },
};

/** Loads every file that declares statements, so that `allStatements` has them all. */
export async function loadStatements(): Promise<void> {
  for (const file of DECLARED.files) await import(`../../src/${file.replace(/\.ts$/, '.js')}`);
  for (const declareExamples of Object.values(EXAMPLES)) declareExamples();
}
