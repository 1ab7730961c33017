import { Injectable } from '@nestjs/common';
import { isAmong } from '../../../common/text/name-pattern.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import {
  addUsage,
  agentSampling,
  type ModelMessage,
  type ModelToolCall,
  type ModelToolResult,
  type ModelUsage,
  type SamplingOptions,
} from '../../models/models.api.js';
import {
  type AnsweredCall,
  ArgumentChecks,
  type CallTask,
  type ToolCallRecord,
  ToolCallRunner,
  type ToolContext,
  type ToolSampled,
  type ToolSampling,
} from '../../tools/tools.api.js';
import { divided } from '../callers/caller-tools.js';
import { type ContextBudget, contextBudget } from '../prompt/context-cut.js';
import { askedMessage } from '../prompt/conversation.js';
import { withinMedia } from '../prompt/media-window.js';
import { RunningTurns } from '../running-turns.js';
import type { TurnInput, TurnListener, TurnOutcome } from '../turn.js';
import { ResponseFormatUnmet } from '../turns.errors.js';
import { CallIds } from './call-ids.js';
import {
  type DoneWork,
  nothingDone,
  type OpenCall,
  OUTCOME_UNKNOWN,
  type RoundCall,
  redone,
} from './done-steps.js';
import { ModelCalls, type ModelRound } from './model-calls.js';
import { answered, asked, ended, formatProblem, heldOf, notYet, repairing } from './round-outcomes.js';
import { withThoughts } from './shown-thoughts.js';
import { TurnConversation } from './turn-conversation.js';
import type { AnsweredStep } from './turn-steps.store.js';

interface Running {
  readonly input: TurnInput;
  readonly settings: GatewaySettings['agent'];
  readonly emit: TurnListener;
  readonly signal: AbortSignal;
  /** What its tools spent when they asked the model, until the turn counts it. */
  readonly sampled: { usage: ModelUsage };
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
   * Runs one turn with the settings of this moment. Throws what the provider throws, and the signal's reason when it is
   * aborted; a failing tool does not fail the turn.
   */
  async run(input: TurnInput, emit: TurnListener, signal: AbortSignal): Promise<TurnOutcome> {
    const { agent: settings } = this.settings.current;
    const { responseFormat: format } = input.options;
    const running = { input, settings, emit: shownTo(emit, input), signal, sampled: { usage: NOTHING_USED } };
    const earlier = input.done.length === 0 ? nothingDone(input.spent) : await this.earlier(running);
    const { texts, records, open: left } = earlier;
    let usage = addUsage(earlier.usage, takeSampled(running));
    if (left !== undefined) return ended(left.asked, { ...earlier, usage, open: left.calls });
    const conversation = new TurnConversation(input, budgetOf(running), earlier);
    const ids = new CallIds(() => conversation.whole());
    let repair: readonly ModelMessage[] = [];
    for (let number = earlier.rounds.length + 1; ; number += 1) {
      if (number > 1) this.running.letGo(input.context.sessionId);
      signal.throwIfAborted();
      const withTools = repair.length === 0 && isWithinLimits(settings, number, records.length);
      const said = await conversation.fitting();
      const messages = repair.length === 0 ? said : [...said, ...repair];
      const terms = { number, withTools, afterText: texts.length > 0 };
      const round = ids.unique(await this.askModel(running, messages, terms));
      usage = addUsage(usage, round.usage);
      texts.push(...[round.text].filter(Boolean));
      if (round.calls.length > 0 && withTools) {
        const calls = round.calls.map((call) => ({ call, isHeld: this.toolCalls.mayWait(call) }));
        await input.steps.add({ kind: 'asked', ...asked(round), ...heldOf(calls) });
        const { results, open } = await this.answerCalls(running, calls, records);
        usage = addUsage(usage, takeSampled(running));
        if (open.length > 0) return ended(round, { texts, records, usage, open });
        conversation.add({ asked: askedMessage(round), results });
        continue;
      }
      const problem = await this.unmet(round.text, running);
      if (problem === undefined) {
        if (format === undefined) return answered(round, { content: texts.join('\n\n'), records, usage });
        await emit({ type: 'token', text: round.text });
        return answered(round, { content: round.text, records, usage });
      }
      if (repair.length > 0) throw new ResponseFormatUnmet(problem);
      repair = repairing(round.text, problem);
    }
  }

