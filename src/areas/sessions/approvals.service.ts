import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { AgentNotAllowed } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import {
  type ApprovalAnswer,
  type ApprovalRecord,
  ToolApprovalRecords,
  ToolApprovals,
  ToolPolicy,
} from '../tools/tools.api.js';
import { ApprovalDecided, NoWaitingCall, ToolNotYours } from './sessions.errors.js';

const LIST = new KeysetList<ApprovalRecord>('approvals', ['time', 'text'], ({ askedAt, id }) => [
  askedAt,
  id,
]);

/** What a caller says to a tool call that waits. */
export type ApprovalDecision = Pick<ApprovalAnswer, 'verdict' | 'reason'>;

/** Tool calls that wait for a person, over all sessions that the caller may see. */
@Injectable()
export class Approvals {
  constructor(
    private readonly approvals: ToolApprovals,
    private readonly records: ToolApprovalRecords,
    private readonly policy: ToolPolicy,
  ) {}

  /** Newest first; a bound caller sees those of its user. */
  async list(
    query: PageQuery,
    status: ApprovalRecord['status'],
    caller: Caller,
  ): Promise<Page<ApprovalRecord>> {
    refuseCallerOfSomeAgents(caller);
    const { boundUserId: userId } = caller;
    const filters = [status, userId];
    const found = await this.records.page(LIST.after(query, filters), { status, userId }, query.limit + 1);
    return LIST.page(found, query, filters);
  }

  /**
   * The first decision over all replicas counts. Throws `NoWaitingCall`, `ToolNotYours` when turns of the caller may not
   * use the tool, and `ApprovalDecided` with who decided before.
   */
  async decide(id: string, { verdict, reason }: ApprovalDecision, caller: Caller): Promise<ApprovalRecord> {
    refuseCallerOfSomeAgents(caller);
    const asked = await this.found(id, caller);
    const token = { id: caller.tokenId, name: caller.tokenName };
    // The rules of `api` apply to the turn that asks, which has met them already.
    const context = { channel: asked.channel, token, isFromChannel: true };
    if (verdict === 'allowed' && !this.policy.allows(asked.tool, context)) throw new ToolNotYours(asked.tool);
    const by = `token "${token.name}" (${token.id})`;
    const isFirst = await this.approvals.answer(id, { verdict, by, reason });
    const decided = await this.found(id, caller);
    if (!isFirst) throw new ApprovalDecided(decided);
    return decided;
  }

  private async found(id: string, { boundUserId }: Caller): Promise<ApprovalRecord> {
    const record = await this.records.find(id, boundUserId);
    if (record === undefined) throw new NoWaitingCall();
    return record;
  }
}

/** Calls of all agents are listed together, so whoever may use only some of them sees none. */
function refuseCallerOfSomeAgents({ agents }: Caller): void {
  if (agents !== undefined)
    throw new AgentNotAllowed(
      `This access token may only use the agents ${agents.join(', ')}; calls are decided by tokens that may use all, or over the WebSocket of the session.`,
    );
}
