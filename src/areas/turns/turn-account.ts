import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { ModelName, ModelUsage } from '../models/models.api.js';
import {
  type Budget,
  budgetsJson,
  budgetsOf,
  type ModelSpending,
  SpendingMeter,
  STANDING,
  TurnSpending,
} from '../usage/usage.api.js';
import type { ClaimedTurn } from './claimed-turn.js';
import { budgetRefusal } from './limits/turn-limit-reached.js';

/** What everyone has spent of the budgets, as far as it is committed. */
export interface BudgetStanding {
  /** `budgetsJson` of these budgets. */
  readonly budgets: string;
  /** In US dollars, in the same order. */
  readonly spent: readonly number[];
}

/**
 * A call of a model: the provider's name in the settings and its kind, the model as it was requested and as the
 * provider names it.
 */
export interface BilledCall extends ModelName {
  readonly kind: string;
  readonly requested: string;
}

/** What the calls of one turn cost, and whether it may make another one. */
export interface TurnAccount {
  /** Await it before each call of a model; `kind` is that of its provider. Throws `TurnLimitReached` when a budget is used up. */
  beforeCall(kind: string): Promise<void> | undefined;
  /** A call has ended, successfully or not. */
  called(call: BilledCall, usage: ModelUsage): void;
  /** What was spent since the last stored step: it is stored with the next one. */
  takeUnstored(): readonly ModelSpending[];
  /** The budgets to read with the next statement, as JSON; undefined when there are none. */
  budgetsToAsk(): string | undefined;
  /** What that statement found. */
  learn(standing: BudgetStanding): void;
}

/** The account of a turn that is stored at its end. */
export interface OpenAccount extends TurnAccount {
  readonly spending: TurnSpending;
}

type BilledTurn = Pick<ClaimedTurn, 'agent' | 'userId' | 'budgets'> & {
  readonly caller: Caller;
  /** A turn without steps, which would tell how its budgets stand: the budgets are read before each call. */
  readonly isUnstored?: boolean;
};

/** Opens the account of each turn. */
@Injectable()
export class TurnAccounts {
  constructor(
    private readonly meter: SpendingMeter,
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** `first` counts as a call for a turn that makes none. */
  open(turn: BilledTurn, first: ModelName): OpenAccount {
    const { meter, settings } = this;
    const spending = new TurnSpending(first);
    const budgets = (): readonly Budget[] => budgetsOf(settings.current.limits, turn);
    let known: BudgetStanding | undefined = turn.budgets;
    const check = async (asked: readonly Budget[]): Promise<void> => {
      const json = budgetsJson(asked);
      if (turn.isUnstored === true || known?.budgets !== json)
        known = { budgets: json, spent: await this.spentOf(json) };
      const { spent } = known;
      const reached = asked.find(({ limitUsd }, index) => (spent[index] ?? 0) + spending.costUsd >= limitUsd);
      if (reached !== undefined) throw budgetRefusal(reached, settings.current.limits);
    };
    return {
      spending,
      beforeCall: (kind) => {
        const asked = budgets();
        const loading = meter.prepare(kind);
        if (asked.length === 0) return loading;
        return Promise.all([loading, check(asked)]).then(() => undefined);
      },
      called: (call, usage) => {
        spending.add(meter.spent(turn.agent, call, usage));
      },
      takeUnstored: () => spending.takeUnstored(),
      budgetsToAsk: () => {
        const asked = budgets();
        return asked.length === 0 ? undefined : budgetsJson(asked);
      },
      learn: (standing) => {
        known = standing;
      },
    };
  }

  private async spentOf(budgets: string): Promise<readonly number[]> {
    const [row] = await this.database.query(STANDING, { budgets });
    return row?.spent ?? [];
  }
}
