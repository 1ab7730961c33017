import type OpenAI from 'openai';
import {
  type ModelCallOptions,
  type ModelEvent,
  ModelProvider,
  type ModelRequest,
  type ProviderAddress,
} from '../../model-provider.port.js';
import type { AttemptClock } from '../wire/attempt-clock.js';
import { classifyFault } from '../wire/classify-fault.js';
import { type CallTarget, callProvider } from '../wire/provider-call.js';
import { readServerEvents } from '../wire/read-server-events.js';
import { streamWithRetries } from '../wire/stream-with-retries.js';
import type { WireOptions } from '../wire/wire-options.js';
import { openAiRequest } from './openai-request.js';
import { openAiTarget } from './openai-target.js';
import { readOpenAiAnswer } from './read-openai-answer.js';

/** Speaks Chat Completions, to OpenAI and to every server that is compatible with it. */
export class OpenAiProvider extends ModelProvider {
  readonly name = 'openai';
  readonly defaultModel: string;
  override readonly address: ProviderAddress;

  static async create(options: WireOptions): Promise<OpenAiProvider> {
    return new OpenAiProvider(options, await openAiTarget(options));
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
    const params = openAiRequest(request, request.model || this.defaultModel, this.options.baseUrl);
    const identity = { name: this.name, keyVariable: 'OPENAI_API_KEY', secrets: [this.options.apiKey] };
    return streamWithRetries(
      {
        provider: this.name,
        policy: this.options.retries,
        attempt: (clock) => this.attempt(params, clock),
        classify: (error) => classifyFault(error, identity),
      },
      options,
    );
  }

  private async attempt(
    params: OpenAI.Chat.ChatCompletionCreateParamsStreaming,
    clock: AttemptClock,
  ): Promise<AsyncIterable<ModelEvent>> {
    const answer = await callProvider(this.target, params, clock.signal);
    return readOpenAiAnswer(readServerEvents(answer, clock), params.model, clock);
  }
}
