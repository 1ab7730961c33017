import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import { GatewayError, InternalError, storedError } from '../../common/errors/gateway-error.js';
import { DatabaseAway } from '../../platform/database/database-failure.js';
import { inLogContext } from '../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { refuseAgent } from '../../platform/tokens/agent-access.js';
import { type Caller, ownersOf } from '../../platform/tokens/caller.js';
import { inSpan } from '../../platform/tracing/spans.js';
import { ModelChains, usageAttributes } from '../models/models.api.js';
import type { TurnSpending } from '../usage/usage.api.js';
import type { ClaimedTurn } from './claimed-turn.js';
import type { LiveTurn } from './live-turn.js';
import { TurnReleases } from './lost/turn-releases.service.js';
import type { Message, NewUserMessage } from './message.js';
import { type CalledTurn, TurnPrompt } from './prompt/turn-prompt.js';
import { TurnRelays } from './relay/turn-relays.service.js';
import type { ApprovalWaits } from './rounds/approval-waits.js';
import { TurnProgress } from './rounds/turn-progress.js';
import { TurnRunner } from './rounds/turn-runner.js';
import type { TurnStep } from './rounds/turn-steps.store.js';
import { RunningTurns } from './running-turns.js';
import type { TurnAgent, TurnOutcome } from './turn.js';
import { type OpenAccount, TurnAccounts } from './turn-account.js';
import { type TurnBill, TurnEndingsStore } from './turn-endings.store.js';
import { TurnHub } from './turn-hub.js';
import { INTERRUPTED_NOTE, type TurnEnding, type TurnFailure, type TurnLease } from './turn-lease.js';
import { TurnLog } from './turn-log.js';
import { TurnMetrics } from './turn-metrics.js';
import {
  AgentGone,
  AWAITING_APPROVAL,
  TurnAwaitsApproval,
  TurnCancelled,
  TurnHandedOver,
  TurnInterrupted,
  TurnWithoutDatabase,
} from './turns.errors.js';

/** A turn that runs here: what it says as it says it, and its result. */
export interface StartedTurn {
  readonly userMessageId: string;
  readonly live: LiveTurn;
  /** Rejects with the provider's failure, `TurnCancelled`, `TurnInterrupted`, or `ProviderTimedOut` for the whole turn. */
  readonly answer: Promise<Message>;
}

/** How a turn without an answer ended, and what its caller is told. */
interface FailedTurn {
  readonly error: GatewayError;
  readonly how: TurnFailure | 'handed_over' | 'parked';
  readonly reason: string;
}

/** What a turn had done on another replica before it is taken up. */
export interface EarlierAttempt {
  readonly done: readonly TurnStep[];
  readonly lastStep: number;
  readonly attempt: number;
  readonly ranMs: number;
}

interface RunTerms {
  readonly abort: AbortController;
  /** Its agent at this moment, or why it has none. */
  readonly agent: TurnAgent | GatewayError;
  /** Undefined while spans are not exported. */
  readonly span: Span | undefined;
}

/** What a turn had done before it ended without an answer. */
interface RanTurn {
  readonly soFar: TurnOutcome;
  readonly bill: TurnBill;
  /** Milliseconds that it ran, on all replicas. */
  readonly elapsedMs: number;
}

interface OutcomeTerms {
  readonly agent: TurnAgent | GatewayError;
  readonly progress: TurnProgress;
  readonly account: OpenAccount;
  readonly signal: AbortSignal;
  readonly waits: ApprovalWaits;
}

/** Runs a turn that has its session, and makes sure that it ends in a definite state, whatever happens. */
@Injectable()
export class TurnsService {
  private readonly logger: Logger;

