import { type Command, InvalidArgumentError } from 'commander';
import { dayIn, dayOf, dimensionsIn, USAGE_DIMENSIONS, usualSince } from '../../areas/usage/usage-period.js';
import type { UsageDimension } from '../../areas/usage/usage-report.sql.js';
import type { UsageCounts, UsageQuery, UsageReportRow } from '../../areas/usage/usage-reports.js';
import { inApplication } from '../application.js';
import { agoArgument } from '../arguments.js';
import type { CommandContext, Terminal } from '../command-context.js';
import { paintOf } from '../paint.js';
import { namedGateway } from '../remote/with-gateway.js';
import { jsonText } from '../terminal-text.js';
import { textTable } from '../text-table.js';
import { csvOf, dollars } from '../usage-text.js';

/** More rows than this are no table that anyone reads; CSV and JSON have the same bound, so that memory has one. */
const MAX_ROWS = 1_000_000;

interface UsageOptions {
  readonly by: readonly UsageDimension[];
  readonly since: string;
  readonly until: string;
  readonly json?: true;
  readonly csv?: true;
}

/** `usage`: what turns used and cost. */
export function addUsageCommand(program: Command, context: CommandContext): void {
  program
    .command('usage')
    .description('show what turns used and cost, in days of UTC')
    .option('--by <dimensions>', `of ${USAGE_DIMENSIONS.join(', ')}`, byArgument, ['day' as const])
    .option(
      '--since <day>',
      'the first day, such as 2026-08-24, or 30d for days ago',
      dayArgument,
      usualSince(),
    )
    .option('--until <day>', 'the last day, included', dayArgument, dayOf(new Date()))
    .option('--csv', 'print CSV for spreadsheets')
    .option('--json', 'print an object')
    .action(async ({ by, since, until, json, csv }: UsageOptions) => {
      const rows = await rowsOf(context, { by, since, until, limit: MAX_ROWS });
      const { terminal } = context;
      if (json) terminal.out(jsonText({ usage: rows.map(flat) }));
      else if (csv) terminal.out(csvOf(by, rows));
      else if (rows.length === 0) terminal.err('There was no usage in these days.\n');
      else terminal.out(usageTable(by, rows, terminal));
    });
}

/** From the named gateway, else from the database of the settings. */
async function rowsOf(context: CommandContext, query: UsageQuery): Promise<readonly UsageReportRow[]> {
  const gateway = namedGateway(context);
  if (gateway === undefined) {
    const { UsageReports } = await import('../../areas/usage/usage-reports.js');
    return inApplication(context, 'read', (app) => app.get(UsageReports).rows(query));
  }
  const { by, since, until, limit } = query;
  const filters = { by: by.join(','), since, until };
  const items = await gateway.items<RemoteRow>('/admin/v1/usage', filters, limit);
  return items.map((row) => {
    const dimensions = Object.fromEntries(by.map((name) => [name, row[name] ?? '']));
    const counts = Object.entries(row).filter(([name]) => !by.includes(name as UsageDimension));
    return { dimensions, counts: Object.fromEntries(counts) as unknown as UsageCounts };
  });
}

type RemoteRow = UsageCounts & Readonly<Partial<Record<UsageDimension, string>>>;

const flat = ({ dimensions, counts }: UsageReportRow) => ({ ...dimensions, ...counts });

/** Lines of at most 100 columns: names wrap. */
function usageTable(
  by: readonly UsageDimension[],
  rows: readonly UsageReportRow[],
  { isColored = false }: Terminal,
): string {
  const head = [
    ...by.map((name) => name.toUpperCase().replace('_', ' ')),
    'TURNS',
    'INPUT',
    'OUTPUT',
    'USD',
    'UNPRICED',
  ];
  const cells = rows.map(({ dimensions, counts }) => [
    ...by.map((name) => dimensions[name] ?? ''),
    ...[counts.turns, counts.input_tokens, counts.output_tokens].map(String),
    counts.cost_usd === null ? 'unknown' : dollars(counts.cost_usd, 4),
    String(counts.unpriced_tokens),
  ]);
  return textTable([head, ...cells], {
    width: 100,
    folded: by.map((_, column) => column),
    paint: paintOf(isColored),
  });
}

function byArgument(text: string): readonly UsageDimension[] {
  const by = dimensionsIn(text);
  if (by === undefined)
    throw new InvalidArgumentError(
      `Expected some of ${USAGE_DIMENSIONS.join(', ')}, each once, with commas.`,
    );
  return by;
}

function dayArgument(text: string): string {
  const day = dayIn(text);
  if (day !== undefined) return day;
  return dayOf(agoArgument(text));
}
