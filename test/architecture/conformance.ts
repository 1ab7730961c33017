import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { REMARKS } from './conformance-remarks.js';
import {
  SPECIFICATION_ROWS,
  SPECIFICATION_TABLES,
  type SpecificationRow,
  type SpecificationTable,
} from './specification-rows.js';
import { titlesIn, type Written } from './test-titles.js';

/** A test, or a `describe` with tests in it, whose title quotes a row. */
export interface Quoting {
  /** Relative to the root of the project. */
  readonly file: string;
  readonly title: string;
  /** The titles of the tests inside it; empty for a test. */
  readonly sentences: readonly string[];
}

const ROOT = join(__dirname, '../..');
const FOLDERS = ['test/contract', 'test/stories', 'test/hostile', 'test/e2e'];
/**
 * Sections with a table, and their chapters: a title that begins with one of these numbers is meant as a quotation.
 */
const SECTIONS = new Set(SPECIFICATION_TABLES.flatMap(({ section }) => [section, section.split('.')[0]]));

/** Every title that quotes a section with a table, or tries to, in the order of the files. */
export function quotations(): readonly Quoting[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.spec.ts'))
      .sort()
      .flatMap((name) => quotedBy(`${folder}/${name}`, titlesIn(join(ROOT, folder, name)))),
  );
}

function quotedBy(file: string, written: readonly Written[]): readonly Quoting[] {
  return written.flatMap((one) => {
    const sentences = testsBelow(one);
    const shows = one.kind === 'test' || sentences.length > 0;
    const own = one.printed
      .filter((title) => shows && isQuotation(title))
      .map((title) => ({ file, title, sentences }));
    return [...own, ...quotedBy(file, one.children)];
  });
}

/** Leaves out tests that quote a row themselves: they are listed under that row. */
const testsBelow = ({ children }: Written): readonly string[] =>
  children.flatMap((child) => {
    if (child.printed.some(isQuotation)) return [];
    return child.kind === 'test' ? [sentenceOf(child)] : testsBelow(child);
  });

const isQuotation = (title: string): boolean => SECTIONS.has(title.split(' | ')[0] ?? '');

const sentenceOf = ({ title, printed }: Written): string =>
  printed.length === 1 ? (printed[0] ?? title) : title.replaceAll(/%[sidfjop]/g, '…');

export const quotes = ({ title }: Quoting, { quote }: SpecificationRow): boolean => title === quote;

export const quotesNothing = (quoting: Quoting): boolean =>
  !SPECIFICATION_ROWS.some((row) => quotes(quoting, row));

const INTRODUCTION = `# Conformance

Every row of every table of [the contract](specification/api.md), with the tests that show it. Titles quote the row: a test with the
row as its title is only a link; below a \`describe\` with that title, its tests are listed.

\`npm run generate:conformance\` writes this page from the titles in the spec files. \`test/architecture/conformance.spec.ts\` fails when
a row has no test, when a title quotes a row that does not exist, and when this page differs from the titles.
`;

/** The expected text of docs/conformance.md. */
export const conformancePage = (all: readonly Quoting[]): string =>
  [INTRODUCTION, ...SPECIFICATION_TABLES.map((table) => section(table, all))].join('\n');

function section(table: SpecificationTable, all: readonly Quoting[]): string {
  const remarked = table.rows.some(({ quote }) => quote in REMARKS);
  const columns = [...table.columns, 'Profiles', 'Shown by', ...(remarked ? ['Remark'] : [])];
  const rows = table.rows.map((row) => [
    ...row.cells.map(escaped),
    row.profiles.join(', ').toUpperCase(),
    shown(all.filter((one) => quotes(one, row))),
    ...(remarked ? [REMARKS[row.quote] ?? ''] : []),
  ]);
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `## ${table.section} ${table.name}\n\n${lines.join('\n')}\n`;
}

function shown(quoting: readonly Quoting[]): string {
  const files = [...new Set(quoting.map(({ file }) => file))];
  return files
    .flatMap((file) => [
      `[${file.replace(/^test\/|\.spec\.ts$/g, '')}](../${file})`,
      ...quoting.filter((one) => one.file === file).flatMap(({ sentences }) => sentences.map(item)),
    ])
    .join('<br>');
}

const item = (sentence: string): string => `· ${escaped(sentence)}`;

/** Escapes what Markdown would interpret. */
const escaped = (text: string): string => text.replaceAll(/[|<*]/g, String.raw`\$&`);
