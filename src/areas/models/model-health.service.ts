import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import { sentenceOf } from '../../common/errors/error-text.js';
import { type GatewayError, ProviderFailed, ProviderTimedOut } from '../../common/errors/gateway-error.js';
import { Database } from '../../platform/database/database.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { Settings } from '../../platform/settings/settings.js';
import type { ModelCandidate, ModelChain } from './model-chains.js';
import { COOLING, type CoolingModel, FORGET, KEEP } from './model-cooldowns.sql.js';
import { type ModelName, modelLabel, providerSettings } from './model-names.js';

const FAILOVERS = 'agent_gateway_provider_failovers_total';

export const failoverMetric = makeCounterProvider({
  name: FAILOVERS,
  help: 'Calls of models that failed and that the next model of the chain took over, by what failed and why.',
  labelNames: ['provider', 'model', 'reason'],
});

/** How often the failures that other replicas saw are read, in milliseconds. */
const POLL_MS = 1000;
/** How long this replica trusts its own observation before it has read it back from the database, in milliseconds. */
const UNREAD_MS = 10_000;

/** The result of a model's last call. */
export interface ModelFailure {
  /** A fixed word, such as `provider_unreachable`. */
  readonly reason: string;
  readonly secsAgo: number;
}

interface Cooldown {
  readonly reason: string;
  /** On this process's clock. */
  readonly failedAtMs: number;
  /** On this process's clock. */
  readonly untilMs: number;
  readonly seenAtMs: number;
}

/** The turn in which a call failed. */
export interface FailureContext {
  readonly agent: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly turnId: string;
}

/**
 * Failures after which another model might answer; a request that a provider rejects would be rejected elsewhere, too.
 */
const FINAL_REASONS = new Set([
  'provider_rejected_request',
  'provider_filtered_content',
  'provider_answer_too_large',
]);

/** Whether another model may answer in place of the one that failed like this. */
export function mayPassOn(error: unknown): error is ProviderFailed | ProviderTimedOut {
  if (error instanceof ProviderTimedOut) return true;
  return error instanceof ProviderFailed && !FINAL_REASONS.has(error.details?.reason ?? '');
}

/** Which models failed recently, on any replica: they are skipped while others can answer. */
@Injectable()
export class ModelHealth implements OnModuleInit {
  private readonly logger: Logger;
  private cooling: ReadonlyMap<string, Cooldown> = new Map();

  constructor(
    private readonly database: Database,
    private readonly dueWork: DueWork,
    private readonly signal: EventSignal,
    private readonly settings: Settings,
    @InjectMetric(FAILOVERS) private readonly failovers: Counter<'provider' | 'model' | 'reason'>,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::provider');
  }

  onModuleInit(): void {
    this.dueWork.watch({
      question: COOLING,
      everyMs: POLL_MS,
      onAnswer: (rows) => this.read(rows),
    });
  }

  /** Why a model is skipped at the moment; undefined for a model that is not. */
  problemOf(name: ModelName): string | undefined {
    const known = this.cooling.get(modelLabel(name));
    return known !== undefined && known.untilMs > performance.now() ? known.reason : undefined;
  }

  /** How a model failed within the last quarter of an hour, unless it has answered since. */
  lastFailureOf(name: ModelName): ModelFailure | undefined {
    const known = this.cooling.get(modelLabel(name));
    if (known === undefined) return undefined;
    return { reason: known.reason, secsAgo: Math.max(0, performance.now() - known.failedAtMs) / 1000 };
  }

  /**
   * The chain in the order in which models are asked: those that failed recently come last, so that they are asked only
   * when no other answers.
   */
  inOrder(chain: ModelChain): ModelChain {
    if (this.cooling.size === 0 || chain.length === 1) return chain;
    const failed = (one: ModelCandidate): number => (this.problemOf(one) === undefined ? 0 : 1);
    const [first, ...others] = [...chain].sort((one, other) => failed(one) - failed(other));
    return first === undefined ? chain : [first, ...others];
  }

