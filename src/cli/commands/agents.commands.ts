import type { Command } from 'commander';
import type { AgentOverview } from '../../areas/agents/agent-overview.js';
import { inApplication } from '../application.js';
import { countArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { remoteTable } from '../remote/remote-text.js';
import { gatewayOf } from '../remote/with-gateway.js';
import { jsonText, printable } from '../terminal-text.js';
import { dollars } from '../usage-text.js';

const CHECK_EXAMPLES = `
It asks one token of each model, which its provider charges. Ends with 1 when a model does not answer.

Examples:
  agent-gateway --url https://gateway.example.com agents check
  agent-gateway agents check support legal --json`;

/** In the form of `GET /admin/v1/agents`. */
interface AgentRow {
  readonly name: string;
  readonly description: string;
  readonly models: readonly {
    readonly name: string;
    readonly status: string;
    readonly reason: string | null;
  }[];
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly skills: readonly string[];
  readonly memory: boolean;
  readonly users: readonly string[];
  readonly warnings: readonly string[];
  readonly sessions: number;
  readonly spent_today_usd: number | null;
}

interface ModelCheckRow {
  readonly name: string;
  readonly status: 'answered' | 'failed' | 'not_asked';
  readonly reason: string | null;
  readonly message: string | null;
  readonly latency_ms: number;
  readonly cost_usd: number | null;
}

/** In the form of the response of `POST /admin/v1/agents/check`. */
interface Checked {
  readonly agents: readonly {
    readonly name: string;
    readonly warnings: readonly string[];
    readonly models: readonly ModelCheckRow[];
  }[];
  readonly cost_usd: number | null;
}

const WORDS = { answered: 'answered', failed: 'failed', not_asked: 'not asked' } as const;
/** A check costs a hundred-thousandth of a dollar. */
const DIGITS = 8;

/** `agents …`: from the database of the settings, or from the gateway of `--url`, which alone can ask the models. */
export function addAgentsCommands(program: Command, context: CommandContext): void {
  const agents = program
    .command('agents')
    .description('agents of the settings, or of a running gateway (--url)');
  addList(agents, context);
  addCheck(agents, context);
}

function addList(agents: Command, context: CommandContext): void {
  agents
    .command('list')
    .description('list agents, their models and what they spent today')
    .option('--limit <count>', 'most lines, up to 10000', countArgument, 50)
    .option('--json', 'print an object')
    .action(async ({ limit, json: asJson }: { readonly limit: number; readonly json?: true }) => {
      const items = await rowsOf(context, limit);
      const { terminal } = context;
      if (asJson) terminal.out(jsonText({ items }));
      else if (items.length === 0) terminal.err('There are no agents for this token.\n');
      else terminal.out(remoteTable(HEAD, items.map(cellsOf), [1, 4]));
      if (!asJson) warn(context, items);
    });
}

const HEAD = ['NAME', 'MODELS', 'SESSIONS', 'SPENT TODAY', 'DESCRIPTION'];

async function rowsOf(context: CommandContext, limit: number): Promise<readonly AgentRow[]> {
  if (context.remote().url !== undefined || context.environment.remoteUrl !== undefined)
    return gatewayOf(context).items<AgentRow>('/admin/v1/agents', {}, limit);
  const { agentsIn } = await import('../agent-offer.js');
  const agents = await inApplication(context, { access: 'read', opens: 'configuration' }, agentsIn);
  return agents.slice(0, limit).map(rowOf);
}

function rowOf(agent: AgentOverview): AgentRow {
  const { name, description, tools, skills, memory, users, warnings, sessions } = agent;
  return {
    name,
    description,
    models: agent.chain.map(({ name: model, problem }) => ({
      name: model,
      status: problem === undefined ? 'ok' : 'cooling',
      reason: problem ?? null,
    })),
    tools,
    ...{ skills, memory, users, warnings, sessions },
    spent_today_usd: agent.spentToday,
  };
}

function cellsOf({ name, models, sessions, spent_today_usd: spent, description }: AgentRow): string[] {
  // With the reason when one is skipped for now.
  const chain = models.map((model) =>
    model.reason === null ? model.name : `${model.name} (${model.reason})`,
  );
  return [
    name,
    chain.join(', '),
    String(sessions),
    spent === null ? 'unknown' : `$${spent.toFixed(2)}`,
    description || '-',
  ];
}

function addCheck(agents: Command, context: CommandContext): void {
  agents
    .command('check')
    .description(
      'ask each model of the agents of a running gateway (--url) for one token: who answers, and what it costs',
    )
    .argument('[agents...]', 'their names; all unless given')
    .option('--json', 'print an object')
    .addHelpText('after', CHECK_EXAMPLES)
    .action(async (names: readonly string[], options: { readonly json?: true }) => {
      const checked = await gatewayOf(context).post<Checked>(
        '/admin/v1/agents/check',
        names.length === 0 ? {} : { agents: names },
      );
      const { terminal } = context;
      if (options.json) terminal.out(jsonText(checked));
      else {
        terminal.out(remoteTable(CHECK_HEAD, checked.agents.flatMap(checkCells), [0, 1, 5]));
        terminal.err(`Together: ${costText(checked.cost_usd)}.\n`);
        warn(context, checked.agents);
      }
      const hasFailed = checked.agents.some(({ models }) =>
        models.some(({ status }) => status !== 'answered'),
      );
      if (hasFailed) throw new CommandFailed();
    });
}

const CHECK_HEAD = ['AGENT', 'MODEL', 'RESULT', 'MS', 'COST', 'WHY'];

function checkCells({ name, models }: Checked['agents'][number]): string[][] {
  return models.map((model) => [
    name,
    model.name,
    WORDS[model.status],
    String(model.latency_ms),
    model.status === 'answered' ? costText(model.cost_usd) : '-',
    model.reason === null ? '-' : `${model.reason}: ${model.message ?? ''}`,
  ]);
}

const costText = (cost: number | null): string =>
  cost === null ? 'unknown' : `$${dollars(Number(cost.toFixed(DIGITS)), 2)}`;

function warn(
  { terminal }: CommandContext,
  agents: readonly { readonly name: string; readonly warnings: readonly string[] }[],
): void {
  for (const { name, warnings } of agents)
    for (const warning of warnings) terminal.err(`warning: ${printable(`${name}: ${warning}`)}\n`);
}
