import { Injectable } from '@nestjs/common';
import { GatewayError, InternalError, ProviderTimedOut } from '../../../common/errors/gateway-error.js';
import { newId } from '../../../common/ids/typeid.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import type { AgentSettings } from '../../../platform/settings/agent-settings.js';
import { Settings } from '../../../platform/settings/settings.js';
import { type Caller, ownersOf } from '../../../platform/tokens/caller.js';
import { inSpan } from '../../../platform/tracing/spans.js';
import { ModelChains, type ModelMessage, usageAttributes } from '../../models/models.api.js';
import { PromptSources, ToolCatalog, type ToolContext, ToolSources } from '../../tools/tools.api.js';
import { budgetsOf } from '../../usage/usage.api.js';
import { offeredTools } from '../callers/caller-tools.js';
import { allowanceOf, isLimited, spentBudget, turnsTaken } from '../limits/turn-allowance.js';
import type { TurnLimitReached } from '../limits/turn-limit-reached.js';
import { TurnRefusals } from '../limits/turn-refusals.js';
import { TurnSlots } from '../limits/turn-slots.js';
import { LiveTurn } from '../live-turn.js';
import type { Message } from '../message.js';
import { type MessageOptions, MessageOptionsCheck } from '../message-options.js';
import { ApprovalWaits } from '../rounds/approval-waits.js';
import { TurnRunner } from '../rounds/turn-runner.js';
import { RunningTurns } from '../running-turns.js';
import { toolContext } from '../tool-context.js';
import type { TurnAgent, TurnInput, TurnListener, TurnOutcome } from '../turn.js';
import { type OpenAccount, TurnAccounts } from '../turn-account.js';
import { TurnMetrics } from '../turn-metrics.js';
import { TurnStopped } from '../turns.errors.js';
import { UnstoredUsageStore } from './unstored-usage.store.js';

/** A conversation that its caller keeps: it comes whole with each request. */
export interface UnstoredConversation {
  readonly agent: AgentSettings;
  /** Null for the agent's own. */
  readonly model: string | null;
  readonly userId: string;
  readonly caller: Caller;
  /** Oldest first; the last one is to be answered. */
  readonly messages: readonly ModelMessage[];
  readonly options: MessageOptions;
}

/** Whose limits apply to a turn. */
type TurnParties = Pick<UnstoredConversation, 'agent' | 'userId' | 'caller'>;

/** An answer in progress. */
export interface UnstoredTurn {
  readonly id: string;
  readonly live: LiveTurn;
  /** Rejects with what a turn throws. Its ids refer to nothing stored. */
  readonly answer: Promise<Message>;
  /** Ends it, because nobody reads it any more. */
  abandon(): void;
}

const CHANNEL = 'api';
const NOTHING_SPENT = { input: 0, output: 0 };
const NO_WAITS = { parkAfterMs: () => 0, onIdle: () => undefined, park: () => undefined };
const NO_STEPS = { add: () => Promise.resolve() };

/**
 * Answers conversations of which only the usage is stored. Limits, budgets, tool rules and metrics are those of turns
 * in sessions; nothing is remembered of them, and nobody can be asked to approve a call.
 */
@Injectable()
export class UnstoredTurns {
  private readonly logger: Logger;

