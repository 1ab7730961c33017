import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, MaxLength } from 'class-validator';
import type { Page } from '../../../http/paging/keyset-list.js';
import { Count, TextOrNull } from '../../../http/paging/page-view.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import type { AgentsChecked, ModelCheck } from '../agent-checks.service.js';
import type { AgentReport } from '../agent-directory.service.js';

export class AgentModelView {
  @ApiProperty({ example: 'main/claude-sonnet-5' })
  name!: string;

  @ApiProperty({ enum: ['ok', 'cooling'], description: '`cooling`: it failed lately and is passed over' })
  status!: 'ok' | 'cooling';

  @ApiProperty({
    type: 'string',
    nullable: true,
    example: 'provider_unreachable',
    description: 'Why it failed',
  })
  reason!: string | null;
}

export class AgentToolsView {
  @ApiProperty({ type: [String] })
  allow!: readonly string[];

  @ApiProperty({ type: [String] })
  deny!: readonly string[];
}

export class AgentView {
  @ApiProperty({ example: 'support' })
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [AgentModelView], description: 'In the order in which they are asked' })
  models!: AgentModelView[];

  @ApiProperty()
  tools!: AgentToolsView;

  @ApiProperty({ type: [String], description: 'Patterns of names' })
  skills!: readonly string[];

  @ApiProperty()
  memory!: boolean;

  @ApiProperty({ type: [String], description: 'Ids of users, `role:<name>`, or `*`' })
  users!: readonly string[];

  @ApiProperty({
    type: [String],
    example: ['tools.allow: "cmr__*" matches no tool.'],
    description:
      'What it names that is not there, as the replica that answers sees it: patterns of tools, skills',
  })
  warnings!: readonly string[];

  @ApiProperty({ type: 'integer', description: 'Live sessions' })
  sessions!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars since midnight UTC; null when something was used and nothing of it is priced',
  })
  spent_today_usd!: number | null;
}

export class AgentPageView {
  @ApiProperty({ type: [AgentView], description: 'By name' })
  items!: AgentView[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The `cursor` of the next page; null on the last',
  })
  next_cursor!: string | null;
}

export function presentAgentPage({ items, nextCursor }: Page<AgentReport>): AgentPageView {
  return { items: items.map(presentAgent), next_cursor: nextCursor };
}

function presentAgent(agent: AgentReport): AgentView {
  return {
    name: agent.name,
    description: agent.description,
    models: agent.chain.map(({ name, problem }) => ({
      name,
      status: problem === undefined ? 'ok' : 'cooling',
      reason: problem ?? null,
    })),
    tools: { allow: agent.tools.allow, deny: agent.tools.deny },
    skills: agent.skills,
    memory: agent.memory,
    users: agent.users,
    warnings: agent.warnings,
    sessions: agent.sessions,
    spent_today_usd: agent.spentToday,
  };
}

const MOST_NAMED = 100;

/** POST /admin/v1/agents/check. */
export class CheckAgentsRequest {
  @ApiPropertyOptional({
    type: [String],
    minItems: 1,
    maxItems: MOST_NAMED,
    description: 'Names of agents; all that the token may use unless given',
  })
  @Optional()
  @IsArray({ message: 'must be a list' })
  @ArrayMinSize(1, { message: 'must have an item' })
  @ArrayMaxSize(MOST_NAMED, { message: `must have at most ${MOST_NAMED} items` })
  @IsString({ each: true, message: 'must be a list of strings' })
  @MaxLength(128, { each: true, message: 'must be a list of names' })
  agents?: string[];
}

/** Each can be sent unchanged. */
export const CHECK_EXAMPLES = {
  all: { summary: 'All agents', value: {} },
  one: { summary: 'One agent', value: { agents: ['default'] } },
};

export class ModelCheckView {
  @ApiProperty({ example: 'main/claude-sonnet-5' })
  name!: string;

  @ApiProperty({
    enum: ['answered', 'failed', 'not_asked'],
    description: '`not_asked`: there was no time left for it',
  })
  status!: ModelCheck['status'];

  @TextOrNull('Why it did not answer: a fixed word, such as `provider_unreachable`')
  reason!: string | null;

  @TextOrNull('The same as a sentence')
  message!: string | null;

  @Count('Milliseconds until it had answered or failed, its retries included')
  latency_ms!: number;

  @Count()
  input_tokens!: number;

  @Count()
  output_tokens!: number;

  @ApiProperty({ type: 'number', nullable: true, description: 'US dollars; null when the price is unknown' })
  cost_usd!: number | null;
}

export class AgentCheckView {
  @ApiProperty({ example: 'support' })
  name!: string;

  @ApiProperty({ type: [String], description: 'What it names that is not there' })
  warnings!: readonly string[];

  @ApiProperty({
    type: [ModelCheckView],
    description: 'In the order in which they are asked; a model of several agents was asked once',
  })
  models!: ModelCheckView[];
}

export class AgentsCheckedView {
  @ApiProperty({ type: [AgentCheckView], description: 'By name' })
  agents!: AgentCheckView[];

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars, of all calls together; null when no price is known',
  })
  cost_usd!: number | null;
}

export function presentAgentsChecked({ agents, costUsd }: AgentsChecked): AgentsCheckedView {
  return {
    agents: agents.map(({ name, warnings, models }) => ({
      name,
      warnings,
      models: models.map(presentCheck),
    })),
    cost_usd: costUsd,
  };
}

function presentCheck({ name, status, reason, message, ...check }: ModelCheck): ModelCheckView {
  return {
    ...{ name, status, reason, message },
    latency_ms: check.latencyMs,
    input_tokens: check.inputTokens,
    output_tokens: check.outputTokens,
    cost_usd: check.costUsd,
  };
}
