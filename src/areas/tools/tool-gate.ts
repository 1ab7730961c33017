import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/settings.js';
import type { ModelToolCall } from '../models/models.api.js';
import { asksFor, isHarmless } from './approval-rules.js';
import { type ApprovalVerdict, ToolApprovals } from './tool-approvals.port.js';
import { noSuchTool, type ToolAnswer, ToolCatalog } from './tool-catalog.port.js';
import { ToolPolicy } from './tool-policy.js';
import type { ToolApprovalUpdate, ToolTurn } from './tool-turn.js';

/**
 * Decides about every tool call: policy first, then, where the operator wants it, a person. What a tool says about
 * itself does not count.
 */
@Injectable()
export class ToolGate {
  constructor(
    private readonly policy: ToolPolicy,
    private readonly catalog: ToolCatalog,
    private readonly approvals: ToolApprovals,
    private readonly settings: Settings,
  ) {}

  /** @returns what the model is told instead when the call may not run. Throws the reason of an aborted turn */
  async refusal(call: ModelToolCall, turn: ToolTurn): Promise<ToolAnswer | undefined> {
    if (!this.policy.allows(call.name, turn.context)) {
      return denied('This tool may not be used here. Do not ask for it again.');
    }
    // A missing tool is neither asked about nor tried: its server might bring it back before it has been approved.
    if (this.catalog.sourceOf(call.name) === undefined) return noSuchTool(call.name);
    if (!this.needsApproval(call)) return undefined;
    if (turn.context.isUnstored === true)
      return denied('A person would have to allow this call, and this conversation has no place to ask one.');
    const timeoutMs = this.settings.current.agent.tool_approval_timeout_ms;
    const verdict = await this.ask(call, turn, timeoutMs);
    if (verdict === 'allowed') return undefined;
    return denied(
      verdict === 'denied'
        ? 'A person refused this call. Do not try it again.'
        : `Nobody allowed this call within ${timeoutMs / 1000} s, so it was not made.`,
    );
  }

  /** `ask` wins over `never`. */
  needsApproval(call: Pick<ModelToolCall, 'name' | 'arguments'>): boolean {
    const { agent, tools } = this.settings.current;
    const { ask, never } = tools.approval;
    if (ask.some((rule) => asksFor(rule, call))) return true;
    return agent.tool_approval === 'ask' && !never.some((rule) => isHarmless(rule, call));
  }

  /** Viewers of the turn are told that a person is asked, and what the person decided. */
  private async ask(call: ModelToolCall, turn: ToolTurn, timeoutMs: number): Promise<ApprovalVerdict> {
    const { id: callId, name: tool, arguments: args } = call;
    const { context, signal, emit, turnId } = turn;
    let asked: Omit<ToolApprovalUpdate, 'status'> | undefined;
    let endWait: (() => void) | undefined;
    const onOpen = (approvalId: string, expiresAt: Date): void => {
      endWait = turn.waits?.begin(approvalId);
      asked = { approvalId, callId, tool, expiresAt };
      // A viewer that does not read on is not waited for: the time of the approval runs.
      void emit({ type: 'tool_approval', approval: { ...asked, status: 'pending' } });
    };
    const question = { turnId, callId, tool, arguments: args, context, timeoutMs, onOpen };
    const verdict = await this.approvals.ask(question, signal).finally(() => endWait?.());
    if (asked !== undefined) await emit({ type: 'tool_approval', approval: { ...asked, status: verdict } });
    return verdict;
  }
}

function denied(content: string): ToolAnswer {
  return { status: 'denied', content };
}
