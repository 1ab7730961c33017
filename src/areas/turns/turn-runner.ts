import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { isAmong } from '../../common/text/name-pattern.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import {
  addUsage,
  agentSampling,
  type ModelMessage,
  type ModelToolCall,
  type ModelUsage,
  type ResponseFormat,
  type SamplingOptions,
} from '../models/models.api.js';
import {
  type AnsweredCall,
  ArgumentChecks,
  type ToolCallRecord,
  ToolCallRunner,
} from '../tools/tools.api.js';
import { divided, NOT_YET, openRecord } from './caller-tools.js';
import { askedMessage } from './conversation.js';
import { type DoneWork, type OpenCall, OUTCOME_UNKNOWN, type RoundCall, redone } from './lost/done-steps.js';
import { ModelCalls, type ModelRound } from './model-calls.js';
import { RunningTurns } from './running-turns.js';
import type { TurnInput, TurnListener, TurnOutcome } from './turn.js';
import type { AnsweredStep } from './turn-steps.store.js';
import { ResponseFormatUnmet } from './turns.errors.js';

interface Running {
  readonly input: TurnInput;
  readonly settings: GatewaySettings['agent'];
  readonly emit: TurnListener;
  readonly signal: AbortSignal;
}

/** The agent's loop: model, its tools, model again, until it answers without asking for one. */
@Injectable()
export class TurnRunner {
  constructor(
    private readonly calls: ModelCalls,
    private readonly toolCalls: ToolCallRunner,
    private readonly schemas: ArgumentChecks,
    private readonly running: RunningTurns,
    private readonly settings: Settings,
  ) {}

  /**
   * Runs one turn under the configuration of this moment. Throws what the provider throws, and the signal's reason
   * when it is aborted; a failing tool is no failure of the turn.
   */
  async run(input: TurnInput, emit: TurnListener, signal: AbortSignal): Promise<TurnOutcome> {
    const { agent: settings } = this.settings.current;
    const { responseFormat: format } = input.options;
    const heard = format === undefined ? emit : withoutText(emit);
    const running: Running = { input, settings, emit: heard, signal };
    const earlier = await this.earlier(running);
    const { texts, records } = earlier;
    if (earlier.open !== undefined)
      return ended(earlier.open.asked, { ...earlier, open: earlier.open.calls });
    const messages = [...input.messages, ...earlier.messages];
    const ids = new CallIds(messages);
    let { usage } = earlier;
    let isRepair = false;
    for (let number = earlier.rounds + 1; ; number += 1) {
      if (number > 1) this.running.letGo(input.context.sessionId);
      signal.throwIfAborted();
      const withTools = !isRepair && isWithinLimits(settings, number, records.length);
      const terms = { number, withTools, afterText: texts.length > 0 };
      const round = ids.unique(await this.askModel(running, messages, terms));
      usage = addUsage(usage, round.usage);
      texts.push(...[round.text].filter(Boolean));
      if (round.calls.length > 0 && withTools) {
        const calls = round.calls.map((call) => ({ call, isHeld: this.toolCalls.mayWait(call) }));
        await input.steps.add({ kind: 'asked', ...asked(round), ...heldOf(calls) });
        const { message, open } = await this.answerCalls(running, calls, records);
        if (open.length > 0) return ended(round, { texts, records, usage, open });
        messages.push(askedMessage(round), message);
        continue;
      }
      const problem = format && (await this.misfit(round.text, format, signal));
      if (problem === undefined) {
        const content = format === undefined ? texts.join('\n\n') : round.text;
        if (format !== undefined) await emit({ type: 'token', text: content });
        return answered(round, { content, records, usage });
      }
      if (isRepair) throw new ResponseFormatUnmet(problem);
      isRepair = true;
      messages.push(...repairing(round.text, problem));
    }
  }

  /** What the turn did before it was taken up. A call that ran when its replica died is made again only if the operator allows it. */
  private earlier(running: Running): Promise<DoneWork> {
    const { input, emit } = running;
    const repeatable = this.settings.current.tools.repeatable;
    const start = { spent: input.spent, options: input.options };
    return redone(input.done, start, emit, async (open, records) => {
      const isUnknown = ({ call, mayBeSent }: OpenCall) => mayBeSent && !isAmong(call.name, repeatable);
      const unknown = open.filter(isUnknown);
      const again = open.filter((one) => !isUnknown(one));
      const told = await Promise.all(unknown.map(({ call }) => this.toldUnknown(call, running)));
      return [...told, ...(await this.answers(running, again, records.length + told.length))];
    });
  }

  private async toldUnknown(call: ModelToolCall, running: Running): Promise<AnsweredCall> {
    const { context, turnId } = running.input;
    const turn = { ...running, context, turnId, timeoutMs: 0 };
    const answer = await this.toolCalls.told(call, { status: 'error', content: OUTCOME_UNKNOWN }, turn);
    await running.input.steps.add(answeredStep(answer));
    return answer;
  }

