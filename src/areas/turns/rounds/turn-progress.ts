import { addUsage, type ModelToolCall, type ModelUsage } from '../../models/models.api.js';
import type { ToolCallRecord } from '../../tools/tools.api.js';
import type { LiveTurn } from '../live-turn.js';
import { NO_RESULT } from '../prompt/conversation.js';
import type { TurnEvent, TurnOutcome } from '../turn.js';
import { type StoredWork, storedWork } from './done-steps.js';
import type { TurnStep } from './turn-steps.store.js';

const NOTHING_STORED: StoredWork = { text: '', records: [], usage: { input: 0, output: 0 } };

/** Listens to a turn on behalf of its readers, and keeps what it has done in case it does not end well. */
export class TurnProgress {
  private readonly toolCalls = new Map<string, ToolCallRecord>();
  private usage: ModelUsage = { input: 0, output: 0 };
  private readonly stored: StoredWork;

  /**
   * @param done what the turn had stored before it was taken up: it is kept also when the turn ends before that is
   * shown again
   */
  constructor(
    private readonly turn: LiveTurn,
    private model: string,
    private readonly sawText: () => void,
    done: readonly TurnStep[] = [],
  ) {
    this.stored = done.length === 0 ? NOTHING_STORED : storedWork(done, unanswered);
    for (const record of this.stored.records) this.toolCalls.set(record.id, record);
  }

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
    const { model, stored } = this;
    const toolCalls = [...this.toolCalls.values()];
    const shown = this.turn.text();
    // What is shown and counted again begins with what was stored.
    const content = shown.length < stored.text.length ? stored.text : shown;
    const usage = tokensOf(this.usage) < tokensOf(stored.usage) ? stored.usage : this.usage;
    return { content, toolCalls, usage, model, finishReason: null };
  }
}

function tokensOf({ input, output }: ModelUsage): number {
  return input + output;
}

/** A call whose turn ends before the tool answers. */
function unanswered({
  id,
  name,
  arguments: args,
}: Pick<ModelToolCall, 'id' | 'name' | 'arguments'>): ToolCallRecord {
  return { id, name, arguments: args, status: 'error', output: NO_RESULT, durationMs: 0 };
}
