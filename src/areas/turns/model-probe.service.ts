import { Injectable } from '@nestjs/common';
import { ProviderFailed, ProviderTimedOut } from '../../common/errors/gateway-error.js';
import { newId } from '../../common/ids/typeid.js';
import { Settings } from '../../platform/settings/settings.js';
import { actingUser, type Caller } from '../../platform/tokens/caller.js';
import type { ModelCandidate, ModelMessage, ModelUsage } from '../models/models.api.js';
import { budgetsOf } from '../usage/usage.api.js';
import { allowanceOf, isLimited, spentBudget } from './limits/turn-allowance.js';
import { ModelCalls } from './rounds/model-calls.js';
import { TurnAccounts } from './turn-account.js';
import { UnstoredUsageStore } from './unstored/unstored-usage.store.js';

/** What a model was asked, and what that came to. */
export interface ProbeAnswer {
  readonly usage: ModelUsage;
  /** In US dollars; null when the price is unknown. */
  readonly costUsd: number | null;
}

/** In milliseconds; nobody waits longer for the result. */
const LONGEST_MS = 15_000;
const CHANNEL = 'api';
const QUESTION: readonly ModelMessage[] = [
  { role: 'user', parts: [{ type: 'text', text: 'Answer with one word.' }] },
];

/**
 * Asks one model for one token, to see whether it answers. The call is counted, priced and bounded by budgets like any
 * other, and turns use its result at once. Nothing else is stored, and it is no turn.
 */
@Injectable()
export class ModelProbe {
  constructor(
    private readonly calls: ModelCalls,
    private readonly accounts: TurnAccounts,
    private readonly usage: UnstoredUsageStore,
    private readonly settings: Settings,
  ) {}

  /**
   * @param agent whose usage it counts towards
   * Throws `ProviderFailed`, `ProviderTimedOut`, `TurnLimitReached`, and the signal's reason when it is aborted.
   */
  async ask(
    candidate: ModelCandidate,
    agent: string,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ProbeAnswer> {
    const userId = actingUser(caller, `token:${caller.tokenName}`);
    const parties = { agent, userId, channel: CHANNEL };
    await this.refuseSpent(parties, caller);
    const account = this.accounts.open({ agent, userId, caller, isUnstored: true }, candidate);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooLate()), LONGEST_MS);
    const id = newId('turn');
    try {
      const { usage } = await this.calls.ask(
        { system: '', messages: QUESTION, tools: [], maxOutputTokens: 1 },
        {
          chain: [candidate],
          context: { agent, userId, sessionId: id, turnId: id },
          settings: this.settings.current.agent,
          account,
          emit: () => undefined,
          signal: AbortSignal.any([signal, late.signal]),
          afterText: false,
        },
      );
      return { usage, costUsd: account.takeUnstored().at(-1)?.costUsd ?? null };
    } catch (error) {
      if (isCutShort(error)) return { usage: { input: 0, output: 0 }, costUsd: null };
      throw error;
    } finally {
      clearTimeout(timer);
      if (account.spending.isAny) await this.usage.record(parties, { spending: account.spending, caller }, 0);
    }
  }

  private async refuseSpent(parties: { agent: string; userId: string }, caller: Caller): Promise<void> {
    const { limits } = this.settings.current;
    const allowance = allowanceOf(limits, caller, budgetsOf(limits, { ...parties, caller }));
    if (!isLimited({ ...allowance, sessionDailyTokens: 0 })) return;
    const standing = await this.usage.standing(allowance);
    const refused = standing && spentBudget(standing, { ...allowance, sessionDailyTokens: 0 }, limits);
    if (refused !== undefined) throw refused;
  }
}

/**
 * Models that think before they speak may refuse to end within one token: that is an answer, too, but its tokens are
 * not reported.
 */
function isCutShort(error: unknown): boolean {
  return (
    error instanceof ProviderFailed &&
    error.details?.reason === 'provider_rejected_request' &&
    error.message.includes('output limit was reached')
  );
}

function tooLate(): ProviderTimedOut {
  return new ProviderTimedOut(`The model did not answer within ${LONGEST_MS / 1000} s.`, {
    details: { reason: 'check_timeout' },
  });
}
