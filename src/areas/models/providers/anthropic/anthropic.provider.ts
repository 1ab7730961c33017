import Anthropic from '@anthropic-ai/sdk';
import { storableJson } from '../../../../platform/database/storable-text.js';
import { addUsage } from '../../estimated-usage.js';
import {
  type ModelCallOptions,
  type ModelEvent,
  type ModelOptions,
  ModelProvider,
  type ModelRequest,
  type ModelUsage,
  type ProviderAddress,
} from '../../model-provider.port.js';
import { AnswerMeter } from '../protocol/answer-meter.js';
import type { AttemptClock } from '../protocol/attempt-clock.js';
import { classifyFault } from '../protocol/classify-fault.js';
import { type CallTarget, callProvider, callTarget } from '../protocol/provider-call.js';
import type { ProviderState } from '../protocol/provider-state.js';
import { joinedEvents, parseEvent, readServerEvents, type ServerEvent } from '../protocol/server-events.js';
import { streamWithRetries, type WireOptions } from '../protocol/stream-with-retries.js';
import { WireFault } from '../protocol/wire-fault.js';
import { OFFICIAL_BASE_URLS } from '../provider-choice.js';
import { AnthropicAnswer, type AnthropicEvent, type BlockParam } from './anthropic-answer.js';
import { refusedByClaude } from './anthropic-models.js';
import { type AnthropicParams, anthropicRequest } from './anthropic-request.js';

/** How often a model that pauses is asked to continue. */
const MAX_PAUSES = 8;

/** Speaks the Messages API, to Anthropic and to every server that is compatible with it. */
export class AnthropicProvider extends ModelProvider {
  readonly name = 'anthropic';
  readonly defaultModel: string;
  override readonly address: ProviderAddress;

  static async create(options: WireOptions): Promise<AnthropicProvider> {
    return new AnthropicProvider(options, await anthropicTarget(options));
  }

  private constructor(
    private readonly options: WireOptions,
    private readonly target: CallTarget,
  ) {
    super();
    this.defaultModel = options.defaultModel;
    this.address = target.connection.address;
  }

  override stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent> {
    const params = anthropicRequest(request, request.model || this.defaultModel);
    const { label, section, keySource, apiKey } = this.options;
    const identity = { name: label, section, keySource, secrets: [apiKey] };
    return streamWithRetries(
      {
        provider: label,
        policy: this.options.retries,
        attempt: (clock) => readAnswer(this.target, params, clock),
        classify: (error) => classifyFault(error, identity),
      },
      options,
    );
  }

  override unsupported(options: ModelOptions): readonly string[] {
    return refusedByClaude({ ...options, model: options.model || this.defaultModel });
  }
}

/**
 * The neutral stream of one answer. A model that pauses is asked to continue, with what it has said so far. Connections
 * are read to their end, so that the next call can use them.
 */
async function* readAnswer(
  target: CallTarget,
  params: AnthropicParams,
  clock: AttemptClock,
): AsyncGenerator<ModelEvent> {
  const meter = new AnswerMeter();
  const said: BlockParam[] = [];
  let usage: ModelUsage = { input: 0, output: 0 };
  for (let pauses = 0; ; pauses += 1) {
    const messages = said.length === 0 ? params.messages : [...params.messages, goingOn(said)];
    const response = await callProvider(target, { ...params, messages }, clock.signal);
    const answer = new AnthropicAnswer(params.model, meter);
    try {
      for await (const batch of readServerEvents(response, clock)) {
        // eslint-disable-next-line max-depth -- one more generator would cost each word of an answer three promises
        for (const event of joinedEvents(eventsOf(batch, answer))) yield event;
        answerEnds(answer, clock);
      }
    } catch (error) {
      if (!answer.isComplete()) throw error;
    } finally {
      if (answer.hasBegunCall()) clock.begun();
      clock.counted(addUsage(usage, answer.usage()));
    }
    if (!answer.isComplete()) throw new WireFault({ kind: 'cut' });
    usage = addUsage(usage, answer.usage());
    said.push(...answer.content());
    if (goesOn(answer, pauses)) {
      clock.reopening();
      continue;
    }
    yield {
      type: 'end',
      finishReason: answer.finishReason(),
      usage,
      model: answer.model,
      ...(answer.hasCalls() && { providerState: stateOf(params.model, said) }),
    };
    return;
  }
}

/** Whether to ask again after a pause. Throws when there were too many pauses. */
function goesOn(answer: AnthropicAnswer, pauses: number): boolean {
  if (answer.isPaused() && pauses === MAX_PAUSES) throw new WireFault({ kind: 'paused' });
  return answer.isPaused();
}

function answerEnds(answer: AnthropicAnswer, clock: AttemptClock): void {
  if (answer.isComplete()) clock.closing();
}

function* eventsOf(batch: readonly ServerEvent[], answer: AnthropicAnswer): Generator<ModelEvent> {
  for (const { data } of batch) {
    if (answer.isComplete()) return;
    const event = answer.add(parseEvent<AnthropicEvent>(data));
    if (event !== undefined) yield event;
  }
}

function goingOn(said: readonly BlockParam[]): Anthropic.MessageParam {
  return { role: 'assistant', content: [...said] };
}

/** Thoughts are signed, so they stay as they came; calls are repaired like in the record of the call. */
function stateOf(model: string, said: readonly BlockParam[]): ProviderState<BlockParam> {
  const isSigned = ({ type }: BlockParam) => type === 'thinking' || type === 'redacted_thinking';
  const items = said.map((block) => (isSigned(block) ? block : storableJson(block)));
  return { kind: 'anthropic', wire: 'messages', model, items };
}

/** Where Anthropic's SDK sends messages, with nothing that it takes from the environment or the disk. */
async function anthropicTarget(options: WireOptions): Promise<CallTarget> {
  const client = new Anthropic({
    // Any key keeps the client from looking for credentials elsewhere; the headers decide what is sent.
    apiKey: options.apiKey || 'none',
    authToken: null,
    webhookKey: null,
    defaultHeaders: keyHeaders(options),
    baseURL: options.baseUrl,
    logLevel: 'off',
    openTelemetry: false,
  });
  return callTarget(
    await client.buildRequest({ method: 'post', path: '/v1/messages', body: {}, stream: true }),
    options.egress,
  );
}

function keyHeaders({ apiKey, baseUrl }: WireOptions): Record<string, string | null> {
  if (apiKey === '') return { Authorization: null };
  // Many compatible servers know only the older header.
  return baseUrl === OFFICIAL_BASE_URLS.anthropic ? {} : { 'X-Api-Key': apiKey };
}