  /** Stores a failure for all replicas; `next` is the model that is asked instead. Nothing waits for it. */
  failed(
    one: ModelCandidate,
    error: GatewayError,
    next: ModelCandidate | undefined,
    turn: FailureContext,
  ): void {
    const reason = error.details?.reason ?? error.name;
    const isNews = this.problemOf(one) === undefined;
    this.log(one, reason, next, turn, isNews);
    if (next !== undefined) this.failovers.inc({ provider: one.provider, model: one.model, reason });
    const secs = providerSettings(one.provider, this.settings.current)?.cooldown_secs ?? 0;
    const now = performance.now();
    this.set(one, { reason, failedAtMs: now, untilMs: now + secs * 1000, seenAtMs: now });
    if (isNews || next !== undefined) void this.keep(one, { reason, secs }, next, turn);
  }

  /** A model rejected a request with pictures or files, and is asked again without them. */
  refusedMedia(one: ModelCandidate, error: unknown, { sessionId, turnId }: FailureContext): void {
    this.logger.warn(
      'a model is asked again without pictures and files, because its provider rejected the request',
      {
        ...{ provider: one.provider, model: one.model, session_id: sessionId, turn_id: turnId },
        error: sentenceOf(error),
      },
    );
  }

  /** A model that had failed answers again. */
  answered(one: ModelCandidate): void {
    if (this.cooling.size === 0 || !this.cooling.has(one.label)) return;
    const rest = new Map(this.cooling);
    rest.delete(one.label);
    this.cooling = rest;
    this.database.query(FORGET, { provider: one.provider, model: one.model }).catch((failure: unknown) => {
      this.logger.debug('the recovery of a model could not be stored', { error: String(failure) });
    });
  }

  private log(
    { provider, model }: ModelName,
    reason: string,
    next: ModelCandidate | undefined,
    { agent, sessionId, turnId }: FailureContext,
    isNews: boolean,
  ): void {
    const fields = { provider, model, reason, agent, session_id: sessionId, turn_id: turnId };
    if (reason === 'provider_refused_credentials' && isNews)
      this.logger.error('a model provider refuses its key', fields);
    if (next !== undefined)
      this.logger.warn(
        `the model ${modelLabel({ provider, model })} failed and ${next.label} is asked instead`,
        {
          ...fields,
          next: next.label,
        },
      );
  }

  private async keep(
    { provider, model }: ModelName,
    { reason, secs }: { readonly reason: string; readonly secs: number },
    next: ModelCandidate | undefined,
    { agent, userId, sessionId, turnId }: FailureContext,
  ): Promise<void> {
    try {
      const [kept] = await this.database.query(KEEP, {
        ...{ provider, model, reason, secs },
        ...{ nextProvider: next?.provider ?? null, nextModel: next?.model ?? null },
        ...{ user: userId, agent, session: sessionId, turn: turnId },
      });
      this.signal.queued(kept?.deliveries);
    } catch (failure) {
      this.logger.warn('the failure of a model could not be stored for other replicas', {
        ...{ provider, model, error: String(failure) },
      });
    }
  }

  private set(name: ModelName, cooldown: Cooldown): void {
    this.cooling = new Map(this.cooling).set(modelLabel(name), cooldown);
  }

  /** Takes over what all replicas know; undefined when the database could not be asked. */
  private read(rows: readonly CoolingModel[] | null | undefined): void {
    if (rows === undefined || (rows === null && this.cooling.size === 0)) return;
    const now = performance.now();
    const unread = [...this.cooling].filter(
      ([, { seenAtMs, untilMs }]) => now - seenAtMs < UNREAD_MS && untilMs > now,
    );
    const stored = (rows ?? []).map(([provider, model, reason, leftMs, agoSecs]): [string, Cooldown] => [
      modelLabel({ provider, model }),
      { reason, failedAtMs: now - agoSecs * 1000, untilMs: now + leftMs, seenAtMs: 0 },
    ]);
    this.cooling = new Map([...unread, ...stored]);
  }
}
