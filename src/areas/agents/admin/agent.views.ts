import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '../../../http/paging/keyset-list.js';
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

  @ApiProperty({ type: 'integer', description: 'Live sessions' })
  sessions!: number;

  @ApiProperty({ type: 'number', description: 'US dollars since midnight UTC' })
  spent_today_usd!: number;
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
    sessions: agent.sessions,
    spent_today_usd: agent.spentToday,
  };
}
