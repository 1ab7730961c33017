import { Injectable } from '@nestjs/common';
import { storableJson, storableText } from '../../platform/database/storable-text.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import {
  chargedUsage,
  type FinishReason,
  ModelCallMetrics,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type ModelToolCall,
  type ModelUsage,
} from '../models/models.api.js';
import type { TurnListener } from './turn.js';
import type { TurnAccount } from './turn-account.js';

/** What one call of the model came to. */
export interface ModelRound {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: ModelUsage;
  readonly model: string;
  readonly finishReason: FinishReason;
  readonly providerState?: unknown;
}

interface CallTerms {
  readonly provider: ModelProvider;
  readonly settings: Pick<GatewaySettings['agent'], 'first_byte_timeout_ms' | 'idle_timeout_ms'>;
  /** What the turn spends, and may spend. */
  readonly account: TurnAccount;
  /** Told what the model says as it says it, and at the end what it used. */
  readonly emit: TurnListener;
  readonly signal: AbortSignal;
  /** Whether an earlier round of the turn said something: texts of two rounds stand apart. */
  readonly afterText: boolean;
}

type RoundTerms = Pick<CallTerms, 'emit' | 'afterText'> & { readonly request: ModelRequest };

type RoundEnd = Omit<ModelRound, 'text' | 'calls'>;

const NOT_COUNTED: ModelUsage = { input: 0, output: 0 };

/** Every call of a model that a turn makes: traced, counted, and followed to its end. */
@Injectable()
export class ModelCalls {
  constructor(private readonly metrics: ModelCallMetrics) {}

  /** Throws what the provider throws, `TurnLimitReached` for a budget, and the signal's reason when it is aborted. */
  async ask(
    request: ModelRequest,
    { provider, settings, account, emit, signal, afterText }: CallTerms,
  ): Promise<ModelRound> {
    const clocks = {
      firstByteTimeoutMs: settings.first_byte_timeout_ms,
      idleTimeoutMs: settings.idle_timeout_ms,
    };
    const counting: TurnListener = (event) => {
      if (event.type === 'usage') {
        this.metrics.used(provider.name, event.usage);
        account.called(provider, request.model, event);
      }
      return emit(event);
    };
    const ready = account.beforeCall(provider);
    if (ready !== undefined) await ready;
    return this.metrics.measure(provider, request, () =>
      readRound(provider.stream(request, { signal, ...clocks }), { request, emit: counting, afterText }),
    );
  }
}

/**
 * Follows one answer of the model to its end and passes on what it says. Its calls are such that the database can keep
 * them. What it used is told also when it breaks off after it had begun to speak: as an estimate, then.
 */
async function readRound(events: AsyncIterable<ModelEvent>, terms: RoundTerms): Promise<ModelRound> {
  const { request, emit } = terms;
  const pieces: string[] = [];
  const calls: ModelToolCall[] = [];
  let end: RoundEnd;
  try {
    end = await listen(events, terms, pieces, calls);
  } catch (error) {
    if (pieces.length + calls.length > 0) {
      const usage = chargedUsage(NOT_COUNTED, request, { text: pieces.join(''), calls });
      await emit({ type: 'usage', usage, model: request.model });
    }
    throw error;
  }
  const { model, finishReason, providerState } = end;
  const text = storableText(pieces.join(''));
  const usage = chargedUsage(end.usage, request, { text, calls });
  const heldBack = emit({ type: 'usage', usage, model });
  if (heldBack !== undefined) await heldBack;
  return { text, calls, usage, model, finishReason, providerState };
}

async function listen(
  events: AsyncIterable<ModelEvent>,
  { emit, afterText }: RoundTerms,
  pieces: string[],
  calls: ModelToolCall[],
): Promise<RoundEnd> {
  for await (const event of events) {
    if (event.type === 'end') {
      const { usage, finishReason, providerState } = event;
      return { usage, finishReason, model: storableText(event.model), providerState };
    }
    if (event.type === 'tool_call') {
      calls.push(storableJson(event.call));
      continue;
    }
    if (event.type === 'reasoning') continue;
    if (pieces.length === 0 && afterText) await emit({ type: 'token', text: '\n\n' });
    pieces.push(event.text);
    const heldBack = emit({ type: 'token', text: event.text });
    if (heldBack !== undefined) await heldBack;
  }
  throw new Error('The model provider ended a stream without saying so.');
}