  /**
   * What the turn did before it was taken up. A call that ran when its replica died is made again only if the operator
   * allows it; for a call that runs as a task, the server is asked for the result.
   */
  private earlier(running: Running): Promise<DoneWork> {
    const { input, emit } = running;
    const repeatable = this.settings.current.tools.repeatable;
    const start = { spent: input.spent, options: input.options };
    return redone(input.done, start, emit, async (open, records) => {
      const isUnknown = ({ call, mayBeSent, task }: OpenCall) =>
        mayBeSent && task === undefined && !isAmong(call.name, repeatable);
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
    // A required tool is called once: with the results the model continues as it likes.
    const asked = number === 1 || wanted === 'none' ? wanted : undefined;
    const toolChoice = withTools ? asked : ('none' as const);
    const sampling = { ...others, ...(toolChoice !== undefined && tools.length > 0 && { toolChoice }) };
    const request = {
      tools,
      trailing,
      system: input.system,
      conversationId: context.sessionId,
      messages: withinMedia(messages, settings.context_media_bytes),
      maxOutputTokens: options.maxOutputTokens ?? own.maxOutputTokens,
      reasoning: own.reasoning,
      ...(own.showReasoning && { showReasoning: true }),
      ...(Object.keys(sampling).length > 0 && { sampling }),
      ...(options.responseFormat !== undefined && { responseFormat: options.responseFormat }),
    };
    const { sessionId, userId } = context;
    const failure = { agent: own.name, userId, sessionId, turnId };
    return this.calls.ask(request, { chain, context: failure, settings, account, emit, signal, afterText });
  }

  /** A tool asks the model of the turn: the call is counted, and bounded by budgets, like any other. */
  private async sample(
    { input, settings, emit, sampled }: Running,
    { system, messages, maxOutputTokens, ...sampling }: ToolSampling,
    signal: AbortSignal,
  ): Promise<ToolSampled> {
    const { context, agent, account, turnId } = input;
    const { sessionId, userId } = context;
    const most = Math.min(maxOutputTokens, agent.settings.maxOutputTokens);
    const question = {
      ...{ system, messages, tools: [], maxOutputTokens: most },
      ...(Object.keys(sampling).length > 0 && { sampling }),
    };
    const asking = this.calls.ask(question, {
      chain: agent.chain,
      context: { agent: agent.settings.name, userId, sessionId, turnId },
      ...{ settings, account, signal, afterText: false },
      emit: (event) => {
        if (event.type !== 'usage') return undefined;
        sampled.usage = addUsage(sampled.usage, event.usage);
        return emit(event);
      },
    });
    // The next round may be far away: this cost must outlive the replica, even without an answer.
    const { text, model, finishReason } = await asking.finally(async () => {
      const spending = account.takeUnstored();
      if (spending.length > 0) await input.steps.add({ kind: 'spent', spending });
    });
    return { text, model, finishReason };
  }

  private unmet(text: string, { input, signal }: Running): Promise<string | undefined> | undefined {
    const format = input.options.responseFormat;
    return format && formatProblem(text, this.schemas.of(format.schema), signal);
  }

  private async answerCalls(
    running: Running,
    calls: readonly RoundCall[],
    records: ToolCallRecord[],
  ): Promise<{ results: readonly ModelToolResult[]; open: readonly ModelToolCall[] }> {
    const { own, callers } = divided(calls, running.input.options);
    const isDeferred = running.input.isUnstored === true && own.length > 0;
    const answers = await this.answers(running, own, records.length);
    const deferred = isDeferred ? callers.map((call) => notYet(call)) : [];
    records.push(...answers.map(({ record }) => record));
    const results = new Map([...answers, ...deferred].map(({ result }) => [result.callId, result]));
    const inOrder = calls.flatMap(({ call }) => results.get(call.id) ?? []);
    return { results: inOrder, open: isDeferred ? [] : callers };
  }

  /**
   * Runs calls in parallel; calls past the limit, of which `before` were made earlier, are answered with an error
   * instead.
   */
  private answers(
    running: Running,
    calls: readonly (RoundCall & Pick<OpenCall, 'task'>)[],
    before: number,
  ): Promise<AnsweredCall[]> {
    const { max_tool_calls_per_turn: most, tool_timeout_ms: timeoutMs } = running.settings;
    const left = Math.max(0, most - before);
    const { context, turnId, waits, steps } = running.input;
    const shared = {
      ...{ ...running, context, turnId, waits, timeoutMs },
      sample: (question: ToolSampling, signal: AbortSignal) => this.sample(running, question, signal),
    };
    const onSend = ({ id: callId }: ModelToolCall) => steps.add({ kind: 'sent', callId });
    const onTask = ({ id: callId }: ModelToolCall, task: CallTask) =>
      steps.add({ kind: 'sent', callId, task });
    const lasting = this.settings.current.agent.resume ? { ...shared, onTask } : shared;
    return Promise.all(
      calls.map(({ call, isHeld, task }, index) =>
        waits.during(async () => {
          const turn = task !== undefined ? { ...lasting, task } : isHeld ? { ...lasting, onSend } : lasting;
          const answer =
            index < left
              ? await this.toolCalls.run(call, turn)
              : await this.toolCalls.refuse(call, most, turn);
          await steps.add(answeredStep(answer, context));
          return answer;
        }),
      ),
    );
  }
}

function budgetOf({ settings, input }: Running): ContextBudget {
  return contextBudget(settings, input.agent.settings.maxOutputTokens);
}

const NOTHING_USED: ModelUsage = { input: 0, output: 0 };

function takeSampled({ sampled }: Running): ModelUsage {
  const { usage } = sampled;
  sampled.usage = NOTHING_USED;
  return usage;
}

function isWithinLimits(settings: GatewaySettings['agent'], round: number, calls: number): boolean {
  return round <= settings.max_turns && calls <= settings.max_tool_calls_per_turn;
}

/** Files are kept only where the conversation can carry them, which is in channels. */
function answeredStep(
  { record: { status, durationMs }, result, files }: AnsweredCall,
  { isFromChannel }: Pick<ToolContext, 'isFromChannel'> = {},
): AnsweredStep {
  const step = { kind: 'answered', result, record: { status, durationMs } } as const;
  return isFromChannel === true && files !== undefined ? { ...step, files } : step;
}

/** What the message asks for, with the agent's settings for the rest; a tool that may not be used is not required. */
function samplingOf({ agent, options, tools }: TurnInput): SamplingOptions {
  const own = agentSampling(agent.settings);
  if (own === undefined) return options.sampling ?? {};
  const { toolChoice, ...rest } = own;
  const isOffered = typeof toolChoice !== 'object' || tools.some(({ name }) => name === toolChoice.name);
  return { ...rest, ...(toolChoice !== undefined && isOffered && { toolChoice }), ...options.sampling };
}

/** An answer with a required format is shown when it has that format: nobody needs the attempts that were repaired. */
function shownTo(emit: TurnListener, { agent, options }: TurnInput): TurnListener {
  const shown = agent.settings.showReasoning ? withThoughts(emit) : emit;
  return options.responseFormat === undefined
    ? shown
    : (event) => (event.type === 'token' ? undefined : shown(event));
}
