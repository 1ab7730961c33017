import { addUsage, type ModelUsage } from '../models/models.api.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import { NO_RESULT } from './conversation.js';
import type { LiveTurn } from './live-turn.js';
import type { TurnEvent, TurnOutcome } from './turn.js';

/** Listens to a turn on behalf of its readers, and remembers what it has come to in case it does not end well. */
export class TurnProgress {
  private readonly toolCalls = new Map<string, ToolCallRecord>();
  private usage: ModelUsage = { input: 0, output: 0 };

  constructor(
    private readonly turn: LiveTurn,
    private model: string,
    private readonly sawText: () => void,
  ) {}

  readonly listen = (event: TurnEvent): void | Promise<void> => {
    if (event.type === 'usage') {
      this.usage = addUsage(this.usage, event.usage);
      this.model = event.model;
      return undefined;
    }
    if (event.type === 'token') this.sawText();
    if (event.type === 'tool_call') this.toolCalls.set(event.id, unanswered(event));
    if (event.type === 'tool_result') this.toolCalls.set(event.record.id, event.record);
    return this.turn.publish(event);
  };

  /** What was said and done so far. */
  soFar(): TurnOutcome {
    const { usage, model } = this;
    const toolCalls = [...this.toolCalls.values()];
    return { content: this.turn.text(), toolCalls, usage, model, finishReason: null };
  }
}

/** A call whose turn ends before the tool answers. */
function unanswered({
  id,
  name,
  arguments: args,
}: Extract<TurnEvent, { type: 'tool_call' }>): ToolCallRecord {
  return { id, name, arguments: args, status: 'error', output: NO_RESULT, durationMs: 0 };
}