  private askModel(
    { input, settings, emit, signal }: Running,
    messages: readonly ModelMessage[],
    { number, withTools, afterText }: { number: number; withTools: boolean; afterText: boolean },
  ): Promise<ModelRound> {
    const { trailing, tools, context, options, agent, account, turnId } = input;
    const { settings: own, chain } = agent;
    const { toolChoice: wanted, ...others } = samplingOf(input);
    // What has to be called is called once: with the results the model goes on as it likes.
    const asked = number === 1 || wanted === 'none' ? wanted : undefined;
    const toolChoice = withTools ? asked : ('none' as const);
    const sampling = { ...others, ...(toolChoice !== undefined && tools.length > 0 && { toolChoice }) };
    const request = {
      ...{ messages, tools, trailing, system: input.system, conversationId: context.sessionId },
      maxOutputTokens: options.maxOutputTokens ?? own.maxOutputTokens,
      reasoning: own.reasoning,
      ...(Object.keys(sampling).length > 0 && { sampling }),
      ...(options.responseFormat !== undefined && { responseFormat: options.responseFormat }),
    };
    const { sessionId, userId } = context;
    const failure = { agent: own.name, userId, sessionId, turnId };
    return this.calls.ask(request, { chain, context: failure, settings, account, emit, signal, afterText });
  }

  /** What is wrong with an answer that has to be JSON of a schema; undefined when it fits. */
  private async misfit(
    text: string,
    { schema }: ResponseFormat,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'it is not JSON';
    }
    return this.schemas.of(schema).problem(value, signal);
  }

  private async answerCalls(
    running: Running,
    calls: readonly RoundCall[],
    records: ToolCallRecord[],
  ): Promise<{ message: ModelMessage; open: readonly ModelToolCall[] }> {
    const { own, callers } = divided(calls, running.input.options);
    const isDeferred = running.input.isUnstored === true && own.length > 0;
    const answers = await this.answers(running, own, records.length);
    const deferred = isDeferred ? callers.map((call) => notYet(call)) : [];
    records.push(...answers.map(({ record }) => record));
    const results = new Map([...answers, ...deferred].map(({ result }) => [result.callId, result]));
    const inOrder = calls.flatMap(({ call }) => results.get(call.id) ?? []);
    return { message: { role: 'tool', results: inOrder }, open: isDeferred ? [] : callers };
  }

  /** Runs calls side by side; those past the limit, of which `before` were made, are answered with an error instead. */
  private answers(running: Running, calls: readonly RoundCall[], before: number): Promise<AnsweredCall[]> {
    const { max_tool_calls_per_turn: most, tool_timeout_ms: timeoutMs } = running.settings;
    const left = Math.max(0, most - before);
    const { context, turnId, waits, steps } = running.input;
    const shared = { ...running, context, turnId, waits, timeoutMs };
    const onSend = ({ id: callId }: ModelToolCall) => steps.add({ kind: 'sent', callId });
    return Promise.all(
      calls.map(({ call, isHeld }, index) =>
        waits.during(async () => {
          const turn = isHeld ? { ...shared, onSend } : shared;
          const answer =
            index < left
              ? await this.toolCalls.run(call, turn)
              : await this.toolCalls.refuse(call, most, turn);
          await steps.add(answeredStep(answer));
          return answer;
        }),
      ),
    );
  }
}

function isWithinLimits(settings: GatewaySettings['agent'], round: number, calls: number): boolean {
  return round <= settings.max_turns && calls <= settings.max_tool_calls_per_turn;
}

function answered(
  { model, finishReason }: ModelRound,
  { content, records, usage }: { content: string; records: readonly ToolCallRecord[]; usage: ModelUsage },
): TurnOutcome {
  return { content, toolCalls: records, usage, model, finishReason };
}

/** A turn that ends with calls for its caller to make. */
function ended(
  { model }: Pick<ModelRound, 'model'>,
  so: Pick<DoneWork, 'texts' | 'records' | 'usage'> & { readonly open: readonly ModelToolCall[] },
): TurnOutcome {
  return {
    content: so.texts.join('\n\n'),
    toolCalls: [...so.records, ...so.open.map(openRecord)],
    usage: so.usage,
    model,
    finishReason: 'tool_calls',
    openCalls: so.open,
  };
}

function notYet({ id }: ModelToolCall) {
  return { result: { callId: id, content: NOT_YET, isError: true } };
}

function answeredStep({ record: { status, durationMs }, result }: AnsweredCall): AnsweredStep {
  return { kind: 'answered', result, record: { status, durationMs } };
}

/** What the message wants, and what it leaves open as its agent wants it; a tool that may not be used is not demanded. */
function samplingOf({ agent, options, tools }: TurnInput): SamplingOptions {
  const own = agentSampling(agent.settings);
  if (own === undefined) return options.sampling ?? {};
  const { toolChoice, ...rest } = own;
  const isOffered = typeof toolChoice !== 'object' || tools.some(({ name }) => name === toolChoice.name);
  return { ...rest, ...(toolChoice !== undefined && isOffered && { toolChoice }), ...options.sampling };
}

/** An answer that has to have a format is shown when it has it: what was repaired is nobody's answer. */
function withoutText(emit: TurnListener): TurnListener {
  return (event) => (event.type === 'token' ? undefined : emit(event));
}

function repairing(text: string, problem: string): ModelMessage[] {
  const ask = `This answer does not fit the format that was asked for: ${problem}. Answer again, with the JSON alone.`;
  return [
    { role: 'assistant', text: text.trim() === '' ? '(nothing)' : text, toolCalls: [] },
    { role: 'user', parts: [{ type: 'text', text: ask }] },
  ];
}

/** Which calls may wait for a person, so that it is known of those whether they were made. */
function heldOf(calls: readonly RoundCall[]): { held?: readonly string[] } {
  const held = calls.filter(({ isHeld }) => isHeld).map(({ call }) => call.id);
  return held.length === 0 ? {} : { held };
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
