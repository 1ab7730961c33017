import { Injectable } from '@nestjs/common';
import { ChannelReports } from '../channels/channels.api.js';
import { DeliveryDirectory } from '../hooks/hooks.api.js';
import { McpDirectory, McpServers } from '../mcp/mcp.api.js';
import { ToolApprovalRecords } from '../tools/tools.api.js';
import { BudgetReports } from '../usage/usage.api.js';

export const ATTENTION_KINDS = [
  'approval',
  'channel',
  'mcp_server',
  'tool_quarantine',
  'hook',
  'budget',
] as const;

/** Something that waits for a person. */
export interface Attention {
  readonly kind: (typeof ATTENTION_KINDS)[number];
  /** What it is about; empty for approvals, which are counted together. */
  readonly name: string;
  readonly text: string;
  readonly since: Date | null;
  readonly count: number;
}

/** The most items of each kind. */
const MOST = 20;

/** What needs a person: calls that wait, and what is broken. */
@Injectable()
export class AttentionList {
  constructor(
    private readonly approvals: ToolApprovalRecords,
    private readonly channels: ChannelReports,
    private readonly servers: McpServers,
    private readonly mcp: McpDirectory,
    private readonly hooks: DeliveryDirectory,
    private readonly budgets: BudgetReports,
  ) {}

  async all(): Promise<readonly Attention[]> {
    const [approvals, channels, quarantined, hooks, budgets] = await Promise.all([
      this.waitingApprovals(),
      this.failingChannels(),
      this.quarantinedTools(),
      this.failingHooks(),
      this.reachedBudgets(),
    ]);
    return [...approvals, ...channels, ...this.failingServers(), ...quarantined, ...hooks, ...budgets];
  }

  private async waitingApprovals(): Promise<Attention[]> {
    const { count, oldest } = await this.approvals.waiting();
    if (count === 0) return [];
    const text = count === 1 ? 'a tool call waits for a decision' : `${count} tool calls wait for a decision`;
    return [{ kind: 'approval', name: '', text, since: oldest, count }];
  }

  private async failingChannels(): Promise<Attention[]> {
    const failing = (await this.channels.enabledStates()).filter(({ status }) => status !== 'connected');
    return failing
      .slice(0, MOST)
      .map(({ name, status, error }) => item('channel', name, error ?? `it is ${status}`));
  }

  private failingServers(): Attention[] {
    const failing = this.servers.list().filter(({ status }) => status !== 'connected');
    return failing
      .slice(0, MOST)
      .map(({ name, status, error }) => item('mcp_server', name, error ?? `it is ${status}`));
  }

  private async quarantinedTools(): Promise<Attention[]> {
    const held = await this.mcp.quarantined();
    return held
      .slice(0, MOST)
      .map(({ server, tool, since }) =>
        item('tool_quarantine', `${server}/${tool}`, 'it is new or changed and waits for approval', since),
      );
  }

  private async failingHooks(): Promise<Attention[]> {
    const troubled = await this.hooks.troubled(MOST);
    return troubled.map(({ id, active, inactive_reason: reason, failing_since: since }) =>
      item('hook', id, active ? 'every attempt fails' : `it was given up (${reason ?? 'unknown'})`, since),
    );
  }

  private async reachedBudgets(): Promise<Attention[]> {
    const reached = await this.budgets.reached(MOST);
    return reached.map(({ scope, name, period, limit_usd: limit }) => {
      const whose = name === '' ? scope : `${scope} ${name}`;
      return item('budget', whose, `the budget of ${limit} US dollars a ${period} is used up`);
    });
  }
}

function item(kind: Attention['kind'], name: string, text: string, since: Date | null = null): Attention {
  return { kind, name, text, since, count: 1 };
}
