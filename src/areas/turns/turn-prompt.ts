import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { estimatedTokens } from '../models/models.api.js';
import { PromptSources } from '../tools/tools.api.js';
import type { ClaimedTurn } from './claimed-turn.js';
import { fittingHistory, LEFT_OUT_NOTE } from './fitting-history.js';
import type { Message, NewUserMessage } from './message.js';
import { MessageStore } from './message.store.js';
import type { TurnInput } from './turn.js';
import { modelMessages } from './turn-context.js';

/** A turn, and whose token asked for it. */
export type CalledTurn = ClaimedTurn & { readonly caller: Caller };

/** Puts together what a turn gives to the model: system prompt, what others add to it, and the history that fits. */
@Injectable()
export class TurnPrompt {
  private readonly logger: Logger;

  constructor(
    private readonly sources: PromptSources,
    private readonly messages: MessageStore,
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
    const { context_tokens, max_output_tokens, system_prompt } = this.settings.current.agent;
    const system = joined([turn.systemPrompt ?? system_prompt, message.systemNote ?? '', ...additions]);
    const room = context_tokens - max_output_tokens - estimatedTokens(system);
    const { fitting: kept, leftOut } = fittingHistory(turn.history, message, room);
    if (leftOut > 0)
      this.logger.debug('the oldest messages were not given to the model', { left_out: leftOut });
    return {
      context,
      system: leftOut > 0 ? joined([system, LEFT_OUT_NOTE]) : system,
      messages: modelMessages(kept, await this.attachedTo(kept), message),
    };
  }

  private async attachedTo(history: readonly Message[]): Promise<Map<string, Buffer>> {
    const ids = history.filter(({ attachments }) => attachments.length > 0).map(({ id }) => id);
    return ids.length === 0 ? new Map() : this.messages.attachedTo(ids);
  }
}

function contextOf({ lease, channel, userId, caller }: CalledTurn): TurnInput['context'] {
  const token = { id: caller.tokenId, name: caller.tokenName };
  return { sessionId: lease.sessionId, channel, userId, token, isFromChannel: caller.channel === channel };
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
