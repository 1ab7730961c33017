import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import type { ModelToolCall } from './model-provider.port.js';
import { ToolApprovals } from './tool-approvals.port.js';
import { type ToolAnswer, ToolCatalog, type ToolContext } from './tool-catalog.port.js';
import { ToolPolicy } from './tool-policy.js';

/** Stands before every tool: policy first, then, for what may destroy something, a person. */
@Injectable()
export class ToolGate {
  constructor(
    private readonly policy: ToolPolicy,
    private readonly catalog: ToolCatalog,
    private readonly approvals: ToolApprovals,
    private readonly settings: Settings,
  ) {}

  /** @returns what the model is told instead when the call may not run. Throws the reason of an aborted turn */
  async refusal(
    call: ModelToolCall,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<ToolAnswer | undefined> {
    if (!this.policy.allows(call.name, context)) {
      return denied('This tool may not be used here. Do not ask for it again.');
    }
    const { tool_approval: mode, tool_approval_timeout_ms: timeoutMs } = this.settings.current.agent;
    const isDestructive = this.catalog.traitsOf(call.name)?.isDestructive === true;
    if (mode === 'never' || !isDestructive) return undefined;
    const { id: callId, name: tool, arguments: args } = call;
    const verdict = await this.approvals.ask({ callId, tool, arguments: args, context, timeoutMs }, signal);
    if (verdict === 'allowed') return undefined;
    return denied(
      verdict === 'denied'
        ? 'A person refused this call. Do not try it again.'
        : `Nobody allowed this call within ${timeoutMs / 1000} s, so it was not made.`,
    );
  }
}

function denied(content: string): ToolAnswer {
  return { status: 'denied', content };
}
