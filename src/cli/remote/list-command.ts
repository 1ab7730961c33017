import type { Command } from 'commander';
import { countArgument } from '../arguments.js';
import type { CommandContext, Terminal } from '../command-context.js';
import { jsonText, printable } from '../terminal-text.js';
import { remoteTable } from './remote-text.js';
import { gatewayOf } from './with-gateway.js';

export type Row = Readonly<Record<string, unknown>>;
type Filters = Readonly<Record<string, string | undefined>>;

interface ListOptions {
  readonly limit: number;
  readonly json?: true;
  readonly [filter: string]: unknown;
}

/** How a list is shown. */
export interface ListShape {
  readonly head: readonly string[];
  readonly cells: (row: Row) => readonly string[];
  /** Columns that wrap. */
  readonly folded: readonly number[];
  readonly none: string;
}

/** A list of the operators' API as a table. */
export interface PagedShape extends ListShape {
  readonly path: string;
}

export interface JsonOption {
  readonly json?: true;
}

/** A value as a cell: a dash for nothing, lists with commas. */
export function text(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(text).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const columns =
  (...keys: readonly string[]) =>
  (row: Row): readonly string[] =>
    keys.map((key) => text(row[key]));

/** The rows as a table, or that there are none. */
export function showList(terminal: Terminal, shape: ListShape, rows: readonly Row[]): void {
  if (rows.length === 0) terminal.err(`${shape.none}\n`);
  else terminal.out(remoteTable(shape.head, rows.map(shape.cells), shape.folded, terminal.isColored));
}

/** A command `list`; options that are added to it are filters. */
export function list(parent: Command, context: CommandContext, shape: PagedShape): Command {
  return parent
    .command('list')
    .option('--limit <count>', 'most lines, up to 10000', countArgument, 50)
    .option('--json', 'print an object')
    .action(async ({ limit, json: asJson, ...filters }: ListOptions) => {
      const items = await gatewayOf(context).items<Row>(shape.path, filters as Filters, limit);
      if (asJson) context.terminal.out(jsonText({ items }));
      else showList(context.terminal, shape, items);
    });
}

/** A command that does something with one thing, and then prints its state. */
export function act(
  parent: Command,
  context: CommandContext,
  verb: string,
  description: string,
  run: (subject: string) => Promise<Row>,
): void {
  parent
    .command(verb)
    .description(description)
    .argument('<subject>', 'its id or name, as "list" shows it')
    .option('--json', 'print an object')
    .action(async (subject: string, options: JsonOption) => {
      const done = await run(subject);
      if (options.json) context.terminal.out(jsonText(done));
      else context.terminal.err(`${printable(subject)} is ${printable(text(done['status']))}.\n`);
    });
}
