import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants } from '../../platform/tokens/scopes.js';
import { type ApprovalAnswer, ToolApprovals, ToolPolicy } from '../tools/tools.api.js';
import { AskerRule } from './asker-rule.js';
import { MayNotApprove, NoWaitingCall, ToolNotYours } from './sessions.errors.js';
import { SessionsService } from './sessions.service.js';

/** People's answers to tool calls that wait for approval. */
@Injectable()
export class ToolAnswers {
  constructor(
    private readonly approvals: ToolApprovals,
    private readonly policy: ToolPolicy,
    private readonly askers: AskerRule,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * Needs the scope `approvals:write`, however the answer arrives: the right to drive the agent does not include the right
   * to approve what it does. Throws `MayNotApprove`, `SessionNotFound`, `NoWaitingCall` when no call with this id waits in
   * this session, and `ToolNotYours` when the caller's own turns may not use the tool.
   */
  async answer(
    sessionId: string,
    approvalId: string,
    verdict: ApprovalAnswer['verdict'],
    caller: Caller,
  ): Promise<void> {
    if (!grants(caller.scopes, 'approvals:write')) throw new MayNotApprove();
    const { agent } = await this.sessions.find(sessionId, caller);
    const open = (await this.approvals.open(sessionId)).find(({ id }) => id === approvalId);
    if (open === undefined) throw new NoWaitingCall();
    await this.askers.refuse(open, caller);
    const token = { id: caller.tokenId, name: caller.tokenName };
    // The rules of `api` apply to the turn that asks, which has met them already.
    const context = { channel: open.channel, agent, token, isFromChannel: true };
    if (verdict === 'allowed' && !this.policy.allows(open.tool, context)) {
      throw new ToolNotYours(open.tool);
    }
    const by = `token "${token.name}" (${token.id})`;
    if (!(await this.approvals.answer(approvalId, { verdict, by }))) throw new NoWaitingCall();
  }
}
