import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { type GatewayError, ProviderFailed, ProviderTimedOut } from '../../../common/errors/gateway-error.js';
import { storableJson, storableText } from '../../../platform/database/storable-text.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import {
  canBeShown,
  chargedUsage,
  type FailureContext,
  type FinishReason,
  isTextType,
  ModelCallMetrics,
  type ModelCandidate,
  type ModelChain,
  type ModelEvent,
  ModelHealth,
  type ModelOutput,
  type ModelRequest,
  type ModelToolCall,
  type ModelUsage,
  mayPassOn,
  modelLabel,
} from '../../models/models.api.js';
import { isMedia } from '../prompt/media-window.js';
import type { TurnListener } from '../turn.js';
import type { TurnAccount } from '../turn-account.js';
import { ownStates, signedState } from './provider-states.js';
import { RefusedMedia } from './refused-media.js';
import { TurnFailovers } from './turn-failovers.js';

/** The result of one call of the model. */
export interface ModelRound {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: ModelUsage;
  readonly model: string;
  readonly finishReason: FinishReason;
  readonly providerState?: unknown;
}

interface CallTerms {
  /** The models to ask, one after the other, until one answers. */
  readonly chain: ModelChain;
  readonly context: FailureContext;
  readonly settings: Pick<GatewaySettings['agent'], 'first_byte_timeout_ms' | 'idle_timeout_ms'>;
  /** What the turn spends, and may spend. */
  readonly account: TurnAccount;
  /** Called with what the model says as it says it, and at the end with what it used. */
  readonly emit: TurnListener;
  readonly signal: AbortSignal;
  /** Whether an earlier round of the turn said something: texts of two rounds are separated. */
  readonly afterText: boolean;
}

/** What a model has said so far. */
interface Heard {
  readonly pieces: string[];
  readonly thoughts: string[];
  readonly calls: ModelToolCall[];
}

/** One call of one model. */
interface ModelCall {
  readonly candidate: ModelCandidate;
  /** Whether a piece of its answer has arrived. */
  hasBegun: boolean;
  /** Whether its provider has sent anything at all. */
  isHeard: boolean;
  /** What its provider has counted, if it reports usage before the end. */
  counted: ModelUsage;
}

type RoundTerms = Pick<CallTerms, 'emit' | 'afterText' | 'signal'> & {
  readonly request: ModelRequest;
  readonly call: ModelCall;
};

interface Failure {
  readonly candidate: ModelCandidate;
  readonly error: GatewayError;
}

type RoundEnd = Omit<ModelRound, 'text' | 'calls' | 'model'> & {
  /** The model as its provider names it. */
  readonly answered: string;
};

const NOT_COUNTED: ModelUsage = { input: 0, output: 0 };

/** Makes every model call of a turn: traces it, counts it, and follows it to its end. */
@Injectable()
export class ModelCalls {
  private readonly media = new RefusedMedia();

  constructor(
    private readonly metrics: ModelCallMetrics,
    private readonly health: ModelHealth,
    private readonly failovers: TurnFailovers,
  ) {}

  /**
   * Asks the models of the chain until one begins to answer; from then on that answer counts, whatever happens to it.
   * Throws what the provider throws, with each reason when several models were asked, `TurnLimitReached` for a budget,
   * and the signal's reason when it is aborted.
   */
  async ask(request: Omit<ModelRequest, 'model'>, terms: CallTerms): Promise<ModelRound> {
    const chain = this.health.inOrder(terms.chain);
    const failures: Failure[] = [];
    for (const [index, candidate] of chain.entries()) {
      const call: ModelCall = { candidate, hasBegun: false, isHeard: false, counted: NOT_COUNTED };
      try {
        const round = await this.askShowing(request, call, terms);
        const noting = this.noteUnseen(request, candidate, terms);
        if (noting !== undefined) await noting;
        this.health.answered(candidate);
        return round;
      } catch (error) {
        if (
          terms.signal.aborted ||
          call.hasBegun ||
          !(error instanceof ProviderFailed || error instanceof ProviderTimedOut)
        )
          throw error;
        failures.push({ candidate, error });
        if (!mayPassOn(error)) break;
        this.health.failed(candidate, error, chain[index + 1], terms.context);
        const reason = error.details?.reason ?? error.name;
        this.failovers.note(terms.context, { model: candidate.label, reason });
      }
    }
    throw failureOf(failures);
  }

  private askShowing(
    request: Omit<ModelRequest, 'model'>,
    call: ModelCall,
    terms: CallTerms,
  ): Promise<ModelRound> {
    const { candidate } = call;
    return this.media.ask(request, {
      turn: terms.account,
      model: candidate.label,
      ask: (one) => this.askOne(one, call, terms),
      mayGoWithout: (error) => {
        if (call.hasBegun || terms.signal.aborted) return false;
        this.health.refusedMedia(candidate, error, terms.context);
        return true;
      },
    });
  }

  /** Records what came with the message and is not shown to this model; undefined when there is nothing to record. */
  private noteUnseen(
    { messages }: Omit<ModelRequest, 'model'>,
    { speaker, model, label }: ModelCandidate,
    { account, context, signal }: CallTerms,
  ): Promise<void> | undefined {
    const asked = messages.at(-1);
    // Later rounds of the turn show the same again.
    if (asked?.role !== 'user' || !asked.parts.some(isMedia)) return undefined;
    const isBlind = this.media.isBlind(account, label);
    const unseen = asked.parts.flatMap((part) => {
      if (!isMedia(part) || isTextType(part.mimeType)) return [];
      const { mimeType } = part;
      const isShown = !isBlind && (canBeShown(mimeType) || speaker.hears(mimeType, model));
      return isShown ? [] : mimeType;
    });
    if (unseen.length === 0 || signal.aborted) return undefined;
    return this.failovers.noteUnseen(context, [...new Set(unseen)]);
  }

