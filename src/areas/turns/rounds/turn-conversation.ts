import { estimatedTokens, type ModelMessage, messageTokens } from '../../models/models.api.js';
import type { ContextBudget } from '../prompt/context-cut.js';
import { toolTokens } from '../prompt/tool-tokens.js';
import type { TurnInput } from '../turn.js';
import { type OwnRound, roundMessages, type ShownResults, shortened } from './own-rounds.js';

type Beginning = Pick<TurnInput, 'messages' | 'system' | 'trailing' | 'tools' | 'steps'>;

/** What a turn began with, and its own rounds, as the model is shown them. */
export class TurnConversation {
  private readonly rounds: OwnRound[];
  private shown: ShownResults;

  constructor(
    private readonly beginning: Beginning,
    private readonly budget: ContextBudget,
    done: { readonly rounds: readonly OwnRound[]; readonly shown: ShownResults },
  ) {
    this.rounds = [...done.rounds];
    this.shown = done.shown;
  }

  add(round: OwnRound): void {
    this.rounds.push(round);
  }

  whole(): readonly ModelMessage[] {
    const { messages } = this.beginning;
    return this.rounds.length === 0 ? messages : [...messages, ...roundMessages(this.rounds, this.shown)];
  }

  /** All that fits. When the shown part of the results changes, that is stored for later turns. */
  async fitting(): Promise<readonly ModelMessage[]> {
    if (this.rounds.length > 0) await this.shorten();
    return this.whole();
  }

  private async shorten(): Promise<void> {
    const { messages, system, trailing, tools, steps } = this.beginning;
    const around = estimatedTokens(system) + estimatedTokens(trailing) + toolTokens(tools);
    const tokens = messages.reduce((sum, message) => sum + messageTokens(message), around);
    const shown = shortened(this.rounds, this.shown, this.budget, tokens);
    if (shown === undefined) return;
    await steps.add({ kind: 'cut', shown });
    this.shown = shown;
  }
}
