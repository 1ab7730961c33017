import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import {
  addUsage,
  ModelCallMetrics,
  type ModelMessage,
  ModelProvider,
  type ModelToolCall,
  type ModelUsage,
} from '../models/models.api.js';
import { type ToolCallRecord, ToolCallRunner, ToolCatalog } from '../tools/tools.api.js';
import { type ModelRound, readRound } from './model-round.js';
import type { TurnInput, TurnListener, TurnOutcome } from './turn.js';

interface Running {
  readonly input: TurnInput;
  readonly settings: GatewaySettings['agent'];
  readonly provider: ModelProvider;
  readonly emit: TurnListener;
  readonly signal: AbortSignal;
}

/** The agent's loop: model, its tools, model again, until it answers without asking for one. */
@Injectable()
export class TurnRunner {
  constructor(
    private readonly provider: ModelProvider,
    private readonly catalog: ToolCatalog,
    private readonly toolCalls: ToolCallRunner,
    private readonly settings: Settings,
    private readonly metrics: ModelCallMetrics,
  ) {}

  /**
   * Runs one turn under the configuration of this moment. Throws what the provider throws, and the signal's reason
   * when it is aborted; a failing tool is no failure of the turn.
   */
  async run(input: TurnInput, emit: TurnListener, signal: AbortSignal): Promise<TurnOutcome> {
    const { agent: settings } = this.settings.current;
    const running: Running = { input, settings, provider: this.provider.inForce(), emit, signal };
    const messages = [...input.messages];
    const records: ToolCallRecord[] = [];
    const texts: string[] = [];
    let usage: ModelUsage = { input: 0, output: 0 };
    for (let number = 1; ; number += 1) {
      const withTools =
        number <= running.settings.max_turns && records.length <= running.settings.max_tool_calls_per_turn;
      const round = await this.askModel(running, messages, withTools, texts.length > 0);
      usage = addUsage(usage, round.usage);
      if (round.text !== '') texts.push(round.text);
      if (round.calls.length === 0 || !withTools) {
        const { model, finishReason } = round;
        return { content: texts.join('\n\n'), toolCalls: records, usage, model, finishReason };
      }
      messages.push(asked(round), await this.answerCalls(running, round.calls, records));
    }
  }

  private async askModel(
    { input, settings, provider, emit, signal }: Running,
    messages: readonly ModelMessage[],
    withTools: boolean,
    afterText: boolean,
  ): Promise<ModelRound> {
    const request = {
      model: input.model,
      system: input.system,
      messages,
      tools: withTools ? this.catalog.list(input.context) : [],
      maxOutputTokens: settings.max_output_tokens,
      conversationId: input.context.sessionId,
    };
    const clocks = {
      firstByteTimeoutMs: settings.first_byte_timeout_ms,
      idleTimeoutMs: settings.idle_timeout_ms,
    };
    const counting: TurnListener = (event) => {
      if (event.type === 'usage') this.metrics.used(provider.name, event.usage);
      return emit(event);
    };
    return this.metrics.measure(provider, request, () =>
      readRound(provider.stream(request, { signal, ...clocks }), { request, emit: counting, afterText }),
    );
  }

  /** Runs the calls of one round side by side; those past the limit are answered with an error instead. */
  private async answerCalls(
    running: Running,
    calls: readonly ModelToolCall[],
    records: ToolCallRecord[],
  ): Promise<ModelMessage> {
    const { max_tool_calls_per_turn: most, tool_timeout_ms: timeoutMs } = running.settings;
    const left = Math.max(0, most - records.length);
    const turn = { ...running, context: running.input.context, timeoutMs };
    const answers = await Promise.all(
      calls.map((call, index) =>
        index < left ? this.toolCalls.run(call, turn) : this.toolCalls.refuse(call, most, turn),
      ),
    );
    records.push(...answers.map(({ record }) => record));
    return { role: 'tool', results: answers.map(({ result }) => result) };
  }
}

function asked(round: ModelRound): ModelMessage {
  const { text, calls, providerState } = round;
  return {
    role: 'assistant',
    text,
    toolCalls: calls,
    ...(providerState === undefined ? {} : { providerState }),
  };
}
