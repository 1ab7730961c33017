import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import { TurnInProgress } from '../turns.errors.js';
import { type TurnLimit, TurnLimitReached } from './turn-limit-reached.js';

const REFUSED = 'agent_gateway_turns_refused_total';

type Reason = TurnLimit | 'turn_in_progress';
const REASONS: readonly Reason[] = [
  'api_token_budget',
  'session_budget',
  'budget_reached',
  'api_token_turns',
  'api_token_waiting',
  'api_token_stored_bytes',
  'replica_turns',
  'turn_in_progress',
];

export const turnRefusalMetric = makeCounterProvider({
  name: REFUSED,
  help: 'Messages for which this process refused to start a turn, by the limit they hit.',
  labelNames: ['reason'],
});

/** Counts messages that could not begin a turn. */
@Injectable()
export class TurnRefusals implements OnModuleInit {
  constructor(@InjectMetric(REFUSED) private readonly refusals: Counter<'reason'>) {}

  onModuleInit(): void {
    for (const reason of REASONS) this.refusals.inc({ reason }, 0);
  }

  /** Counts the error if it is a limit that refused the message. */
  note(error: unknown): void {
    if (error instanceof TurnLimitReached) this.refusals.inc({ reason: error.limit });
    else if (error instanceof TurnInProgress) this.refusals.inc({ reason: 'turn_in_progress' });
  }
}
