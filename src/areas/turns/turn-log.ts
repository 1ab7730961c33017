import { Injectable } from '@nestjs/common';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import type { ClaimedTurn } from './claimed-turn.js';
import type { TurnOutcome } from './turn.js';
import type { TurnFailure } from './turn-lease.js';

/** What a turn cost until it ended. */
type TurnCost = Pick<TurnOutcome, 'usage' | 'model' | 'toolCalls' | 'finishReason'>;

/** How a turn ended without an answer; `reason` is a fixed word, such as `provider_idle_timeout`. */
interface TurnEnd {
  readonly how: TurnFailure | 'handed_over' | 'parked';
  readonly reason: string;
  readonly error: GatewayError;
  readonly durationMs: number;
}

/**
 * Logs one line for each turn that ends in this process: where, how, how long and at what cost; never what was said.
 */
@Injectable()
export class TurnLog {
  private readonly logger: Logger;

  constructor(logs: Logs) {
    this.logger = logs.for('agent::turn');
  }

  /** `durationMs` is the time since it began. `reason` is why the model stopped, if it said so. */
  completed(turn: ClaimedTurn, cost: TurnCost, durationMs: number): void {
    this.logger.info(`turn completed in session ${turn.lease.sessionId} on channel ${turn.channel}`, {
      ...fieldsOf(turn, cost, durationMs),
      outcome: 'completed',
      reason: cost.finishReason ?? undefined,
    });
  }

  ended(turn: ClaimedTurn, cost: TurnCost, { how, reason, error, durationMs }: TurnEnd): void {
    const level = error.logLevel === 'debug' ? 'info' : error.logLevel;
    this.logger[level](
      `turn ${how.replace('_', ' ')} in session ${turn.lease.sessionId} on channel ${turn.channel}: ${reason}`,
      {
        ...fieldsOf(turn, cost, durationMs),
        outcome: how,
        reason,
      },
    );
  }
}

function fieldsOf(
  { lease, channel }: ClaimedTurn,
  { usage, model, toolCalls }: TurnCost,
  durationMs: number,
) {
  return {
    session_id: lease.sessionId,
    turn_id: lease.turnId,
    channel,
    model,
    duration_ms: Math.round(durationMs),
    input_tokens: usage.input,
    output_tokens: usage.output,
    tools: toolCalls.length,
  };
}
