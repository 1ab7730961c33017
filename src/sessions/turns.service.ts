import { Injectable } from '@nestjs/common';
import { ModelProvider } from '../agent/model-provider.port.js';
import type { TurnListener } from '../agent/turn.js';
import { TurnRunner } from '../agent/turn-runner.js';
import { Settings } from '../config/settings.js';
import { GatewayError, InternalError, ProviderTimedOut } from '../errors/gateway-error.js';
import { inLogContext } from '../logs/log-context.js';
import { type Logger, Logs } from '../logs/logger.js';
import type { Message, NewUserMessage } from './message.js';
import { MessageStore } from './message.store.js';
import { RunningTurns } from './running-turns.js';
import { TurnCancelled, TurnInterrupted } from './sessions.errors.js';
import { type BegunTurn, TurnStore } from './turn.store.js';
import { modelMessages } from './turn-context.js';
import type { TurnFailure } from './turn-lease.js';

/** Runs a turn that has its session, and sees to it that it ends in a definite state, whatever happens. */
@Injectable()
export class TurnsService {
  private readonly logger: Logger;

  constructor(
    private readonly runner: TurnRunner,
    private readonly provider: ModelProvider,
    private readonly turns: TurnStore,
    private readonly messages: MessageStore,
    private readonly running: RunningTurns,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  /** Throws the provider's failure, `TurnCancelled`, `TurnInterrupted`, or `ProviderTimedOut` for the whole turn. */
  run(turn: BegunTurn, message: NewUserMessage, emit: TurnListener): Promise<Message> {
    return inLogContext({ session_id: turn.lease.sessionId }, () => this.runToItsEnd(turn, message, emit));
  }

  private async runToItsEnd(turn: BegunTurn, message: NewUserMessage, emit: TurnListener): Promise<Message> {
    const { lease } = turn;
    const abort = this.running.add(lease.sessionId, lease.fence);
    const timeoutMs = this.settings.current.agent.turn_timeout_ms;
    const timer = setTimeout(() => abort.abort(turnTimedOut(timeoutMs)), timeoutMs);
    try {
      const answer = await this.answer(turn, message, emit, abort.signal);
      if (answer === undefined) throw new TurnInterrupted();
      return answer;
    } catch (error) {
      throw await this.close(turn, error);
    } finally {
      clearTimeout(timer);
      this.running.remove(lease.sessionId);
    }
  }

  private async answer(turn: BegunTurn, message: NewUserMessage, emit: TurnListener, signal: AbortSignal) {
    const bytes = await this.attachedTo(turn.history);
    const { sessionId } = turn.lease;
    const outcome = await this.runner.run(
      {
        context: { sessionId, channel: turn.channel, userId: turn.userId },
        system: turn.systemPrompt ?? this.settings.current.agent.system_prompt,
        model: turn.model ?? this.provider.defaultModel,
        messages: modelMessages(turn.history, bytes, message),
      },
      emit,
      signal,
    );
    signal.throwIfAborted();
    return this.turns.complete(turn.lease, outcome);
  }

  private async attachedTo(history: readonly Message[]): Promise<Map<string, Buffer>> {
    const ids = history.filter(({ attachments }) => attachments.length > 0).map(({ id }) => id);
    return ids.length === 0 ? new Map() : this.messages.attachedTo(ids);
  }

  /** @returns what the caller is told */
  private async close({ lease }: BegunTurn, thrown: unknown): Promise<GatewayError> {
    const error =
      thrown instanceof GatewayError
        ? thrown
        : new InternalError('The turn failed unexpectedly.', { cause: thrown });
    const how = failureOf(error);
    const reason = error.details?.reason ?? error.name;
    const fields = { session_id: lease.sessionId, turn_id: lease.turnId, reason };
    try {
      await this.turns.close(lease, how, reason);
      this.logger[error.logLevel](`a turn ended without an answer: ${how}`, fields);
    } catch (failure) {
      // The lease runs out by itself, and whoever sweeps then closes the turn.
      this.logger.warn('a turn could not be closed; it will be when its lease runs out', {
        ...fields,
        error: String(failure),
      });
    }
    return error;
  }
}

function failureOf(error: GatewayError): TurnFailure {
  if (error instanceof TurnCancelled) return 'cancelled';
  return error instanceof TurnInterrupted ? 'interrupted' : 'failed';
}

function turnTimedOut(timeoutMs: number): ProviderTimedOut {
  return new ProviderTimedOut(`The turn was not answered within ${timeoutMs / 1000} s and was stopped.`, {
    details: { reason: 'turn_timeout' },
  });
}
