import OpenAI from 'openai';
import {
  type ModelCallOptions,
  type ModelEvent,
  type ModelOptions,
  ModelProvider,
  type ModelRequest,
  type ProviderAddress,
} from '../../model-provider.port.js';
import type { AttemptClock } from '../protocol/attempt-clock.js';
import { classifyFault } from '../protocol/classify-fault.js';
import { type CallTarget, callProvider, callTarget } from '../protocol/provider-call.js';
import { joinedEvents, readServerEvents, type ServerEvent } from '../protocol/server-events.js';
import { streamWithRetries, type WireOptions } from '../protocol/stream-with-retries.js';
import { WireFault } from '../protocol/wire-fault.js';
import { ChatAnswer } from './chat-answer.js';
import { chatRequest, soundFormat } from './chat-request.js';
import { chosenWire, type OpenAiWire, refusedByOpenAi } from './openai-models.js';
import { ResponsesAnswer } from './responses-answer.js';
import { responsesRequest } from './responses-request.js';

interface GrowingAnswer {
  isComplete(): boolean;
  /** A tool call has begun to arrive. */
  hasBegunCall(): boolean;
  add(data: string): Iterable<ModelEvent>;
  end(): Iterable<ModelEvent>;
}

interface Wire {
  readonly path: string;
  request(request: ModelRequest, model: string, baseUrl: string): object;
  answer(model: string): GrowingAnswer;
}

const WIRES: Readonly<Record<OpenAiWire, Wire>> = {
  chat: {
    path: '/chat/completions',
    request: chatRequest,
    answer: (model) => new ChatAnswer(model),
  },
  responses: {
    path: '/responses',
    request: responsesRequest,
    answer: (model) => new ResponsesAnswer(model),
  },
};

/** How many reads may follow the end of an answer before the end of its stream: the usage and the mark itself. */
const MAX_READS_AFTER_END = 8;

export interface OpenAiOptions extends WireOptions {
  readonly wire: 'auto' | OpenAiWire;
}

/** Speaks the Responses API to OpenAI, and Chat Completions to every server that is compatible with it. */
export class OpenAiProvider extends ModelProvider {
  readonly name = 'openai';
  readonly defaultModel: string;
  override readonly address: ProviderAddress;

  static async create(options: OpenAiOptions): Promise<OpenAiProvider> {
    const wire = chosenWire(options.wire, options.baseUrl);
    return new OpenAiProvider(options, wire, await openAiTarget(options, WIRES[wire].path));
  }

  private constructor(
    private readonly options: WireOptions,
    private readonly wire: OpenAiWire,
    private readonly target: CallTarget,
  ) {
    super();
    this.defaultModel = options.defaultModel;
    this.address = target.connection.address;
  }

  override stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent> {
    const model = request.model || this.defaultModel;
    const wire = WIRES[this.wire];
    const params = wire.request(request, model, this.options.baseUrl);
    const { label, section, keySource, apiKey } = this.options;
    const identity = { name: label, section, keySource, secrets: [apiKey] };
    return streamWithRetries(
      {
        provider: label,
        policy: this.options.retries,
        attempt: async (clock) => {
          const response = await callProvider(this.target, params, clock.signal);
          return readAnswer(readServerEvents(response, clock), wire.answer(model), clock);
        },
        classify: (error) => classifyFault(error, identity),
      },
      options,
    );
  }

  override unsupported(options: ModelOptions): readonly string[] {
    const asked = { ...options, model: options.model || this.defaultModel };
    return refusedByOpenAi(asked, this.wire, this.options.baseUrl);
  }

  override hears(mimeType: string, model: string): boolean {
    return this.wire === 'chat' && soundFormat(mimeType, model || this.defaultModel) !== undefined;
  }
}

/** The neutral stream of one answer. The connection is read to its end, so that the next call can use it. */
async function* readAnswer(
  batches: AsyncIterable<readonly ServerEvent[]>,
  answer: GrowingAnswer,
  clock: AttemptClock,
): AsyncGenerator<ModelEvent> {
  let readsAfterEnd = 0;
  try {
    for await (const batch of batches) {
      for (const event of joinedEvents(eventsOf(batch, answer))) yield event;
      if (!answer.isComplete()) continue;
      clock.closing();
      readsAfterEnd += 1;
      if (readsAfterEnd > MAX_READS_AFTER_END) break;
    }
  } catch (error) {
    if (!answer.isComplete()) throw error;
  } finally {
    if (answer.hasBegunCall()) clock.begun();
  }
  if (!answer.isComplete()) throw new WireFault({ kind: 'cut' });
  for (const event of answer.end()) yield event;
}

function* eventsOf(batch: readonly ServerEvent[], answer: GrowingAnswer): Generator<ModelEvent> {
  for (const { data } of batch) yield* answer.add(data);
}

/** Where OpenAI's SDK sends its calls, with nothing that it takes from the environment. */
async function openAiTarget(options: WireOptions, path: string): Promise<CallTarget> {
  const client = new OpenAI({
    // The client insists on a key; without one of ours the header that would carry it is left out.
    apiKey: options.apiKey || 'none',
    ...(options.apiKey === '' && { defaultHeaders: { Authorization: null } }),
    baseURL: options.baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
  });
  return callTarget(
    await client.buildRequest({ method: 'post', path, body: {}, stream: true }),
    options.egress,
  );
}