  private askOne(
    asked: Omit<ModelRequest, 'model'>,
    call: ModelCall,
    { settings, account, emit, signal, afterText }: CallTerms,
  ): Promise<ModelRound> {
    const { candidate } = call;
    const { speaker, model } = candidate;
    const request = { ...asked, model, messages: ownStates(asked.messages, candidate) };
    const options = {
      signal,
      firstByteTimeoutMs: settings.first_byte_timeout_ms,
      idleTimeoutMs: settings.idle_timeout_ms,
      onBegun: () => {
        call.hasBegun = true;
      },
      onHeard: () => {
        call.isHeard = true;
      },
      onCounted: (usage: ModelUsage) => {
        call.counted = usage;
      },
    };
    const counting: TurnListener = (event) => {
      if (event.type === 'usage') {
        this.metrics.used(speaker.name, event.usage);
        const { provider, model: requested, answered } = event.asked;
        account.called({ provider, kind: speaker.name, model: answered, requested }, event.usage);
      }
      return emit(event);
    };
    const round = (): Promise<ModelRound> =>
      this.metrics.measure(speaker, request, () =>
        readRound(speaker.stream(request, options), { request, call, emit: counting, afterText, signal }),
      );
    const ready = account.beforeCall(speaker.name);
    return ready === undefined ? round() : ready.then(round);
  }
}

/** The error of the turn when no model answered: each reason, when several were asked. */
function failureOf(failures: readonly Failure[]): Error {
  const [only, ...others] = failures;
  if (only === undefined) return new Error('No model was asked.');
  if (others.length === 0) return only.error;
  const reasons = failures.map(({ candidate, error }) => `${candidate.label}: ${sentenceOf(error)}`);
  const waits = failures.flatMap(({ error }) => error.retryAfterSecs ?? []);
  const options = {
    details: { reason: 'no_model_answered' },
    retryAfterSecs: waits.length === 0 ? undefined : Math.min(...waits),
  };
  const sentence = `None of the models answered. ${reasons.join(' ')}`;
  const haveAllTimedOut = failures.every(({ error }) => error instanceof ProviderTimedOut);
  return haveAllTimedOut ? new ProviderTimedOut(sentence, options) : new ProviderFailed(sentence, options);
}

/**
 * Follows one answer of the model to its end and passes it on. The ids and arguments of its calls are made storable.
 * Its usage is reported also when the answer breaks off, or is aborted while the provider works on it: then as an
 * estimate.
 */
async function readRound(events: AsyncIterable<ModelEvent>, terms: RoundTerms): Promise<ModelRound> {
  const { request, emit, call, signal } = terms;
  const pieces: string[] = [];
  const thoughts: string[] = [];
  const calls: ModelToolCall[] = [];
  let end: RoundEnd;
  try {
    end = await listen(events, terms, { pieces, thoughts, calls });
  } catch (error) {
    if (call.hasBegun || (call.isHeard && signal.aborted)) {
      const usage = brokenUsage(call, request, { text: [...thoughts, ...pieces].join(''), calls });
      const { candidate } = call;
      await emit({ type: 'usage', usage, model: candidate.label, asked: namesOf(candidate) });
    }
    throw error;
  }
  const { candidate } = call;
  const { answered, finishReason, providerState } = end;
  const model = modelLabel({ provider: candidate.provider, model: answered });
  const text = storableText(pieces.join(''));
  const usage = chargedUsage(end.usage, request, { text, calls });
  const heldBack = emit({ type: 'usage', usage, model, asked: namesOf(candidate, end.answered) });
  if (heldBack !== undefined) await heldBack;
  return { text, calls, usage, model, finishReason, providerState };
}

/** The output was not counted to its end, so it is estimated, including thoughts; the input is as counted. */
function brokenUsage({ counted }: ModelCall, request: ModelRequest, said: ModelOutput): ModelUsage {
  const { reasoning: _unfinished, ...input } = counted;
  return { ...chargedUsage({ ...input, output: 0 }, request, said), estimated: true };
}

async function listen(
  events: AsyncIterable<ModelEvent>,
  { request, emit, afterText, call }: RoundTerms,
  { pieces, thoughts, calls }: Heard,
): Promise<RoundEnd> {
  for await (const event of events) {
    if (event.type === 'end') {
      const { usage, finishReason } = event;
      const { candidate } = call;
      const answered = storableText(event.model);
      return { usage, finishReason, answered, providerState: signedState(event.providerState, candidate) };
    }
    call.hasBegun = true;
    if (event.type === 'tool_call') {
      calls.push(storableJson(event.call));
      continue;
    }
    if (event.type === 'reasoning') {
      thoughts.push(event.text);
      const held = request.showReasoning === true ? emit(event) : undefined;
      if (held !== undefined) await held;
      continue;
    }
    if (pieces.length === 0 && afterText) await emit({ type: 'token', text: '\n\n' });
    pieces.push(event.text);
    const heldBack = emit({ type: 'token', text: event.text });
    if (heldBack !== undefined) await heldBack;
  }
  throw new Error('The model provider ended a stream without saying so.');
}

function namesOf({ provider, model }: ModelCandidate, answered = model) {
  return { provider, model, answered };
}
