import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS } from './client-conformance.js';
import { scenarioTable } from './judged-scenarios.js';
import { titlesIn, type Written } from './test-titles.js';

/** Features that are refused by name. */
const isRefused = (feature: string): boolean => feature.endsWith(', not supported');

const PAGE_TOP = `# Clients, and what shows that they work

Which client does what in which test, on each change of the program. A feature that is refused by name is shown to be refused.

\`npm run generate:conformance\` writes this page from \`test/architecture/client-conformance.ts\`; its spec fails when a row names a test
that is not there or is skipped, and when this page differs. Recipes are in [clients](clients.md). A client that is not on this page is tried by no test.

`;

export function clientsPage(): string {
  const tables = CLIENTS.map(({ client, shown }) => {
    const lines = shown.map(({ feature, file, title }) => {
      const name = file.replace(/^test\//, '').replace(/\.spec\.ts$/, '');
      const state = isRefused(feature) ? 'refused by name' : 'works';
      return `| ${feature.replace(/, not supported$/, '')} | ${state} | [${name}](../${file}): ${title.replaceAll('|', '\\|')} |`;
    });
    return `## ${client}\n\n| Feature | | Shown by |\n| --- | --- | --- |\n${lines.join('\n')}\n`;
  });
  return PAGE_TOP + [...tables, scenarioTable()].join('\n');
}

/** Rows whose test does not exist, or is skipped. */
export function rowsWithoutTest(root: string): string[] {
  const known = new Map<string, ReadonlySet<string>>();
  return CLIENTS.flatMap(({ client, shown }) =>
    shown.flatMap(({ feature, file, title }) => {
      const path = join(root, file);
      if (!known.has(file)) known.set(file, existsSync(path) ? new Set(testsIn(titlesIn(path))) : new Set());
      return known.get(file)?.has(title) === true
        ? []
        : [`${client}, ${feature}: ${file} has no test "${title}"`];
    }),
  );
}

function testsIn(written: readonly Written[]): string[] {
  return written.flatMap(({ kind, printed, children }) => (kind === 'test' ? printed : testsIn(children)));
}
