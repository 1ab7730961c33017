import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { USAGE_DIMENSIONS } from '../../src/areas/usage/usage-period.js';
import { usageStatement } from '../../src/areas/usage/usage-report.sql.js';

/** The source files, as paths below `src`. */
export const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => ({ file, text: readFileSync(join('src', file), 'utf8') }));

/** Loads every file that declares statements, so that `allStatements` has them all. */
export async function loadStatements(): Promise<void> {
  for (const { file, text } of SOURCES) {
    if (/\b(statement|statementsBy|sealedPlace|dueQuestion)\(/.test(text))
      await import(`../../src/${file.replace(/\.ts$/, '.js')}`);
  }
  // The statements of usage are created on first use, for any dimensions in any order.
  for (const by of [[], ...USAGE_DIMENSIONS.map((one) => [one]), USAGE_DIMENSIONS]) usageStatement(by);
}