  constructor(
    private readonly runner: TurnRunner,
    private readonly models: ModelChains,
    private readonly optionsCheck: MessageOptionsCheck,
    private readonly sources: PromptSources,
    private readonly catalog: ToolCatalog,
    private readonly tools: ToolSources,
    private readonly accounts: TurnAccounts,
    private readonly usage: UnstoredUsageStore,
    private readonly running: RunningTurns,
    private readonly slots: TurnSlots,
    private readonly refusals: TurnRefusals,
    private readonly metrics: TurnMetrics,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  /** Throws `TurnLimitReached`, and what `MessageOptionsCheck` throws. */
  async start(asked: UnstoredConversation): Promise<UnstoredTurn> {
    const { agent, model, caller, options } = asked;
    const id = newId('turn');
    if (hasAny(options))
      await this.optionsCheck.refuseUnsupported({ agent: agent.name, model }, options, contextOf(asked, id));
    const chain = this.models.of(agent, model);
    const abort = await this.admitted(asked, () => this.running.add(id, 0, ownersOf(caller), true));
    const live = new LiveTurn(id, id, abort.signal);
    const answer = inSpan(
      { name: `invoke_agent ${agent.name}`, attributes: () => ({ 'gen_ai.agent.name': agent.name }) },
      async (span) => {
        const outcome = await this.run(asked, { settings: agent, chain }, { id, abort, live });
        span?.setAttributes(usageAttributes(outcome.usage));
        return messageOf(outcome);
      },
    );
    answer.then(
      (message) => void live.publish({ type: 'done', message }),
      (error: unknown) => void live.publish({ type: 'error', error: error as GatewayError }),
    );
    return { id, live, answer, abandon: () => abort.abort(new TurnStopped()) };
  }

  /** Throws `TurnLimitReached` when a budget is used up: for callers that store something before a turn begins. */
  async refuseSpent({ agent, userId, caller }: TurnParties): Promise<void> {
    const { limits } = this.settings.current;
    const allowance = allowanceOf(limits, caller, budgetsOf(limits, { agent: agent.name, userId, caller }));
    if (!isLimited({ ...allowance, sessionDailyTokens: 0, tokenTurns: 0 })) return;
    const standing = await this.usage.standing(allowance);
    const refused = standing && spentBudget(standing, { ...allowance, sessionDailyTokens: 0 }, limits);
    if (refused === undefined) return;
    this.refusals.note(refused);
    throw refused;
  }

  /** Begins in a slot of this process, within the limits of the API token. */
  private async admitted<Begun>(asked: UnstoredConversation, begin: () => Begun): Promise<Begun> {
    const { slots, settings } = this;
    try {
      const hasSlot =
        slots.tryAcquire() ||
        (slots.hasRoomToWait && (await slots.acquireWithin(settings.current.agent.max_wait_ms)));
      if (!hasSlot) throw slots.refusal();
      try {
        const refusal = await this.limitsOf(asked);
        // There is no await between the check and the beginning: otherwise two turns could take the last place.
        const refused = refusal();
        if (refused !== undefined) throw refused;
        return begin();
      } finally {
        slots.release();
      }
    } catch (error) {
      this.refusals.note(error);
      throw error;
    }
  }

  /** Tells why the limits allow no turn at the moment of the call. */
  private async limitsOf({
    agent,
    userId,
    caller,
  }: TurnParties): Promise<() => TurnLimitReached | undefined> {
    const { limits } = this.settings.current;
    const budgets = budgetsOf(limits, { agent: agent.name, userId, caller });
    const allowance = allowanceOf(limits, caller, budgets);
    if (!isLimited({ ...allowance, sessionDailyTokens: 0 })) return () => undefined;
    const standing = await this.usage.standing(allowance);
    if (standing === undefined) return () => undefined;
    return () => {
      const running = standing.token_turns + this.running.unstoredOf(allowance.family);
      return (
        spentBudget(standing, allowance, limits) ??
        turnsTaken({ ...standing, token_turns: running }, allowance)
      );
    };
  }

  private async run(
    asked: UnstoredConversation,
    agent: TurnAgent,
    { id, abort, live }: { readonly id: string; readonly abort: AbortController; readonly live: LiveTurn },
  ): Promise<TurnOutcome> {
    const { userId, caller } = asked;
    const timing = this.metrics.start();
    const timer = this.timer(abort);
    const { name } = agent.settings;
    const [{ provider, label: model }] = agent.chain;
    const account = this.accounts.open(
      { agent: name, userId, caller, isUnstored: true },
      { provider, model },
    );
    const listen: TurnListener = (event) => {
      if (event.type === 'usage') return undefined;
      if (event.type === 'token') timing.sawText();
      return live.publish(event);
    };
    const ended = async (how: 'completed' | 'failed'): Promise<void> => {
      clearTimeout(timer);
      this.running.remove(id, 0);
      this.log(asked, { id, how, durationMs: timing.ended(how) });
      const parties = { agent: name, userId, channel: CHANNEL };
      await this.usage.record(parties, { spending: account.spending, caller });
    };
    let outcome: TurnOutcome;
    try {
      const input = await this.inputOf(asked, agent, { id, account, signal: abort.signal });
      outcome = await this.runner.run(input, listen, abort.signal);
      abort.signal.throwIfAborted();
    } catch (error) {
      await ended('failed').catch((failure: unknown) =>
        this.logger.warn('the usage of a turn could not be stored', { error: String(failure) }),
      );
      throw asGatewayError(error);
    }
    await ended('completed');
    return outcome;
  }

  private async inputOf(
    asked: UnstoredConversation,
    agent: TurnAgent,
    { id, account, signal }: { id: string; account: OpenAccount; signal: AbortSignal },
  ): Promise<TurnInput> {
    const { messages, options } = asked;
    const { systemPrompt } = asked.agent;
    const context = contextOf(asked, id);
    const content = textOf(messages.at(-1));
    await this.tools.settled(signal);
    const additions = await this.sources.additions({ context, content, hasMemories: false }, signal);
    return {
      context,
      system: joined([systemPrompt, options.instructions ?? '', ...additions.system]),
      trailing: joined(additions.trailing),
      agent,
      turnId: id,
      messages,
      tools: offeredTools(this.catalog.list(context), options),
      options,
      spent: NOTHING_SPENT,
      account,
      done: [],
      steps: NO_STEPS,
      waits: new ApprovalWaits(NO_WAITS),
      isUnstored: true,
    };
  }

  private timer(abort: AbortController): NodeJS.Timeout {
    const { turn_timeout_ms: timeoutMs } = this.settings.current.agent;
    const late = () =>
      new ProviderTimedOut(`The turn was not answered within ${timeoutMs / 1000} s and was stopped.`, {
        details: { reason: 'turn_timeout' },
      });
    return setTimeout(() => abort.abort(late()), timeoutMs);
  }

  private log(
    { agent, caller }: UnstoredConversation,
    { id, how, durationMs }: { id: string; how: string; durationMs: number },
  ): void {
    this.logger.info(`turn ${how} without a session`, {
      ...{ turn_id: id, agent: agent.name, token: caller.tokenId, outcome: how },
      duration_ms: Math.round(durationMs),
    });
  }
}

/** The answer in the form in which turns of sessions have theirs. */
function messageOf({ content, toolCalls, usage, model, finishReason }: TurnOutcome): Message {
  return {
    id: newId('msg'),
    role: 'assistant',
    content,
    attachments: [],
    toolCalls,
    tokensUsed: usage.input + usage.output,
    model,
    incomplete: null,
    finishReason,
    usageEstimated: usage.estimated === true,
    createdAt: new Date(),
    usage,
  };
}

function asGatewayError(error: unknown): GatewayError {
  return error instanceof GatewayError
    ? error
    : new InternalError('The turn failed unexpectedly.', { cause: error });
}

function contextOf(
  { agent: { name: agent }, userId, caller }: UnstoredConversation,
  sessionId: string,
): ToolContext {
  const session = { sessionId, channel: CHANNEL, agent, userId };
  return { ...toolContext(session, caller), isFromChannel: false, isUnstored: true };
}

function hasAny(options: MessageOptions): boolean {
  return Object.keys(options).length > 0;
}

function textOf(message: ModelMessage | undefined): string {
  if (message?.role !== 'user') return '';
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