  constructor(
    private readonly runner: TurnRunner,
    private readonly models: ModelChains,
    private readonly turns: TurnEndingsStore,
    private readonly releases: TurnReleases,
    private readonly prompt: TurnPrompt,
    private readonly accounts: TurnAccounts,
    private readonly running: RunningTurns,
    private readonly hub: TurnHub,
    private readonly relays: TurnRelays,
    private readonly metrics: TurnMetrics,
    private readonly log: TurnLog,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  /** The turn runs by itself, whether or not anybody follows it or waits for its answer. */
  start(turn: ClaimedTurn, message: NewUserMessage, caller: Caller, earlier?: EarlierAttempt): StartedTurn {
    const { sessionId, turnId, fence } = turn.lease;
    const abort = this.running.add(sessionId, fence, ownersOf(caller));
    const live = this.hub.start(sessionId, turnId, abort.signal);
    if (earlier !== undefined) {
      this.metrics.takenUp();
      // Viewers who followed it elsewhere continue to read there, also on this replica.
      void live.publish({ type: 'restarted', attempt: earlier.attempt });
      this.relays.relayAll(live, earlier.attempt);
    }
    this.relays.setWatched(live, turn.isWatched);
    const called = { ...turn, caller, earlier };
    const agent = this.agentOf(called);
    const answer = inLogContext({ session_id: sessionId }, () =>
      inSpan({ name: `invoke_agent ${turn.agent}`, attributes: () => spanAttributes(turn, agent) }, (span) =>
        this.runToItsEnd(called, message, live, { abort, span, agent }),
      ),
    );
    // Nobody may be waiting for `answer`; viewers get its failure as the last event.
    answer.catch(() => undefined);
    return { userMessageId: turn.lease.userMessageId, live, answer };
  }

  private async runToItsEnd(
    turn: CalledTurn,
    message: NewUserMessage,
    live: LiveTurn,
    { abort, span, agent }: RunTerms,
  ): Promise<Message> {
    const time = this.releases.timeOf(turn, abort);
    const timing = this.metrics.start();
    const model = modelOf(turn, agent);
    const provider = agent instanceof GatewayError ? 'default' : agent.chain[0].provider;
    const account = this.accounts.open(turn, { provider, model });
    for (const step of turn.earlier?.done ?? [])
      if (step.kind === 'asked' || step.kind === 'spent') account.spending.restore(step.spending ?? []);
    const bill = { spending: account.spending, caller: turn.caller };
    const progress = new TurnProgress(live, model, timing.sawText, turn.earlier?.done);
    try {
      const terms = { progress, agent, account, waits: time.waits, signal: abort.signal };
      const outcome = await this.outcome(turn, message, terms);
      await this.relays.finish(live);
      const answer = await this.turns.complete(turn.lease, outcome, bill);
      if (answer === undefined) throw new TurnInterrupted();
      void live.publish({ type: 'done', message: answer });
      this.log.completed(turn, outcome, timing.ended('completed'));
      return answer;
    } catch (thrown) {
      // Calls beside the one that failed are ended.
      abort.abort(new TurnInterrupted());
      const ran = { soFar: withSpent(progress.soFar(), account.spending), bill, elapsedMs: time.elapsedMs };
      const { error, how, reason } = await this.endWithout(turn, thrown, live, ran);
      if (how !== 'parked') void live.publish({ type: 'error', error });
      this.log.ended(turn, ran.soFar, { how, reason, error, durationMs: timing.ended(how) });
      throw error;
    } finally {
      time.end();
      if (span !== undefined) span.setAttributes(usageAttributes(progress.soFar().usage));
      this.hub.end(live);
      this.running.remove(turn.lease.sessionId, turn.lease.fence);
    }
  }

  private async outcome(
    turn: CalledTurn,
    message: NewUserMessage,
    { progress, agent, account, signal, waits }: OutcomeTerms,
  ): Promise<TurnOutcome> {
    const { listen: emit } = progress;
    if (agent instanceof GatewayError) throw agent;
    const input = await this.prompt.inputOf(turn, message, { agent, account, emit, signal, waits });
    const outcome = await this.runner.run(input, emit, signal);
    signal.throwIfAborted();
    return outcome;
  }

  /** The agent by the settings of this moment, or why the turn may not have it. */
  private agentOf({ agent: name, model, userId, caller }: CalledTurn): TurnAgent | GatewayError {
    try {
      const settings = agentSettings(this.settings.current, name);
      if (settings === undefined) return new AgentGone(name);
      refuseAgent(settings, caller, userId);
      return { settings, chain: this.models.of(settings, model) };
    } catch (error) {
      if (error instanceof GatewayError) return error;
      return new InternalError(`The agent "${name}" could not be set up.`, { cause: error });
    }
  }

  /** @returns how it ended without an answer; a parked turn continues later */
  private async endWithout(
    turn: CalledTurn,
    thrown: unknown,
    live: LiveTurn,
    ran: RanTurn,
  ): Promise<FailedTurn> {
    const isWaiting = thrown instanceof TurnAwaitsApproval;
    if (isWaiting && (await this.releases.park(turn, live, thrown, ran.elapsedMs)))
      return { error: thrown, how: 'parked', reason: AWAITING_APPROVAL };
    await this.relays.finish(live);
    return this.close(turn, isWaiting ? new TurnInterrupted() : thrown, ran);
  }

  /** @returns how it ended, and what the caller is told */
  private async close(
    { lease }: ClaimedTurn,
    thrown: unknown,
    { soFar, bill, elapsedMs }: RanTurn,
  ): Promise<FailedTurn> {
    const error =
      thrown instanceof GatewayError
        ? thrown
        : new InternalError('The turn failed unexpectedly.', { cause: thrown });
    const reason = error.details?.reason ?? error.name;
    const ending: TurnEnding = { how: failureOf(error), reason, error: storedError(error) };
    const { how } = ending;
    const handedOver = this.handedOver(error);
    if (
      handedOver !== undefined &&
      (await this.releases.handOver(lease, {
        ...{ ranMs: elapsedMs, unstored: bill.spending.takeUnstored(), isAttempt: handedOver !== error },
      }))
    )
      return { error: handedOver, how: 'handed_over', reason };
    const isStored = await this.isClosed(lease, () =>
      this.turns.close(lease, ending, how === 'interrupted' ? noted(soFar) : soFar, bill),
    );
    // Another replica may go on with it and answer: this failure is not the last word.
    if (how === 'failed' && !isStored)
      return { error: new TurnInterrupted(error), how: 'interrupted', reason };
    return { error, how, reason };
  }

  /** False when the end is not stored, or nobody knows whether it is. */
  private async isClosed({ sessionId, turnId }: TurnLease, close: () => Promise<boolean>): Promise<boolean> {
    try {
      return await close();
    } catch (failure) {
      // The lease expires by itself: then another replica takes the turn up, or a sweep closes it.
      this.logger.warn('a turn could not be closed; it goes on or is closed when its lease runs out', {
        ...{ session_id: sessionId, turn_id: turnId, error: String(failure) },
      });
      return false;
    }
  }

  /** What the caller is told about a turn that continues; undefined for one that ends here. */
  private handedOver(error: GatewayError): TurnHandedOver | undefined {
    if (error instanceof TurnHandedOver) return error;
    const goesOn = error instanceof DatabaseAway && this.settings.current.agent.resume;
    return goesOn ? new TurnWithoutDatabase(error) : undefined;
  }
}

function modelOf({ model }: ClaimedTurn, agent: TurnAgent | GatewayError): string {
  return agent instanceof GatewayError ? (model ?? '') : agent.chain[0].label;
}

/** The names are those of OpenTelemetry's conventions for generative AI. */
function spanAttributes(turn: ClaimedTurn, agent: TurnAgent | GatewayError) {
  const { sessionId, turnId } = turn.lease;
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': turn.agent,
    ...(!(agent instanceof GatewayError) && { 'gen_ai.provider.name': agent.chain[0].speaker.name }),
    'gen_ai.request.model': modelOf(turn, agent),
    'gen_ai.conversation.id': sessionId,
    'session.id': sessionId,
    'gateway.turn.id': turnId,
    'gateway.channel': turn.channel,
  };
}

/** A turn taken up only to be ended has called no model here; its earlier spending is in its bill. */
function withSpent(soFar: TurnOutcome, { usage }: TurnSpending): TurnOutcome {
  return soFar.usage.input + soFar.usage.output > 0 ? soFar : { ...soFar, usage };
}

/** The history says that no answer will come, even if the model had said nothing. */
function noted(soFar: TurnOutcome): TurnOutcome {
  return soFar.content.trim() === '' ? { ...soFar, content: INTERRUPTED_NOTE } : soFar;
}

function failureOf(error: GatewayError): TurnFailure {
  if (error instanceof TurnCancelled) return 'cancelled';
  return error instanceof TurnInterrupted || error instanceof TurnHandedOver ? 'interrupted' : 'failed';
}
