import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { estimatedTokens, type ModelMessage, type ModelTool } from '../models/models.api.js';
import { PromptSources, ToolCatalog } from '../tools/tools.api.js';
import type { ClaimedTurn } from './claimed-turn.js';
import { type ContextCut, contextBudget, contextCut } from './context-cut.js';
import { ContextCutsStore } from './context-cuts.store.js';
import {
  type Exchange,
  exchangesOf,
  modelMessages,
  userMessage,
  userTokens,
  withNote,
} from './conversation.js';
import type { NewUserMessage } from './message.js';
import { MessageStore } from './message.store.js';
import type { TurnInput } from './turn.js';
import { type TurnStep, TurnStepsStore } from './turn-steps.store.js';

/** A turn, and whose token asked for it. */
export type CalledTurn = ClaimedTurn & { readonly caller: Caller };

type Steps = ReadonlyMap<string, readonly TurnStep[]>;

/** What the model is told when it does not see the whole conversation. */
export const LEFT_OUT_NOTE = '[The oldest messages of this conversation are left out, because it is long.]';

/**
 * Puts together what a turn gives to the model. System prompt, tools and history begin as in the call before, byte for
 * byte, so that providers can cache them; what holds for this message alone stands behind them.
 */
@Injectable()
export class TurnPrompt {
  private readonly logger: Logger;

  constructor(
    private readonly sources: PromptSources,
    private readonly catalog: ToolCatalog,
    private readonly messages: MessageStore,
    private readonly steps: TurnStepsStore,
    private readonly cuts: ContextCutsStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  /** Throws the signal's reason when it is aborted. */
  async inputOf(
    turn: CalledTurn,
    message: NewUserMessage,
    signal: AbortSignal,
  ): Promise<Omit<TurnInput, 'model'>> {
    const context = contextOf(turn);
    const question = { context, content: message.content, hasMemories: turn.hasMemories };
    const additions = await this.sources.additions(question, signal);
    const system = joined([
      turn.systemPrompt ?? this.settings.current.agent.system_prompt,
      ...additions.system,
    ]);
    const trailing = joined([message.systemNote ?? '', ...additions.trailing]);
    const tools = this.catalog.list(context);
    const otherTokens =
      estimatedTokens(system) + estimatedTokens(trailing) + toolTokens(tools) + userTokens(message);
    const earlier = await this.earlier(turn, otherTokens);
    const fresh = new Map(message.attachments.map(({ id, data }) => [id, data]));
    const messages = withNote([...earlier.messages, userMessage(message, fresh)], earlier.note);
    return { context, system, trailing, tools, messages, steps: this.steps.open(turn.lease) };
  }

  /** The history that fits, and what stands for the rest. */
  private async earlier(
    turn: CalledTurn,
    otherTokens: number,
  ): Promise<{ readonly messages: readonly ModelMessage[]; readonly note: string }> {
    const steps = await this.stepsOf(turn);
    const exchanges = exchangesOf(turn.history, steps, turn.cut);
    const unread = turn.seq - 1 - turn.cut.messages - turn.history.length;
    const budget = contextBudget(this.settings.current.agent);
    const cut = contextCut(exchanges, turn.cut, budget, { otherTokens, unread });
    if (cut !== turn.cut) await this.storeCut(turn, cut);
    const kept = exchanges.filter(({ through }) => through > cut.messages);
    const messages = modelMessages(kept, { steps, cut, bytes: await this.attachedTo(kept) });
    return { messages, note: cut.messages > 0 ? LEFT_OUT_NOTE : '' };
  }

  private async storeCut({ lease }: CalledTurn, cut: ContextCut): Promise<void> {
    await this.cuts.store(lease, cut);
    this.logger.info('the oldest part of a conversation is no longer given to the model', {
      session_id: lease.sessionId,
      messages_until: cut.messages,
      results_until: cut.results,
    });
  }

  /** Of a turn whose replica died the history has a note only, and not its calls. */
  private stepsOf({ lease, history, cut }: CalledTurn): Promise<Steps> {
    const withTools = history.filter(
      ({ toolCalls, incomplete }) => toolCalls.length > 0 || incomplete === 'interrupted',
    );
    const ids = withTools.map(({ id }) => id);
    return this.steps.of(lease.sessionId, ids, cut.results);
  }

  private async attachedTo(exchanges: readonly Exchange[]): Promise<Map<string, Buffer>> {
    const ids = exchanges.flatMap(({ said }) =>
      said.filter(({ attachments }) => attachments.length > 0).map(({ id }) => id),
    );
    return ids.length === 0 ? new Map() : this.messages.attachedTo(ids);
  }
}

const knownToolTokens = new WeakMap<ModelTool['inputSchema'], number>();

/** A tool server may offer hundreds of tools, whose schemas stay the same objects. */
function toolTokens(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, tool) => {
    const known = knownToolTokens.get(tool.inputSchema);
    const tokens = known ?? estimatedTokens(JSON.stringify(tool));
    if (known === undefined) knownToolTokens.set(tool.inputSchema, tokens);
    return sum + tokens;
  }, 0);
}

function contextOf({ lease, channel, userId, caller }: CalledTurn): TurnInput['context'] {
  const token = { id: caller.tokenId, name: caller.tokenName };
  return { sessionId: lease.sessionId, channel, userId, token, isFromChannel: caller.channel === channel };
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
