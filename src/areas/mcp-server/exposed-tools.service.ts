import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { Unauthorized } from '../../common/errors/gateway-error.js';
import { newId } from '../../common/ids/typeid.js';
import type { CutReason, Traffic } from '../../platform/runtime/event-stream.js';
import { agentSettings, DEFAULT_AGENT } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { refuseAgent } from '../../platform/tokens/agent-access.js';
import { actingAs, type Caller } from '../../platform/tokens/caller.js';
import { Viewer, Viewers } from '../live/live.api.js';
import type { ContentPart } from '../models/models.api.js';
import { ToolCallRunner, ToolCatalog, type ToolContext } from '../tools/tools.api.js';
import type { Asker } from './asked-turns.service.js';
import { CallerGone, failed } from './failed-call.js';

/** The gateway's own tools for callers, with `mcp_server.expose_tools`: under the rules of the caller's first agent. */
@Injectable()
export class ExposedTools {
  constructor(
    private readonly catalog: ToolCatalog,
    private readonly runner: ToolCallRunner,
    private readonly settings: Settings,
    private readonly viewers: Viewers,
  ) {}

  list(caller: Caller): Tool[] {
    const context = this.contextOf(caller);
    if (context === undefined) return [];
    return this.catalog.list(context).map(({ name, description, inputSchema }) => ({
      ...{ name, description },
      inputSchema: { ...inputSchema, type: 'object' as const },
    }));
  }

  has(name: string, caller: Caller): boolean {
    return this.list(caller).some((tool) => tool.name === name);
  }

  /**
   * Runs the tool as in a turn: policy, approval, time-out and audit; it ends when the caller's token is no longer
   * valid.
   */
  async call(name: string, args: unknown, asker: Asker, gone: AbortSignal): Promise<CallToolResult> {
    const watched = new WatchedCall();
    try {
      this.viewers.refuseTooMany(asker.caller);
      this.viewers.add(watched, asker.caller, asker.mayGoOn);
      return await this.run(name, args, asker, AbortSignal.any([gone, watched.signal]));
    } catch (error) {
      // Throws the reason of a caller that has gone away.
      return failed(error);
    } finally {
      watched.end();
    }
  }

  private async run(name: string, args: unknown, asker: Asker, signal: AbortSignal): Promise<CallToolResult> {
    const context = this.contextOf(asker.caller) ?? noContext();
    const call = {
      ...{ id: newId('call'), name },
      arguments: (typeof args === 'object' && args !== null ? args : {}) as Record<string, unknown>,
    };
    const timeoutMs = this.settings.current.agent.tool_timeout_ms;
    // A person may have allowed the call between two checks of the token.
    const onSend = async (): Promise<void> => {
      if (!(await asker.mayGoOn())) throw tokenEnded();
    };
    const turn = { context, signal, timeoutMs, onSend, emit: () => undefined };
    const { result } = await this.runner.run(call, turn);
    const { content: text, parts = [], isError } = result;
    return { content: [{ type: 'text', text }, ...parts.map(partOf)], ...(isError && { isError }) };
  }

  /** Undefined while the setting is off, and for a caller that may not talk to the agent whose tools these are. */
  private contextOf(caller: Caller): ToolContext | undefined {
    if (!this.settings.current.mcp_server.expose_tools) return undefined;
    const agent = agentSettings(this.settings.current, caller.agents?.[0] ?? DEFAULT_AGENT);
    if (agent === undefined) return undefined;
    const userId = caller.boundUserId ?? caller.tokenName;
    try {
      refuseAgent(agent, caller, userId);
    } catch {
      return undefined;
    }
    const token = { id: caller.tokenId, name: caller.tokenName };
    // No session: what a tool keeps for one ends with the call.
    return {
      sessionId: newId('sess'),
      channel: 'api',
      agent: agent.name,
      userId,
      ...actingAs(caller, userId),
      token,
    };
  }
}

function noContext(): never {
  throw new Error('The tools of the gateway are not exposed.');
}

function partOf(part: ContentPart): CallToolResult['content'][number] {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image', data: part.data, mimeType: part.mimeType };
  if (part.mimeType.startsWith('audio/')) return { type: 'audio', data: part.data, mimeType: part.mimeType };
  const uri = `attachment:///${encodeURIComponent(part.name)}`;
  return { type: 'resource', resource: { uri, mimeType: part.mimeType, blob: part.data } };
}

/** A tool call without a turn, counted and ended like a viewer of turns. */
class WatchedCall extends Viewer {
  readonly isFull = false;
  private readonly cutting = new AbortController();

  /** Aborted when the caller may no longer have the call made. */
  get signal(): AbortSignal {
    return this.cutting.signal;
  }

  write(): void {
    // It follows no turn.
  }

  heartbeat(): void {
    // Whatever sends the response keeps the connection alive.
  }

  cut(why: CutReason): void {
    this.cutting.abort(why === 'forbidden' ? tokenEnded() : new CallerGone());
    this.end();
  }

  protected traffic(): Traffic {
    return { sent: 0, pending: 0 };
  }

  protected sendClose(): void {
    // No other replica can continue it: it has the time that requests have when the gateway stops.
  }

  protected turnIsOver(): void {
    // It follows no turn.
  }
}

function tokenEnded(): Unauthorized {
  return new Unauthorized('The access token ended, and the call with it. Sign in anew, then call again.');
}
