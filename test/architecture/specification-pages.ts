import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A table of a page, and the heading above it. */
export interface PageTable {
  readonly heading: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const FOLDER = join(__dirname, '../../docs/specification');
const HEADING = /^#{1,6} (.+)$/;

const readPage = (page: string): string => readFileSync(join(FOLDER, page), 'utf8');

export const pages = (): readonly string[] => readdirSync(FOLDER).filter((name) => name.endsWith('.md'));

export const headingsOf = (page: string): readonly string[] =>
  readPage(page)
    .split('\n')
    .flatMap((line) => HEADING.exec(line)?.[1] ?? []);

export function tablesOf(page: string): readonly PageTable[] {
  const tables: { heading: string; columns: string[]; rows: string[][] }[] = [];
  let heading = '';
  let open: (typeof tables)[number] | undefined;
  for (const line of readPage(page).split('\n')) {
    heading = HEADING.exec(line)?.[1] ?? heading;
    if (!line.startsWith('|')) open = undefined;
    else if (open === undefined) {
      open = { heading, columns: cellsOf(line), rows: [] };
      tables.push(open);
    } else if (!line.startsWith('|---')) open.rows.push(cellsOf(line));
  }
  return tables;
}

const cellsOf = (line: string): string[] => line.slice(2, -2).split(' | ');
