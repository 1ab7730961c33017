import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { addUsage, type ModelMessage, ModelProvider, type ModelToolCall } from '../models/models.api.js';
import { type ToolCallRecord, ToolCallRunner } from '../tools/tools.api.js';
import { askedMessage } from './conversation.js';
import { ModelCalls, type ModelRound } from './model-calls.js';
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
    private readonly calls: ModelCalls,
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
    const ids = new CallIds(messages);
    const records: ToolCallRecord[] = [];
    const texts: string[] = [];
    let usage = input.spent;
    for (let number = 1; ; number += 1) {
      const withTools =
        number <= running.settings.max_turns && records.length <= running.settings.max_tool_calls_per_turn;
      const round = ids.unique(await this.askModel(running, messages, withTools, texts.length > 0));
      usage = addUsage(usage, round.usage);
      if (round.text !== '') texts.push(round.text);
      if (round.calls.length === 0 || !withTools) {
        const { model, finishReason } = round;
        return { content: texts.join('\n\n'), toolCalls: records, usage, model, finishReason };
      }
      await input.steps.add({ kind: 'asked', ...asked(round) });
      messages.push(askedMessage(round), await this.answerCalls(running, round.calls, records));
    }
  }

  /** Without tools they are still named, as in the calls before: what changes is that none may be called. */
  private askModel(
    { input, settings, provider, emit, signal }: Running,
    messages: readonly ModelMessage[],
    withTools: boolean,
    afterText: boolean,
  ): Promise<ModelRound> {
    const { model, trailing, tools, context } = input;
    const request = {
      ...{ model, messages, conversationId: context.sessionId },
      system: trailing === '' ? input.system : `${input.system}\n\n${trailing}`,
      tools: withTools ? tools : [],
      maxOutputTokens: settings.max_output_tokens,
    };
    return this.calls.ask(request, { provider, settings, emit, signal, afterText });
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
      calls.map(async (call, index) => {
        const answer =
          index < left ? await this.toolCalls.run(call, turn) : await this.toolCalls.refuse(call, most, turn);
        await running.input.steps.add({ kind: 'answered', result: answer.result });
        return answer;
      }),
    );
    records.push(...answers.map(({ record }) => record));
    return { role: 'tool', results: answers.map(({ result }) => result) };
  }
}

/** What of a round is stored before its tools run. */
function asked({ text, calls, model, providerState }: ModelRound) {
  return { text, calls, model, ...(providerState === undefined ? {} : { providerState }) };
}

/** As every wire takes them. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Some providers number the calls of each answer from the beginning; in one conversation every call has an id of its own. */
class CallIds {
  private readonly known: Set<string>;

  constructor(messages: readonly ModelMessage[]) {
    this.known = new Set(
      messages.flatMap((message) =>
        message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [],
      ),
    );
  }

  /** What the provider wants echoed knows the calls by their old ids, so it goes with them. */
  unique(round: ModelRound): ModelRound {
    const calls = round.calls.map((call) => this.named(call));
    if (calls.every((call, index) => call === round.calls[index])) return round;
    const { providerState: _of, ...rest } = round;
    return { ...rest, calls };
  }

  private named(call: ModelToolCall): ModelToolCall {
    const isGood = CALL_ID.test(call.id) && !this.known.has(call.id);
    const id = isGood ? call.id : newId('call');
    this.known.add(id);
    return isGood ? call : { ...call, id };
  }
}
