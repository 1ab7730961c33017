import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import type { GatewaySettings } from '../config/settings.schema.js';
import type { ModelMessage, ModelToolCall, ModelUsage } from './model-provider.port.js';
import { ModelProvider } from './model-provider.port.js';
import type { ToolCallRecord } from './tool-call.js';
import { ToolCallRunner } from './tool-call-runner.js';
import { ToolCatalog } from './tool-catalog.port.js';
import type { TurnInput, TurnListener, TurnOutcome } from './turn.js';

interface Round {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: ModelUsage;
  readonly model: string;
  readonly providerState?: unknown;
}

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
    const usage = { input: 0, output: 0 };
    for (let number = 1; ; number += 1) {
      const withTools =
        number <= running.settings.max_turns && records.length <= running.settings.max_tool_calls_per_turn;
      const round = await this.askModel(running, messages, withTools, texts.length > 0);
      usage.input += round.usage.input;
      usage.output += round.usage.output;
      if (round.text !== '') texts.push(round.text);
      if (round.calls.length === 0 || !withTools) {
        return { content: texts.join('\n\n'), toolCalls: records, usage, model: round.model };
      }
      messages.push(asked(round), await this.answerCalls(running, round.calls, records));
    }
  }

  private async askModel(
    { input, settings, provider, emit, signal }: Running,
    messages: readonly ModelMessage[],
    withTools: boolean,
    afterText: boolean,
  ): Promise<Round> {
    const tools = withTools ? this.catalog.list(input.context) : [];
    const request = {
      model: input.model,
      system: input.system,
      messages,
      tools,
      maxOutputTokens: settings.max_output_tokens,
    };
    const clocks = {
      firstByteTimeoutMs: settings.first_byte_timeout_ms,
      idleTimeoutMs: settings.idle_timeout_ms,
    };
    const pieces: string[] = [];
    const calls: ModelToolCall[] = [];
    for await (const event of provider.stream(request, { signal, ...clocks })) {
      if (event.type === 'end') {
        const { usage, model, providerState } = event;
        await emit({ type: 'usage', usage, model });
        return { text: pieces.join(''), calls, usage, model, providerState };
      }
      if (event.type === 'tool_call') {
        calls.push(event.call);
        continue;
      }
      // Texts of two rounds stand apart in the answer, so they do in the stream.
      if (pieces.length === 0 && afterText) await emit({ type: 'token', text: '\n\n' });
      pieces.push(event.text);
      await emit({ type: 'token', text: event.text });
    }
    throw new Error(`The provider "${provider.name}" ended a stream without saying so.`);
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

function asked(round: Round): ModelMessage {
  const { text, calls, providerState } = round;
  return {
    role: 'assistant',
    text,
    toolCalls: calls,
    ...(providerState === undefined ? {} : { providerState }),
  };
}
